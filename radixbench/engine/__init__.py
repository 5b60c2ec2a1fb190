"""The radix-cache engine: token ids in, KV slot numbers out.

Pure: standard library and numpy, no I/O, no clock of its own, no global randomness. It has two
sockets, ``Runner`` (what computes a batch) and ``Clock`` (what time it is); a real model and a script
are plugs for the same scheduler and the same tree. Semantics are SGLang's (0.5.22).
"""
