"""Where K and V of every cached or running token live, one slot per token.

    keys    [layer, kv_head, slot, key_dim]
    values  [layer, kv_head, slot, value_dim]

With the slot next to last, slots a..b of one layer are a strided matrix per head: a sequence whose
slots lie in a row is attended to without copying a byte. The pool isn't cleared; a slot is written
before it is read.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from radixbench.units import Bytes, Tokens


@dataclass(frozen=True, slots=True)
class KVGeometry:
    """The shape of one token's K and V. ``query_heads`` is a multiple of ``kv_heads``."""

    layers: int
    query_heads: int
    kv_heads: int
    key_dim: int
    value_dim: int
    itemsize: Bytes

    @property
    def bytes_per_token(self) -> Bytes:
        """What one token takes, all layers together."""
        return self.layers * self.kv_heads * (self.key_dim + self.value_dim) * self.itemsize


class KVPool:
    """K and V of ``slots`` tokens."""

    def __init__(
        self, geometry: KVGeometry, *, slots: Tokens, dtype: torch.dtype, device: torch.device
    ) -> None:
        shape = (geometry.layers, geometry.kv_heads, slots)
        self.geometry = geometry
        self.slots = slots
        self.keys = torch.empty((*shape, geometry.key_dim), dtype=dtype, device=device)
        self.values = torch.empty((*shape, geometry.value_dim), dtype=dtype, device=device)

    def write(self, layer: int, slots: slice | Tensor, keys: Tensor, values: Tensor) -> None:
        """Store ``[kv_head, n, dim]`` K and V of n tokens in the n ``slots``."""
        if isinstance(slots, slice):
            self.keys[layer][:, slots].copy_(keys)
            self.values[layer][:, slots].copy_(values)
        else:
            self.keys[layer].index_copy_(1, slots, keys)
            self.values[layer].index_copy_(1, slots, values)

    def clear(self, slot: int) -> None:
        """Zero one slot in all layers, as a lost or wrong slot would."""
        self.keys[:, :, slot] = 0
        self.values[:, :, slot] = 0
