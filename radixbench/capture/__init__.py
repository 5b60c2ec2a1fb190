"""Raw evidence on disk: strict on load, saved atomically, versioned, with nothing derived in it."""
