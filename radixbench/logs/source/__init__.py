"""Where lines come from: files and pipes, as bytes, told from what is no log."""
