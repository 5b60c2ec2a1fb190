"""Attention over one block of K and V, with what is needed to merge blocks.

Softmax over a union of blocks is a weighted mean of the softmaxes over each, the weights being the
softmax of the blocks' log-sum-exps: exact, whatever the order. torch's flash attention for CPUs computes
that number anyway, but only the operator behind ``scaled_dot_product_attention`` hands it out; where
it is missing, or on another device, the portable way with public functions is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

import torch
from torch import Tensor
from torch.nn.attention.bias import causal_lower_right

from radixbench.model.kv_pool import KVGeometry


class Block(NamedTuple):
    """``out`` ``[..., rows, dim]`` and ``lse`` ``[..., rows]``, the log of the sum of exponentials."""

    out: Tensor
    lse: Tensor


FlashKernel = Callable[..., Block]


def cpu_flash(query: Tensor, key: Tensor, value: Tensor, *, causal: bool, scale: float) -> Block:
    """Flash attention over 4-dimensional q, k, v, whose heads may be strided views of each other."""
    out, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        query, key, value, 0.0, causal, attn_mask=None, scale=scale
    )
    return Block(out, lse)


def flash_kernel(device: torch.device, geometry: KVGeometry) -> FlashKernel | None:
    """The kernel that gives log-sum-exps for such K and V on ``device``, if this torch has one."""
    fits = device.type == "cpu" and geometry.key_dim == geometry.value_dim
    if fits and hasattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu"):
        return cast(FlashKernel, cpu_flash)
    return None


def masked(query: Tensor, key: Tensor, value: Tensor, *, scale: float) -> Tensor:
    """Attention of the last ``rows`` of a sequence over all of it, by public functions only.

    From q ``[1, query_head, rows, dim]``, k and v ``[1, kv_head, length, dim]`` the outcome ``[rows,
    query_head, value_dim]``; row i sees the first ``length - rows + i + 1``. KV heads take the place of the
    batch and a group's K and V are one view, and the mask is a rule, not a tensor: so a GPU's fused kernels
    take it. A mask of numbers, or grouped heads, send some to the kernel that writes all scores to memory.
    """
    rows, length = query.shape[2], key.shape[2]
    grouped = query[0].view(key.shape[1], -1, *query.shape[2:])
    out = torch.nn.functional.scaled_dot_product_attention(
        grouped,
        shared(key, grouped),
        shared(value, grouped),
        attn_mask=causal_lower_right(rows, length),
        scale=scale,
    )
    return out.permute(2, 0, 1, 3).flatten(1, 2)


def shared(kv: Tensor, query: Tensor) -> Tensor:
    """``[1, kv_head, n, dim]`` as ``[kv_head, group, n, dim]`` without a copy."""
    return kv[0].unsqueeze(1).expand(-1, query.shape[1], -1, -1)


def merge(first: Block, second: Block) -> Block:
    """Two blocks as one."""
    weight = torch.sigmoid(second.lse - first.lse).unsqueeze(-1).to(first.out.dtype)
    return Block(torch.lerp(first.out, second.out, weight), torch.logaddexp(first.lse, second.lse))
