"""llama.cpp's lines."""
