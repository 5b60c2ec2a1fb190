"""vLLM's lines."""
