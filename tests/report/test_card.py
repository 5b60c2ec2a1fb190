"""Was the card cool? One word, and a sentence that says no more than what was read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from radixbench.capture.model import Capture, Run
from radixbench.records import DeviceInfo, GpuSample
from radixbench.report.model import Question
from radixbench.report.view import build_view
from tests.report import scenes

CARD = DeviceInfo(0, "NVIDIA H200", max_sm_clock_mhz=1980)
STEP = 20_000_000


def readings(run: Run, held: float = 0.0, **fixed: Any) -> tuple[GpuSample, ...]:
    """A reading every 20 ms, from before the run to after it; ``held`` of them say power cap."""
    places = range(-5, (run.end_ns - run.start_ns) // STEP + 5)
    sample = GpuSample(0, sm_clock_mhz=1950, event_reasons=0, temperature_c=50, utilization_pct=97)
    return tuple(
        replace(
            sample,
            at_ns=run.start_ns + place * STEP,
            event_reasons=4 if (place + 5) % 100 < 100 * held else 0,
            **fixed,
        )
        for place in places
    )


def side(capture: Capture, info: DeviceInfo = CARD, **readable: Any) -> Capture:
    """The capture with these readings in every run."""
    runs = (
        replace(
            run,
            gpu=readings(run, **readable),
            telemetry=replace(run.telemetry, devices=(info,), interval_ns=STEP),
        )
        for run in capture.runs
    )
    return replace(capture, runs=tuple(runs))


def asked(on: Capture, off: Capture) -> Question:
    """The answer on the page."""
    return next(one for one in build_view(*scenes.compared((on, off))).questions if one.key == "card")


def test_little_is_no_throttling_here_as_in_the_caveats() -> None:
    """Under 5 % of a run the answer stays yes, and says how much it was."""
    on, off = scenes.throttled()
    found = asked(side(on), side(off, held=0.02))
    assert (found.word, found.tone) == ("yes", "better")
    assert found.answer.startswith("power, heat or brake held it back in at most ")
    assert "% of a run, and from 5 % on it counts" in found.answer


def test_held_back_names_the_arm_and_the_cell() -> None:
    """And only the arm that was; what it means for the factors is told of a cell by its name."""
    on, off = scenes.throttled()
    found = asked(side(on), side(off, held=0.5))
    assert (found.word, found.tone) == ("NO", "worse")
    assert "A (cache on) was held back" not in found.answer
    assert "At 4,096 shared tokens the off side was throttled in" in found.answer
    assert found.answer.endswith("Clocks speak against 2 more cells, too.")


def test_cards_nobody_used_are_no_part_of_it() -> None:
    """A second card that idles hot and throttled says nothing about the first."""
    on, off = (side(one) for one in scenes.throttled())
    beside = []
    for capture in (on, off):
        runs = []
        for run in capture.runs:
            idle = (
                replace(one, device=1, sm_clock_mhz=210, event_reasons=1, utilization_pct=0, temperature_c=80)
                for one in run.gpu
            )
            runs.append(replace(run, gpu=(*run.gpu, *idle)))
        beside.append(replace(capture, runs=tuple(runs)))
    found = asked(*beside)
    assert (found.word, "80 °C" in found.answer) == ("yes", False)


def test_limits_that_set_no_reason_leave_the_answer_open() -> None:
    """A GB10 may be limited below what its driver tells."""
    on, off = scenes.throttled()
    spark = replace(CARD, name="NVIDIA GB10")
    found = asked(side(on, spark), side(off, spark))
    assert (found.word, found.tone) == ("as far as known", "caution")
    assert found.answer.startswith("a locked clock or limits of the firmware may hold NVIDIA GB10 back")


def test_a_card_lost_in_a_run_leaves_the_answer_open() -> None:
    """What it did from then on nobody knows."""
    on, off = (side(one) for one in scenes.throttled())
    first = on.runs[0]
    lost = replace(
        first,
        gpu=first.gpu[: len(first.gpu) // 2],
        telemetry=replace(first.telemetry, ended_early="no GPU is left to read"),
    )
    found = asked(replace(on, runs=(lost, *on.runs[1:])), off)
    assert found.word == "as far as known"
    assert "a card was lost in the middle of a run" in found.answer


def test_a_server_elsewhere_is_unknown_and_says_so() -> None:
    """The cards of this machine did nothing for it, and its own processor isn't the server's."""
    far = []
    for capture in scenes.throttled():
        runs = (
            replace(
                run,
                gpu=(GpuSample(run.start_ns + STEP, cpu_clock_mhz=2600.0),),
                telemetry=replace(run.telemetry, devices=(), unread="the server is at gpu7"),
            )
            for run in capture.runs
        )
        far.append(replace(capture, runs=tuple(runs)))
    found = asked(*far)
    assert (found.word, found.tone) == ("unknown", "caution")
    assert found.answer.startswith("the server is at gpu7. The processor of the machine that measured ran at")
