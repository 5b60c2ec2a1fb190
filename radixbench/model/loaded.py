"""A model that is ready to compute, with what identifies it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import nn

from radixbench.model.kv_pool import KVGeometry
from radixbench.model.tokenizer import Tokenizer
from radixbench.units import Bytes, Tokens

Device = Literal["cpu", "cuda"]
Dtype = Literal["float32", "bfloat16", "float16"]


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """Weights on their device, the tokenizer, and the facts a capture records of both.

    ``context_len`` bounds prompt + output. ``eos_token_ids`` end an answer. ``weights_sha256`` is over the
    weight files' bytes (of ``tiny``: its parameters), whatever ``dtype`` they are computed in;
    ``tokenizer_sha256`` over the tokenizer's files. ``random_weights``: the answers mean nothing.
    ``module`` is the transformers model whose attention reads and writes a ``KVPool``.
    """

    name: str
    module: nn.Module
    tokenizer: Tokenizer
    geometry: KVGeometry
    context_len: Tokens
    vocab_size: int
    special_token_ids: frozenset[int]
    eos_token_ids: frozenset[int]
    device: Device
    device_name: str
    dtype: Dtype
    threads: int
    random_weights: bool
    weights_sha256: str
    tokenizer_sha256: str
    parameters: int

    @property
    def kv_bytes_per_token(self) -> Bytes:
        """What one token takes in the KV pool, all layers together."""
        return self.geometry.bytes_per_token
