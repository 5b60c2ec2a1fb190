"""The strip of throttle reasons, and what it says of stretches it has no room for."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest

from radixbench.capture.model import Capture
from radixbench.records import GpuSample
from radixbench.report.charts import spec
from radixbench.report.model import Panel
from radixbench.report.strips import MAX_STRETCHES
from radixbench.report.view import build_view
from radixbench.telemetry.reasons import GPU_IDLE, REASONS
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
    told = "SW power cap (A 100 %, B 100 % of samples)"
    assert panel.summary == f"Throttle reasons over time on GPU 0: {told}{missing}."
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


def counted(capture: Capture, held: dict[int, int], mask_at: int | None = None) -> Capture:
    """The capture's first run with 20 samples whose power counter grew by so many milliseconds before each of them."""
    run = capture.runs[0]
    samples: list[GpuSample] = []
    total = 10**9
    for place in range(20):
        total += held.get(place, 0) * 1_000_000
        mask = POWER if place == mask_at else 0
        at = run.start_ns + place * 50_000_000
        samples.append(GpuSample(at_ns=at, sm_clock_mhz=1900, event_reasons=mask, power_cap_ns=total))
    return replace(capture, runs=(replace(run, gpu=tuple(samples)),))


def test_what_only_a_counter_saw_is_drawn_too():
    """20 ms between two samples that both show nothing: a stretch that says who counted it, once."""
    on, off = scenes.throttled()
    panel = strip(counted(on, {5: 20}), counted(off, {}))
    (row,) = panel.rows
    assert row["reason"] == "SW power cap"
    assert row["tip"].endswith("SW power cap for 20.0 ms of 50.0 ms, by the driver's time counter")
    assert float(row["t2"]) - float(row["t"]) == pytest.approx(0.05, abs=0.002)
    seen = strip(counted(on, {5: 20}, mask_at=5), counted(off, {}))
    assert [row["tip"] for row in seen.rows] == ["A (cache on): SW power cap for 50.0 ms"]


def test_every_reason_says_its_share_and_where_it_comes_from():
    """Below its name on the axis: the share of each arm's measured time, or of its samples."""
    on, off = scenes.throttled()
    by_samples = {mark["reason"]: mark["label"] for mark in strip(on, off).marks}
    assert by_samples == {
        "SW power cap": "A 0 %, B 58 % of samples",
        "SW thermal slowdown": "A 0 %, B 15 % of samples",
    }
    panel = strip(counted(on, {5: 20}), counted(off, {}))
    assert [mark["label"].split(" of ")[1] for mark in panel.marks] == ["time"]
    axis = spec(panel)["layer"][0]["encoding"]["y"]["axis"]
    assert '"SW power cap": ["SW power cap", "A ' in axis["labelExpr"]
    assert '%", "of time"]' in axis["labelExpr"]
    assert spec(panel)["height"] >= 3 * 13


def test_labels_fit_beside_a_strip_on_a_phone():
    """No line of them is longer than what the inset holds: long names are broken, shares stand below."""
    reasons = [one.name for one in REASONS if one.bit != GPU_IDLE]
    marks = [{"reason": name, "label": "A 100 %, B 100 % of samples"} for name in reasons]
    panel = replace(strip(*scenes.throttled()), marks=tuple(marks))
    axis = spec(panel)["layer"][0]["encoding"]["y"]["axis"]
    lines = json.loads(axis["labelExpr"].partition("[datum.label]")[0])
    assert {line for name in reasons for line in lines[name] if len(line) > 16} == set()
    assert axis["labelLimit"] == panel.inset - 4 >= 16 * 7
