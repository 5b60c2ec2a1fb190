"""What a server's log says, made ready to show: on a terminal, as plain lines and as a page."""
