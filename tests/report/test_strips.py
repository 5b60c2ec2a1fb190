"""The strip of throttle reasons, and what it says of stretches it has no room for."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from radixbench.capture.model import Capture
from radixbench.records import GpuSample
from radixbench.report.model import Panel
from radixbench.report.strips import MAX_STRETCHES
from radixbench.report.view import build_view
from tests.report import scenes

POWER, HEAT = 0x4, 0x20


def with_stretches(capture: Capture, count: int, mask: int, *, long_one: int | None = None) -> Capture:
    """The capture with its first run alone and so many stretches in it, all short but perhaps one."""
    run = capture.runs[0]
    interval = run.telemetry.interval_ns
    samples: list[GpuSample] = []
    at = run.start_ns
    for place in range(count):
        for _ in range(20 if place == long_one else 1):
            samples.append(GpuSample(at_ns=at, sm_clock_mhz=1500, event_reasons=mask))
            at += interval
        at += 4 * interval
    end = max(run.end_ns, at)
    return replace(capture, runs=(replace(run, gpu=tuple(samples), end_ns=end),))


def strip(on: Capture, off: Capture) -> Panel:
    """The strip as it is drawn."""
    figures = {figure.key: figure for figure in build_view(*scenes.compared((on, off))).figures}
    (panel,) = [panel for panel in figures["clocks"].panels if panel.kind == "reasons"]
    return panel


def test_a_strip_that_fits_is_drawn_whole():
    """All stretches up to the limit are there, and nothing is said of missing ones."""
    on, off = scenes.throttled()
    half = MAX_STRETCHES // 2
    panel = strip(with_stretches(on, half, POWER), with_stretches(off, half, POWER))
    assert len(panel.rows) == MAX_STRETCHES
    assert panel.title == "GPU 0: reasons for lower clocks, as the driver gave them"


def test_a_strip_says_how_many_stretches_it_leaves_out():
    """Title and spoken summary count what isn't drawn; the kept ones are in time order."""
    on, off = scenes.throttled()
    panel = strip(with_stretches(on, 900, POWER), with_stretches(off, 350, POWER))
    missing = " (650 of 1,250 stretches left out)"
    assert panel.title.endswith(missing)
    assert panel.summary == f"Throttle reasons over time on GPU 0: SW power cap{missing}."
    assert len(panel.rows) == MAX_STRETCHES
    for name in panel.series:
        starts = [row["t"] for row in panel.rows if row["series"] == name]
        assert starts == sorted(starts)
        assert len(starts) == MAX_STRETCHES // 2


def test_no_arm_reason_or_time_vanishes_for_anothers_sake():
    """Room is shared out: a rare reason stays beside a frequent one, a long stretch beside short ones, to the end."""
    on, off = scenes.throttled()
    panel = strip(with_stretches(on, 1700, POWER, long_one=901), with_stretches(off, 1, HEAT))
    assert {row["reason"] for row in panel.rows} == {"SW power cap", "SW thermal slowdown"}
    drawn = [row for row in panel.rows if row["reason"] == "SW power cap"]
    lengths = [float(row["t2"]) - float(row["t"]) for row in drawn]
    assert max(lengths) > 15 * min(lengths)
    end = panel.x_domain[1]
    gaps = [float(b["t"]) - float(a["t2"]) for a, b in pairwise(drawn)]
    assert max(gaps) < end / 100
    assert end - float(drawn[-1]["t2"]) < end / 50
