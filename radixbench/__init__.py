"""radixbench: what is prefix caching worth on my model, my card, my traffic, and can I trust the number?"""

__version__ = "0.1.0"
