"""How many KV slots a model gets when nobody says."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import torch

from radixbench.errors import ModelError
from radixbench.model.loaded import LoadedModel
from radixbench.units import Bytes, Tokens

USUAL_TOKENS = 65_536
_SHARE = 0.4
"""Of the free memory: the servers of both arms of a comparison stay up side by side."""
_STEP = 1024


class PoolSize(NamedTuple):
    """A number of slots and why."""

    tokens: Tokens
    why: str


def default_pool_tokens(model: LoadedModel) -> PoolSize:
    """65,536 tokens, or what fits into 40 % of the free memory. Raises ``ModelError`` when nothing does."""
    free = free_bytes(model)
    if free is None:
        return PoolSize(USUAL_TOKENS, "the usual size; free memory is unknown")
    fitting = int(free * _SHARE) // model.kv_bytes_per_token // _STEP * _STEP
    if fitting >= USUAL_TOKENS:
        return PoolSize(USUAL_TOKENS, "the usual size")
    if fitting == 0:
        raise ModelError(
            f"no memory for a KV pool: {free / 2**20:.0f} MiB free, {model.kv_bytes_per_token} bytes per token",
            remedy="free memory or choose a smaller model",
        )
    return PoolSize(fitting, f"{_SHARE:.0%} of {free / 2**30:.1f} GiB free memory")


def memory_bytes(model: LoadedModel, pool_tokens: Tokens) -> Bytes:
    """What a pool of that many tokens takes."""
    return model.kv_bytes_per_token * pool_tokens


def free_bytes(model: LoadedModel) -> Bytes | None:
    """Free memory where the pool would lie: of the GPU, or of this host within its control group."""
    if model.device == "cuda":
        return torch.cuda.mem_get_info()[0]
    bounds = [bound for bound in (_available(), _group_left()) if bound is not None]
    return min(bounds, default=None)


def _available() -> Bytes | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _group_left() -> Bytes | None:
    """What the control group still allows; ``None`` without a limit."""
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text().strip()
        used = int((group / "memory.current").read_text())
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(int(limit) - used, 0)
