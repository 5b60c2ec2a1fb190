"""Rows with one new token where no kernel gives log-sum-exps: gathered side by side, attended to at once.

However many sequences decode, a layer costs two gathers and one attention call: on a GPU the calls are what
counts. Rows are padded to the longest of their group; a row less than half as long begins a group of
its own, so that padding at most doubles what is gathered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from radixbench.model.kv_pool import KVPool
from radixbench.model.plan import RowsPlan, Slots
from radixbench.model.scratch import Scratch

_WIDTH_STEP = 64
"""Widths are multiples of it: fused kernels read masks in aligned vectors, and shapes recur."""


class _Group(NamedTuple):
    """Rows of similar length: ``slots`` ``[row · width]``, and ``mask`` ``[1, row, 1, width]`` to add to scores."""

    rows: slice
    width: int
    slots: Tensor
    mask: Tensor


class PaddedRows:
    """The rows of a plan without runs, the longest first."""

    def __init__(self, pool: KVPool, plan: RowsPlan, scratch: Scratch) -> None:
        self._pool, self._scratch = pool, scratch
        self._count = len(plan.loose)
        self._groups = [_padded(rows, plan.loose[rows], scratch) for rows in _alike(plan.loose)]

    def attend(self, layer: int, query: Tensor, scale: float) -> Tensor:
        """``[row, query_head, value_dim]`` for the first rows of the step."""
        heads, count = self._pool.geometry.kv_heads, self._count
        q = query[0, :, :count].view(heads, -1, count, query.shape[3]).transpose(1, 2)
        outcomes = [self._attend(group, layer, q[:, group.rows], scale) for group in self._groups]
        out = outcomes[0] if len(outcomes) == 1 else torch.cat(outcomes, dim=1)
        return out.transpose(0, 1).flatten(1, 2)

    def _attend(self, group: _Group, layer: int, q: Tensor, scale: float) -> Tensor:
        """``[kv_head, row, group, value_dim]``: KV heads as the batch, rows as heads, query heads as rows."""
        geometry = self._pool.geometry
        shape = (geometry.kv_heads, q.shape[1], group.width)
        k = self._scratch.gather("row keys", self._pool.keys[layer], group.slots)
        v = self._scratch.gather("row values", self._pool.values[layer], group.slots)
        return torch.nn.functional.scaled_dot_product_attention(
            q,
            k.view(*shape, geometry.key_dim),
            v.view(*shape, geometry.value_dim),
            attn_mask=group.mask,
            scale=scale,
        )


def _alike(slots: Sequence[Slots]) -> Iterator[slice]:
    """Rows, the longest first, in slices of which the last is at least half as long as the first."""
    first = 0
    for row, own in enumerate(slots):
        if 2 * len(own) < len(slots[first]):
            yield slice(first, row)
            first = row
    yield slice(first, len(slots))


def _padded(rows: slice, slots: Sequence[Slots], scratch: Scratch) -> _Group:
    width = -(-len(slots[0]) // _WIDTH_STEP) * _WIDTH_STEP
    index = np.empty((len(slots), width), dtype=np.int64)
    mask = np.zeros((1, len(slots), 1, width), dtype=np.float32)
    for row, own in enumerate(slots):
        index[row, : len(own)] = own
        index[row, len(own) :] = own[0]  # any slot that holds numbers
        mask[0, row, 0, len(own) :] = -np.inf
    return _Group(rows, width, scratch.upload(index.reshape(-1)), scratch.upload(mask).to(scratch.dtype))
