"""Large captures make small figures, and no dip is lost on the way."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from radixbench.records import GpuSample
from radixbench.report import batches, clocks
from radixbench.report.channels import thinned
from radixbench.report.view import build_view
from tests.report import scenes

SAMPLES = st.lists(st.integers(0, 2000), min_size=1, max_size=400).map(
    lambda values: [(i, float(value)) for i, value in enumerate(values)]
)


@given(SAMPLES, st.integers(4, 100))
def test_the_lowest_and_the_highest_sample_survive(values, budget):
    """What a reader looks for in a clock is exactly its extremes."""
    kept = thinned(values, budget)
    assert min(v for _, v in kept) == min(v for _, v in values)
    assert max(v for _, v in kept) == max(v for _, v in values)


@given(SAMPLES, st.integers(4, 100))
def test_thinning_keeps_time_order_and_its_budget(values, budget):
    """Kept samples are some of the given ones, in order, about as many as allowed."""
    kept = thinned(values, budget)
    assert [at for at, _ in kept] == sorted({at for at, _ in kept})
    assert set(kept) <= set(values)
    assert len(kept) <= budget + 1


def test_a_constant_clock_needs_two_samples():
    """A plateau is drawn by its ends."""
    assert thinned([(i, 1980.0) for i in range(1000)], 100) == [(0, 1980.0), (999, 1980.0)]


def test_a_long_run_is_drawn_within_the_budget():
    """Hours of samples and thousands of batches stay at some thousand rows; tokens are kept to the last."""
    on, off = scenes.laptop()
    run = on.runs[-1]
    span = run.end_ns - run.start_ns
    samples = tuple(
        GpuSample(
            at_ns=run.start_ns + i * span // 50_000, cpu_clock_mhz=2000 + i * 7919 % 997, cpu_load_pct=50.0
        )
        for i in range(50_000)
    )
    steps = tuple(
        replace(
            run.steps[0],
            start_ns=run.start_ns + i * span // 3000,
            end_ns=run.start_ns + (i + 1) * span // 3000,
        )
        for i in range(2900)
    )
    long_runs = tuple(
        replace(run, seed=one.seed, steps=steps, gpu=samples) if one.cell == run.cell else one
        for one in on.runs
    )
    figures = {f.key: f for f in build_view(*scenes.compared((replace(on, runs=long_runs), off))).figures}
    assert all(len(panel.rows) <= clocks.MAX_ROWS for panel in figures["clocks"].panels)
    panel = next(p for p in figures["scheduler"].panels if p.key == "scheduler-batches-a")
    assert len(panel.rows) <= 2 * batches.MAX_BATCHES
    assert "batches of" in panel.y_title


def test_eight_devices_draw_their_clocks_only():
    """With many cards the page keeps to SM clocks and reasons; the table has the rest."""
    on, off = scenes.throttled()
    arms = []
    for capture in (on, off):
        runs = tuple(
            replace(run, gpu=tuple(replace(s, device=d) for d in range(8) for s in run.gpu))
            for run in capture.runs
        )
        arms.append(replace(capture, runs=runs))
    figure = next(f for f in build_view(*scenes.compared((arms[0], arms[1]))).figures if f.key == "clocks")
    assert len(figure.panels) == 16
    assert (
        sum(len(panel.rows) for panel in figure.panels if panel.kind == "timeline") <= 1.5 * clocks.MAX_ROWS
    )
    assert figure.grid is not None
    assert {row[2] for row in figure.grid.rows} == {
        *("SM clock", "memory clock", "temperature", "power"),
        *("held back, by samples", "SW power cap, by samples", "SW thermal slowdown, by samples"),
        *("temperature at the start", "enforced power limit", "energy, from power"),
        *(f"SM clock, {n} shared tokens" for n in ("0", "1,024", "4,096")),
        *(f"gap of the arms' SM clocks, {n} shared tokens" for n in ("0", "1,024", "4,096")),
    }
