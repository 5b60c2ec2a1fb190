"""Speaks to any OpenAI-compatible server and records what comes back; never imports the server's side."""
