"""Buffers and index tensors of a step, on the device.

Buffers live as long as the runner: fresh large tensors would be paid for in page faults on the CPU, in
calls to the driver on a GPU.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from radixbench.model.plan import Slots

_HEADROOM = 1.25
"""Sequences grow by a token per step; a buffer that grew with them would be made anew in every step."""


class Scratch:
    """Named buffers that grow and are reused from step to step."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.device = device
        self.dtype = dtype
        self._flat: dict[str, Tensor] = {}

    def take(self, name: str, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
        """A contiguous buffer of ``shape`` with arbitrary content, shared by all takers of ``name``."""
        size = math.prod(shape)
        flat = self._flat.get(name)
        if flat is None or flat.numel() < size:
            room = int(size * _HEADROOM)
            flat = torch.empty(room, dtype=dtype or self.dtype, device=self.device)
            self._flat[name] = flat
        return flat[:size].view(shape)

    def gather(self, name: str, source: Tensor, index: Tensor) -> Tensor:
        """``[kv_head, index, dim]``: the indexed slots of one layer, in the buffer ``name``."""
        room = self.take(name, source.shape[0], len(index), source.shape[2])
        return torch.index_select(source, 1, index, out=room)

    def index(self, slots: Slots) -> Tensor:
        """Slots as an index tensor on the device."""
        return self.upload(slots.astype(np.int64))

    def upload(self, numbers: NDArray[np.generic]) -> Tensor:
        """An array on the device. A GPU's copy is queued like its work: the host waits for neither."""
        tensor = torch.from_numpy(numbers)
        if self.device.type == "cpu":
            return tensor
        return tensor.pin_memory().to(self.device, non_blocking=True)
