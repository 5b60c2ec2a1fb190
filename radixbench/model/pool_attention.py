"""Attention of one packed step over the KV pool: the ``Step`` that real work runs on.

Index tensors and masks are made once per step; per layer only K and V change. With a kernel that gives
log-sum-exps, each row with one new token collects blocks (its runs, its loose slots) that are merged
at the end, and a span of new tokens merges its cached prefix with itself. Without one, everything is
gathered first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from radixbench.model.kernels import Block, FlashKernel, masked, merge, shared
from radixbench.model.kv_pool import KVPool
from radixbench.model.padded_rows import PaddedRows
from radixbench.model.plan import RowsPlan, Slots, SpanPlan, StepPlan
from radixbench.model.scratch import Scratch


class PoolStep:
    """Writes a step's K and V into the pool and attends over it."""

    def __init__(self, pool: KVPool, plan: StepPlan, scratch: Scratch, flash: FlashKernel | None) -> None:
        self._pool = pool
        self._written = _slice_or_index(plan.written, scratch)
        self._rows: _Rows | PaddedRows | None = None
        if plan.rows:
            self._rows = (
                _Rows(pool, plan.rows, scratch, flash) if flash else PaddedRows(pool, plan.rows, scratch)
            )
        self._spans = tuple(_Span(pool, span, scratch, flash) for span in plan.spans)

    def attend(
        self,
        layer: int,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        scale: float,
        extras: Mapping[str, object],
    ) -> Tensor:
        """See ``attention.Step``; ``extras`` were looked at when the model was loaded."""
        del extras
        self._pool.write(layer, self._written, key[0], value[0])
        outcomes = [span.attend(layer, query, key, value, scale) for span in self._spans]
        if self._rows is not None:
            outcomes.insert(0, self._rows.attend(layer, query, scale))
        return (outcomes[0] if len(outcomes) == 1 else torch.cat(outcomes)).unsqueeze(0)


class _Rows:
    """The rows with one new token: ``[kv_head, row · group, dim]`` queries against runs and loose slots."""

    def __init__(self, pool: KVPool, plan: RowsPlan, scratch: Scratch, flash: FlashKernel) -> None:
        geometry = pool.geometry
        self._pool, self._plan, self._scratch, self._flash = pool, plan, scratch, flash
        self._count = len(plan.loose)
        self._group = geometry.query_heads // geometry.kv_heads
        self._gathered = scratch.index(plan.gathered) if len(plan.gathered) else None
        self._width = max(map(len, plan.loose))
        if self._width:
            self._loose, self._mask = self._padded(plan.loose)
        if plan.parts:
            self._outs, self._lses = self._blocks(plan.parts + bool(self._width))

    def _padded(self, loose: tuple[Slots, ...]) -> tuple[Tensor, Tensor]:
        """Loose slots as ``[row · width]`` indices, padded, and ``[kv_head · row, 1, width]`` to hide padding."""
        width = self._width
        index = np.zeros((self._count, width), dtype=np.int64)
        hidden = np.zeros((self._count, 1, width), dtype=np.float32)
        # a score that no softmax notices, yet finite: a row of padding alone must not become NaN
        far_below = torch.finfo(self._scratch.dtype).min / 2
        known = next(int(slots[0]) for slots in loose if len(slots))
        for row, slots in enumerate(loose):
            index[row, : len(slots)] = slots
            index[row, len(slots) :] = known  # any slot that holds numbers
            hidden[row, 0, len(slots) :] = far_below
        mask = self._scratch.upload(hidden).to(self._scratch.dtype)
        heads = self._pool.geometry.kv_heads
        return self._scratch.upload(index.reshape(-1)), mask.repeat(heads, 1, 1)

    def _blocks(self, parts: int) -> tuple[Tensor, Tensor]:
        """Room for each row's blocks; a block that a row lacks weighs nothing."""
        geometry, rows = self._pool.geometry, self._count * self._group
        outs = self._scratch.take("outs", parts, geometry.kv_heads, rows, geometry.value_dim)
        lses = self._scratch.take("lses", parts, geometry.kv_heads, rows, dtype=torch.float32)
        return outs.zero_(), lses.fill_(-math.inf)

    def attend(self, layer: int, query: Tensor, scale: float) -> Tensor:
        """``[row, query_head, value_dim]`` for the first rows of the step."""
        geometry, count, group = self._pool.geometry, self._count, self._group
        heads = geometry.kv_heads
        q = query[0, :, :count].view(heads, group, count, -1).transpose(1, 2)
        q = q.reshape(heads, count * group, geometry.key_dim)
        out = self._merged(layer, q, scale) if self._plan.parts else self._attend_loose(layer, q, scale).out
        out = out.view(heads, count, group, geometry.value_dim).transpose(0, 1)
        return out.reshape(count, heads * group, geometry.value_dim)

    def _merged(self, layer: int, q: Tensor, scale: float) -> Tensor:
        self._attend_runs(layer, q, scale)
        if self._width:
            block = self._attend_loose(layer, q, scale)
            self._outs[-1].copy_(block.out)
            self._lses[-1].copy_(block.lse)
        if len(self._outs) == 1:
            return self._outs[0]
        weights = torch.softmax(self._lses, dim=0).unsqueeze(-1).to(self._outs.dtype)
        return (self._outs * weights).sum(dim=0)

    def _attend_runs(self, layer: int, q: Tensor, scale: float) -> None:
        keys, values = self._pool.keys[layer], self._pool.values[layer]
        if self._gathered is not None:
            gathered_keys = self._scratch.gather("run keys", keys, self._gathered)
            gathered_values = self._scratch.gather("run values", values, self._gathered)
        for run in self._plan.runs:
            k, v = (gathered_keys, gathered_values) if run.gathered else (keys, values)
            rows = slice(run.first_row * self._group, run.end_row * self._group)
            block = self._flash(
                q[None, :, rows],
                k[None, :, run.start : run.start + run.length],
                v[None, :, run.start : run.start + run.length],
                causal=False,
                scale=scale,
            )
            self._outs[run.part, :, rows] = block.out[0]
            self._lses[run.part, :, rows] = block.lse[0]

    def _attend_loose(self, layer: int, q: Tensor, scale: float) -> Block:
        geometry, count, width = self._pool.geometry, self._count, self._width
        batch = geometry.kv_heads * count
        k = self._scratch.gather("loose keys", self._pool.keys[layer], self._loose)
        v = self._scratch.gather("loose values", self._pool.values[layer], self._loose)
        scores = torch.baddbmm(
            self._mask,
            q.reshape(batch, self._group, geometry.key_dim),
            k.view(batch, width, geometry.key_dim).transpose(1, 2),
            alpha=scale,
        )
        out = torch.bmm(torch.softmax(scores, dim=-1), v.view(batch, width, geometry.value_dim))
        shape = (geometry.kv_heads, count * self._group)
        return Block(out.view(*shape, -1), torch.logsumexp(scores.float(), dim=-1).view(shape))


class _Span:
    """Several new tokens of one sequence, over themselves and a cached prefix."""

    def __init__(self, pool: KVPool, plan: SpanPlan, scratch: Scratch, flash: FlashKernel | None) -> None:
        self._pool, self._plan, self._scratch, self._flash = pool, plan, scratch, flash
        self._gathered = scratch.index(plan.gathered) if len(plan.gathered) else None

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        """``[row, query_head, value_dim]`` for the span's rows, given the step's q, k and v."""
        rows = slice(self._plan.first_row, self._plan.end_row)
        q, k, v = query[:, :, rows], key[:, :, rows], value[:, :, rows]
        if self._flash is None:
            if self._plan.has_prefix:
                ((k, v),) = self._cached(layer)
            return masked(q, k, v, scale=scale)
        if not self._plan.has_prefix:
            out = torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=True, scale=scale, enable_gqa=True
            )
            return out[0].transpose(0, 1)
        return self._in_blocks(self._flash, layer, q, k, v, scale)

    def _cached(self, layer: int) -> list[tuple[Tensor, Tensor]]:
        """K and V of what the plan reads from the pool, ``[1, kv_head, length, dim]`` each, run by run."""
        keys, values = self._pool.keys[layer][None], self._pool.values[layer][None]
        found = [
            (keys[:, :, start : start + length], values[:, :, start : start + length])
            for start, length in self._plan.runs
        ]
        if self._gathered is not None:
            k = self._scratch.gather("prefix keys", keys[0], self._gathered)
            v = self._scratch.gather("prefix values", values[0], self._gathered)
            found.append((k[None], v[None]))
        return found

    def _in_blocks(
        self, flash: FlashKernel, layer: int, q: Tensor, k: Tensor, v: Tensor, scale: float
    ) -> Tensor:
        """The prefix read in place, the span itself causally, merged. Over the prefix the query heads of a group
        are so many more rows of their KV head; over the span, where a row's place matters, KV heads
        take the place of the batch and K and V are strided views.
        """
        heads = self._pool.geometry.kv_heads
        grouped = q[0].view(heads, -1, *q.shape[2:])
        block = flash(grouped, shared(k, grouped), shared(v, grouped), causal=True, scale=scale)
        rows = q.reshape(1, heads, -1, q.shape[3])
        for keys, values in self._cached(layer):
            part = flash(rows, keys, values, causal=False, scale=scale)
            block = merge(block, Block(part.out.view(block.out.shape), part.lse.view(block.lse.shape)))
        return block.out.flatten(0, 1).transpose(0, 1)


def _slice_or_index(slots: Slots, scratch: Scratch) -> slice | Tensor:
    """Slots that lie in a row as a slice, others as an index."""
    first = int(slots[0])
    if np.array_equal(slots, np.arange(first, first + len(slots))):
        return slice(first, first + len(slots))
    return scratch.index(slots)
