"""Shares of a window by reason: from the driver's counters where there are any, from samples where not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.capture.model import Run
from radixbench.metrics.residency import COUNTED, Residency, request_throttle, residency
from radixbench.records import GpuSample
from radixbench.telemetry.reasons import THROTTLING, decode
from tests.builders import make_request, make_run, ns

POWER, HEAT, HW, IDLE = "SW power cap", "SW thermal slowdown", "HW slowdown", "GPU idle"


def sample(at_s: float, mask: int | None = None, device: int = 0, **readings: Any) -> GpuSample:
    """A reading at a moment in seconds; counters in milliseconds under their names without the unit."""
    counters = {f"{name}_ns": round(1e6 * value) for name, value in readings.items()}
    return GpuSample(at_ns=ns(at_s), device=device, event_reasons=mask, **counters)


def run_of(*samples: GpuSample, requests: int = 1) -> Run:
    """A run with these samples; requests of 1 s one after the other."""
    made = [make_request(i, send_s=i, ttft_s=0.5, output=2, gap_s=0.5) for i in range(requests)]
    return make_run(made, gpu=samples)


def of(*samples: GpuSample, start: float = 0.0, end: float = 1.0) -> Residency:
    """The first device in a window of seconds."""
    return residency(run_of(*samples), 0, ns(start), ns(end))


def test_counters_tell_the_time_that_samples_miss() -> None:
    """Held back for 300 of 1,000 ms, between samples that all show nothing."""
    found = of(sample(0, 0, power_cap=10), sample(0.5, 0, power_cap=310), sample(1, 0, power_cap=310))
    assert found.shares == {POWER: pytest.approx(0.3)}
    assert found.sources == {POWER: "counters"}
    assert (found.throttled, found.source, found.samples) == (pytest.approx(0.3), "counters", 3)


def test_a_window_of_one_request_has_a_share_of_its_own() -> None:
    """The first half second was held back for 300 of 500 ms, the second not at all."""
    samples = (sample(0, 0, power_cap=10), sample(0.5, 0, power_cap=310), sample(1, 0, power_cap=310))
    assert of(*samples, end=0.5).throttled == pytest.approx(0.6)
    assert of(*samples, start=0.5).throttled == 0.0
    assert of(*samples, start=0.25, end=0.75).throttled == pytest.approx(0.3)


def test_without_counters_samples_tell() -> None:
    """Power in two of four samples, heat in one of the same: held back in half of them."""
    found = of(sample(0.1, 4), sample(0.3, 0x24), sample(0.5, 0), sample(0.7, 1))
    assert found.shares == {IDLE: 0.25, POWER: 0.5, HEAT: 0.25}
    assert set(found.sources.values()) == {"samples"}
    assert (found.throttled, found.source) == (0.5, "samples")


def test_reasons_without_a_counter_come_from_samples() -> None:
    """HW slowdown and idle have none, and no counter says that they weren't there."""
    found = of(*(sample(i / 4, 0x9 if i < 2 else 0, power_cap=0) for i in range(5)))
    assert found.shares == {IDLE: 0.4, HW: 0.4}
    assert found.sources == {IDLE: "samples", HW: "samples", POWER: "counters"}
    assert (found.throttled, found.source) == (0.4, "samples")


def test_a_counter_outweighs_the_samples_of_its_reason() -> None:
    """Bits in half of the samples, 100 ms by the counter: the counter knows."""
    found = of(sample(0, 4, power_cap=0), sample(1, 0, power_cap=100))
    assert found.shares[POWER] == pytest.approx(0.1)
    assert found.throttled == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("masks", "expected"),
    [
        ((0, 0), 0.6),  # samples saw nothing: at least the largest reason
        ((0x24, 0), 0.6),  # both at once in half of them
        ((4, 0x20), 0.9),  # always one of them, but the counters allow no more than their sum
        ((None, None), 0.6),
    ],
)
def test_reasons_that_overlap_never_add_up_beyond_what_is_possible(
    masks: tuple[int | None, int | None], expected: float
) -> None:
    """60 % power, 30 % heat: between 60 % (all of the heat within) and 90 %; where, the samples' union says."""
    first = sample(0.0, masks[0], power_cap=0, sw_thermal=0)
    last = sample(1.0, masks[1], power_cap=600, sw_thermal=300)
    assert of(first, last).throttled == pytest.approx(expected)


def test_all_the_time_is_never_more_than_all() -> None:
    """Two reasons of 80 % each, and a counter that runs a little fast."""
    found = of(sample(0, 4, power_cap=0, sw_thermal=0), sample(1, 0x20, power_cap=1080, sw_thermal=800))
    assert found.shares[POWER] == 1.0
    assert found.throttled == 1.0


def test_sync_boost_is_no_throttling() -> None:
    """Another card of the group sets the pace: told as a reason, not as throttled."""
    found = of(sample(0, 0, sync_boost=0), sample(1, 0, sync_boost=900))
    assert found.shares == {"sync boost": pytest.approx(0.9)}
    assert found.throttled == 0.0


def test_a_reset_stretch_is_told_by_samples() -> None:
    """The counter fell: its half second is taken from the bits, the other half from the counter, and the reset counted."""
    found = of(sample(0, 4, power_cap=90_000), sample(0.5, 4, power_cap=0), sample(1, 4, power_cap=100))
    assert found.resets == 1
    assert found.shares[POWER] == pytest.approx(0.1 + 0.5)
    assert found.sources[POWER] == "counters"


def test_a_counter_that_tells_of_less_than_half_is_no_source() -> None:
    """The rest came from samples, and so the share is theirs."""
    found = of(sample(0, 4), sample(0.8, 4, power_cap=0), sample(1, 4, power_cap=0))
    assert found.sources[POWER] == "samples"
    assert found.shares[POWER] == pytest.approx(0.8)


def test_a_window_between_two_samples_takes_the_reading_in_force() -> None:
    """A request of 50 ms has a share too; long after the last sample nothing is known."""
    samples = (sample(0.0, 0x20), sample(0.2, 0))
    assert of(*samples, start=0.05, end=0.1).throttled == 1.0
    assert of(*samples, start=0.25, end=0.3).throttled == 0.0
    late = of(*samples, start=5, end=6)
    assert (late.throttled, late.source, late.shares) == (None, None, {})


def test_an_empty_window_divides_by_nothing() -> None:
    """A window of no length takes the sample at that moment."""
    assert of(sample(0, 4, power_cap=0), sample(1, 0, power_cap=0), start=0, end=0).throttled == 1.0


def test_unknown_bits_are_told_and_no_throttling() -> None:
    """A newer driver's reason is named by its bit."""
    found = of(sample(0.5, 0x200))
    assert (found.shares, found.throttled) == ({"unknown 0x200": 1.0}, 0.0)


def test_each_counter_has_its_reason() -> None:
    """Five counters, five bits."""
    for name in COUNTED:
        start = GpuSample(at_ns=0, **{name: 0})
        found = of(start, replace(start, at_ns=ns(1), **{name: ns(0.5)}))
        assert list(found.shares.values()) == [pytest.approx(0.5)]


def test_every_request_gets_its_share() -> None:
    """By its place in the workload; the device that was held back most decides, one that idles counts for nothing."""
    first = [sample(t / 2, 0, power_cap=min(t, 2) * 400) for t in range(7)]
    idle = [sample(t / 2, 0x5, device=1) for t in range(7)]
    shares = request_throttle(run_of(*first, *idle, requests=3))
    assert shares == {0: pytest.approx(0.8), 1: 0.0, 2: 0.0}


def test_a_run_that_tells_nothing_has_no_shares() -> None:
    """A CPU's samples have no reasons: nobody knows, and nobody claims 0."""
    assert request_throttle(run_of(GpuSample(at_ns=0, cpu_load_pct=50.0))) == {}
    assert request_throttle(run_of()) == {}


counts = st.one_of(st.none(), st.integers(0, 400))
looks = st.lists(st.tuples(st.integers(0, 0x3FF), counts, counts, counts), min_size=1, max_size=12)


@given(looks, st.integers(-300, 3000), st.integers(0, 3000))
def test_no_window_holds_more_than_all_of_itself(
    readings: list[tuple[int, int | None, int | None, int | None]], start: int, length: int
) -> None:
    """Whatever counters do, also when they fall or miss: shares are shares, and any reason is at least the largest."""
    samples = [
        sample(
            i / 5,
            mask,
            **{
                name: value
                for name, value in zip(("power_cap", "sw_thermal", "hw_thermal"), values, strict=True)
                if value is not None
            },
        )
        for i, (mask, *values) in enumerate(readings)
    ]
    found = of(*samples, start=start / 1000, end=(start + length) / 1000)
    assert all(0 < share <= 1 for share in found.shares.values())
    assert set(found.shares) <= set(found.sources)
    slow = [share for name, share in found.shares.items() if name in decode(THROTTLING)]
    if found.throttled is None:
        assert not slow
    else:
        assert max(slow, default=0) <= found.throttled <= min(1, sum(slow)) + 1e-9
