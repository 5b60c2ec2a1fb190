"""What other programs put around a line of a server's log."""
