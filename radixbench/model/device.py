"""Which device computes, in which precision, on how many threads."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import cast

import torch

from radixbench.errors import ModelError
from radixbench.model.loaded import Device, Dtype


def pick_device(wish: str) -> Device:
    """``auto`` is the GPU where there is one. Raises ``ModelError`` for a GPU that isn't there."""
    present = torch.cuda.is_available()
    if wish == "cuda" and not present:
        raise ModelError(
            "device cuda: torch sees no NVIDIA GPU", remedy="use --device cpu, or check the driver"
        )
    return "cuda" if present and wish != "cpu" else "cpu"


def pick_dtype(wish: str, device: Device) -> Dtype:
    """``auto`` is float32 on the CPU, where nothing is faster, and bfloat16 on a GPU."""
    if wish == "auto":
        return "float32" if device == "cpu" else "bfloat16"
    return cast(Dtype, wish)


def settle_kernels(device: Device) -> None:
    """Keep a GPU to attention kernels that take any length at once, for the whole process.

    cuDNN's, torch's first choice on Hopper, is built anew for every pair of query and key lengths, and a
    server sees new ones in every step.
    """
    if device == "cuda":
        torch.backends.cuda.enable_cudnn_sdp(False)


def pick_threads(wish: int | None) -> int:
    """All cores this process may use but one, which is the client's; at least one."""
    if wish is not None:
        if wish < 1:
            raise ModelError(f"{wish} threads", remedy="use at least 1")
        return wish
    return max(usable_cores() - 1, 1)


def usable_cores() -> int:
    """Cores this process may use, which are fewer than the machine's in a container or under ``taskset``."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def device_name(device: Device) -> str:
    """The GPU's name, or the processor's."""
    if device == "cuda":
        return torch.cuda.get_device_name()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
