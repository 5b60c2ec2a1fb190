"""Recorded traffic from files and hubs: bytes to conversations and traces, what was left out counted."""
