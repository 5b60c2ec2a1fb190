"""Captures for tests of several candidates: arms of one sweep's shape, each of another speed, and one of another model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from radixbench.capture.model import Capture
from tests.builders import make_sweep
from tests.compare.test_eligible import with_identity

NOISE = (1.0, 1.03, 0.98)


def capture(
    ttft: float | Callable[[int], float] = 1.0, *, shared: Sequence[int] = (64,), seeds: int = 3
) -> Capture:
    """An arm with the cache on whose first tokens take this long."""
    return make_sweep(on=ttft, shared=shared, seeds=seeds)[0]


def other_model(ttft: float = 0.5) -> Capture:
    """One that nothing here can be compared with."""
    return with_identity(capture(ttft), weights_sha256="x" * 64)


def four() -> tuple[Capture, ...]:
    """A twice as fast, B of another model, C slower, and D, the reference."""
    return capture(0.5), other_model(), capture(1.5), capture(1.0)


PATHS = ("fast.json", "other.json", "slow.json", "main.json")
