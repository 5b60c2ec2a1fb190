"""An OpenAI-compatible server whose behaviour, faults included, is known exactly; it logs its true write times."""
