"""What a server's log says in all: figures, phases, windows and notes from its records."""
