"""Models that fit the engine's ``Runner`` socket: loading, tokenizers, KV pool, attention, sampling.

The only room that knows torch and transformers. Importing the room itself is light; ``tokenizer`` and
``tiny_tokenizer`` never import torch, so that a scripted server starts without it.
"""
