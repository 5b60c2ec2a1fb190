"""One experiment end to end: servers up, cache state brought about and proved, load, logs, captures."""
