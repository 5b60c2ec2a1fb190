"""The command line: one file per command; parse, call the rooms in order, print."""
