"""Whether both arms' servers may stay up at once."""

from __future__ import annotations

from typing import Any

import pytest

from radixbench.bench.identity import ServerFacts
from radixbench.bench.memory import fits_beside, needed_bytes
from radixbench.records import DeviceInfo, GpuSample
from radixbench.telemetry.probes import ScriptedProbe

GIB = 1 << 30


def facts(device: str, **document: Any) -> ServerFacts:
    """A server with a pool of 65,536 tokens."""
    return ServerFacts("m", 100, frozenset(), 1000, 65_536, 1, device, document)


def card(total: int | None, used: int | None) -> ScriptedProbe:
    """A GPU with so much memory taken."""
    return ScriptedProbe(
        [[GpuSample(at_ns=0, memory_used_bytes=used)]],
        described=(DeviceInfo(index=0, name="card", memory_total_bytes=total),),
    )


QWEN3_8B = {"parameters": 8_190_735_360, "kv_bytes_per_token": 147_456, "dtype": "bfloat16"}


def test_need_is_weights_and_pool_with_a_margin() -> None:
    """8.19 G parameters in two bytes and 65,536 slots of 144 KiB: 24.3 GiB, a fifth more, and one for the runtime."""
    assert needed_bytes(facts("cuda", **QWEN3_8B)) == pytest.approx(30.1 * GIB, rel=0.01)


@pytest.mark.parametrize(("used", "fits"), [(26, True), (60, False)])
def test_a_second_server_fits_into_what_the_first_leaves(used: int, fits: bool) -> None:
    """On an 80 GiB card a second server of 30 GiB fits beside 26 GiB in use, not beside 60."""
    assert fits_beside(facts("cuda", **QWEN3_8B), card(80 * GIB, used * GIB)) is fits


@pytest.mark.parametrize("probe", [card(None, 0), card(GIB, None), ScriptedProbe([])])
def test_what_is_unknown_does_not_fit(probe: ScriptedProbe) -> None:
    """Where the driver doesn't tell, servers take turns instead of running out of memory."""
    assert not fits_beside(facts("cuda", **QWEN3_8B), probe)
    assert not fits_beside(facts("cuda", dtype="bfloat16"), card(80 * GIB, 0))
