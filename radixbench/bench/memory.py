"""Whether a second server fits beside the first, so that neither has to be restarted between runs."""

from __future__ import annotations

from radixbench.bench.identity import ServerFacts
from radixbench.capture.environment import available_memory_bytes
from radixbench.telemetry.probes import Probe
from radixbench.units import Bytes

_WIDTH = {"float32": 4, "bfloat16": 2, "float16": 2}
_MARGIN = 1.2
_OVERHEAD: Bytes = 1 << 30


def fits_beside(facts: ServerFacts, probe: Probe) -> bool:
    """Whether another server like this one fits into what is free now; unknown sizes don't fit."""
    free = available_memory_bytes() if facts.device == "cpu" else _free_on_gpu(probe)
    need = needed_bytes(facts)
    return free is not None and need is not None and need <= free


def needed_bytes(facts: ServerFacts) -> Bytes | None:
    """Weights and KV pool with a margin for activations and the runtime; a scripted model takes none."""
    if facts.document.get("runner") == "fake":
        return _OVERHEAD
    parameters = facts.document.get("parameters")
    per_token = facts.document.get("kv_bytes_per_token")
    width = _WIDTH.get(str(facts.document.get("dtype")))
    if not isinstance(parameters, int) or not isinstance(per_token, int) or width is None:
        return None
    if facts.pool_tokens is None:
        return None
    return int(_MARGIN * (parameters * width + per_token * facts.pool_tokens)) + _OVERHEAD


def _free_on_gpu(probe: Probe) -> Bytes | None:
    """Free memory of the first GPU; ``None`` where the driver doesn't tell."""
    devices, samples = probe.devices(), probe.read(0)
    if not devices or not samples:
        return None
    total, used = devices[0].memory_total_bytes, samples[0].memory_used_bytes
    return None if total is None or used is None else total - used
