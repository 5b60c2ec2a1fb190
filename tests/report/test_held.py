"""How much cards were held back, in the clock figure's words and table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from radixbench.capture.model import Capture
from radixbench.compare.comparison import compare
from radixbench.records import DeviceInfo, GpuSample
from radixbench.report.clocks import clocks_figure
from radixbench.report.evidence import Evidence
from radixbench.report.held import held_notes, held_rows, reason_labels
from radixbench.report.view import build_view
from tests.builders import CARD, gpu_samples, make_capture, make_request, make_run, make_sweep, ns
from tests.report import scenes
from tests.report.evidence import side_of

CARD_700 = replace(CARD, power_limit_mw=700_000)
REQUESTS = [make_request(0, ttft_s=1.0, output=2, gap_s=1.0)]


def side(*runs: tuple[GpuSample, ...], card: DeviceInfo = CARD_700) -> Evidence:
    """An arm of 2-second runs with these samples."""
    return side_of(
        make_capture(
            [
                make_run(REQUESTS, seed=seed, gpu=gpu, devices=[card], identity={"device": "cuda"})
                for seed, gpu in enumerate(runs)
            ]
        )
    )


def note(*runs: tuple[GpuSample, ...]) -> str:
    """The only note."""
    (found,) = held_notes([side(*runs)], [0])
    return found.removeprefix("A (cache on): ")


def changed(change: Callable[[GpuSample], GpuSample]) -> tuple[GpuSample, ...]:
    """Cool samples, each changed."""
    return tuple(change(one) for one in gpu_samples(seconds=3))


def test_cool_runs_say_so_with_their_start_and_limit() -> None:
    """Where runs began and what the card may draw stand beside it."""
    assert note(gpu_samples(), gpu_samples(temperature=58)) == (
        "no throttle reason was set in any of 40 samples."
        " Runs began at 50–58 °C, the enforced power limit was 700 W."
    )


def test_counters_that_stood_still_prove_more() -> None:
    """Not of samples: of all the time."""
    still = changed(lambda one: replace(one, power_cap_ns=5, sw_thermal_ns=7))
    assert note(still).startswith("the driver's time counters show no throttling. Runs began at 50 °C")


def test_held_back_names_share_reason_and_source() -> None:
    """Of samples, or of its time where the driver counted."""
    assert note(gpu_samples(reasons=0x24)).startswith(
        "held back in 100 % of 20 samples (SW power cap 100 % and SW thermal slowdown 100 %)."
    )
    counted = changed(lambda one: replace(one, power_cap_ns=ns(9) + one.at_ns // 4))
    assert note(counted).startswith(
        "held back for 25.0 % of its time by the driver's time counters (SW power cap 25.0 %)."
    )


def test_a_card_that_does_not_tell_is_unknown() -> None:
    """Never none."""
    untold = changed(lambda one: replace(one, event_reasons=None))
    assert note(untold).startswith("the device doesn't tell why clocks fall, so throttling is unknown.")


def test_runs_weigh_as_much_as_they_lasted() -> None:
    """2 s throttled and 6 s cool are a quarter."""
    long = make_run(
        [make_request(0, ttft_s=1.0, output=2, gap_s=5.0)],
        seed=1,
        gpu=gpu_samples(seconds=7),
        devices=[CARD],
        identity={"device": "cuda"},
    )
    hot = make_run(REQUESTS, gpu=gpu_samples(reasons=0x20), devices=[CARD], identity={"device": "cuda"})
    found = held_notes([side_of(make_capture([hot, long]))], [0])[0]
    assert "held back in 25.0 % of" in found


def test_the_table_is_complete() -> None:
    """Shares by reason and source, start, limit and energy: lowest, median and highest of the runs."""
    counted = changed(
        lambda one: replace(one, power_cap_ns=ns(9) + one.at_ns // 4, energy_mj=one.at_ns // 10_000)
    )
    rows = {row[2]: row[3:] for row in held_rows([side(counted, counted)], 0)}
    assert rows["held back, by time counters"] == ("25.0 %", "25.0 %", "25.0 %", "2 runs")
    assert rows["SW power cap, by time counters"][0] == "25.0 %"
    assert rows["temperature at the start"] == ("50 °C", "50 °C", "50 °C", "2 runs")
    assert rows["enforced power limit"] == ("700 W", "700 W", "700 W", "2 runs")
    assert rows["energy, counted"] == ("200 J", "200 J", "200 J", "2 runs")


def test_every_cell_has_its_median_floor_and_gap() -> None:
    """In the measured windows only: what the card did before and after a run isn't the cell's."""
    figure = next(
        one for one in build_view(*scenes.compared(scenes.throttled())).figures if one.key == "clocks"
    )
    assert figure.grid is not None
    rows = {(row[1], row[2]): row[3:] for row in figure.grid.rows}
    low, middle, high, _ = rows["B (cache off)", "SM clock, 4,096 shared tokens"]
    assert (low, middle, high) == ("1,290 MHz", "1,505 MHz", "1,979 MHz")
    assert rows["A and B", "gap of the arms' SM clocks, 4,096 shared tokens"][1] == "23.8 %"


def test_labels_are_short_and_never_hide_a_little() -> None:
    """Whole percents; what is there isn't 0 %."""
    little = changed(lambda one: replace(one, power_cap_ns=ns(9) + one.at_ns // 1000))
    assert reason_labels([side(little)], 0) == {"SW power cap": "<1 % of time"}
    assert reason_labels([side(gpu_samples(reasons=1))], 0) == {}


def test_what_clocks_do_to_the_factors_is_in_the_notes() -> None:
    """The comparison's own words, by cell."""
    figure = next(
        one for one in build_view(*scenes.compared(scenes.throttled())).figures if one.key == "clocks"
    )
    told = [one for one in figure.notes if "clocks alone could explain at most" in one]
    assert len(told) == 3
    assert told[0].startswith("0 shared tokens: the off side was throttled in")


def many_cells() -> tuple[Capture, Capture]:
    """Eight cells, all throttled in the off arm."""
    facts = {"devices": [CARD], "identity": {"device": "cuda"}}
    return make_sweep(
        shared=tuple(range(16, 144, 16)),
        seeds=1,
        on_options={"gpu": gpu_samples()} | facts,
        off_options={"gpu": gpu_samples(reasons=0x20)} | facts,
    )


def test_many_cells_do_not_bury_the_figure() -> None:
    """Six are told, the rest counted."""
    comparison = compare(*many_cells())
    notes = clocks_figure([side_of(capture) for capture in many_cells()], comparison.clocks).notes
    assert sum("how much the throttling cost" in one for one in notes) == 6
    assert "The clocks speak against 2 more cells: see the caveats." in notes


@pytest.mark.parametrize(("missed", "told"), [(0, "on average."), (3, "on average; 3 of 28 were missed.")])
def test_sampling_tells_its_own_cost(missed: int, told: str) -> None:
    """How often, how long a reading took, and what was missed."""
    one = side(gpu_samples())
    run = one.capture.runs[0]
    info = replace(run.telemetry, read_ns_mean=1_500_000, missed_ticks=missed)
    arm = side_of(replace(one.capture, runs=(replace(run, telemetry=info),)))
    assert f"Sampled every 200 ms: a reading took 1.50 ms {told}" in clocks_figure([arm]).notes


def test_run_windows_tell_their_start_and_share() -> None:
    """Hovering a run's stretch says where it began and how much of it was throttled."""
    panel = clocks_figure([side(gpu_samples(reasons=0x4))]).panels[0]
    assert panel.marks[0]["tip"].endswith("seed 0, began at 50 °C, held back 100 %")
