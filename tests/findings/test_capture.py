"""What the runs of a capture say together."""

from __future__ import annotations

from dataclasses import replace

from radixbench.capture.model import CellFailure, Run
from radixbench.compare.arm import gather
from radixbench.compare.comparison import compare
from radixbench.compare.single import single_caveats
from radixbench.findings.model import Finding
from radixbench.findings.turns import turn_findings, usage_by_turn
from radixbench.metrics.figure import TurnAccount
from radixbench.metrics.summary import summarise
from radixbench.records import Calibration, Mode, StepRecord
from tests.builders import make_capture, make_request, make_run, make_sweep, ns
from tests.faults.finding import found_in_capture

CALIBRATION = Calibration(
    streams=32,
    chunks=1024,
    seconds=1.0,
    cpu_ns_per_chunk=40_000,
    chunks_per_s=1000.0,
    ttft_error_p50_ns=ns(0.04),
    ttft_error_p99_ns=ns(0.08),
    lag_p50_ns=ns(0.01),
    lag_p99_ns=ns(0.02),
    late_p50_ns=0,
    late_p99_ns=ns(0.001),
    coalesced_share=0.0,
)


def test_a_finding_is_told_with_its_place_and_side() -> None:
    """Place before text, side before place."""
    one = Finding("code", "info", "text", "remedy")
    assert one.told == "text"
    assert one.on_side("A").told == "A: text"
    run = make_run([], cell={"shared_tokens": 7}, seed=2)
    assert one.of_run(run).on_side("B").told == "B, 7 shared tokens, seed 2, cache on: text"


def test_missing_runs_say_why() -> None:
    """Failed cells keep their reason."""
    on, _ = make_sweep()
    failures = (CellFailure({"shared_tokens": 64}, 2, "on", "the server ended: out of memory"),)
    told = found_in_capture(replace(on, runs=on.runs[:2], failures=failures), "incomplete")
    assert told.text == ("the capture is incomplete: 2 of 3 planned runs (the server ended: out of memory)")
    assert "incomplete" not in {one.code for one in single_caveats(replace(on, interrupted=True))}


def test_calibration_matters_beside_the_ttft() -> None:
    """40 ms of error are a lot of 100 ms and little of 10 s; a mock that was late is named."""
    on, _ = make_sweep(on=0.1)
    told = found_in_capture(replace(on, calibration=CALIBRATION), "client-lag")
    assert "saw first tokens 40.0 ms late (median), 40 % of the median TTFT here" in told.text
    late = replace(CALIBRATION, late_p99_ns=ns(0.5))
    assert (
        "the mock itself was up to 500.0 ms late"
        in found_in_capture(replace(on, calibration=late), "client-lag").text
    )
    slow, _ = make_sweep(on=10.0)
    assert not [
        one for one in single_caveats(replace(slow, calibration=CALIBRATION)) if one.code == "client-lag"
    ]


def test_single_caveats_are_merged_and_the_gravest_first() -> None:
    """The same caveats a comparison shows, without sides."""
    on, _ = make_sweep(on_options={"probe": 5})
    told = single_caveats(on)
    assert [one.code for one in told] == ["cold-not-cold", "random-weights"]
    assert told[0].text.startswith(
        "64 shared tokens, seed 0, cache on and 2 more runs: a probe after the flush found 5"
    )
    assert single_caveats(on, gather("", on, None)) == told


def test_off_modes_that_differ_are_warned_of() -> None:
    """Two off arms, one by salt: listed as a difference, allowed, and warned of; on against off by salt isn't."""
    on, off = make_sweep()
    salted = replace(
        off, runs=tuple(replace(run, protocol=replace(run.protocol, off_mode="salt")) for run in off.runs)
    )
    both = compare(salted, off)
    assert [(one.a, one.b, one.allowed) for one in both.differences if one.field == "off mode"] == [
        ("salt", "flag", True)
    ]
    told = next(one for one in both.caveats if one.code == "off-modes-differ")
    assert "A by salt; B by flag" in told.text
    assert (both.a.off_mode, both.b.off_mode, compare(on, off).a.off_mode) == ("salt", "flag", None)
    codes = {one.code for one in compare(on, salted).caveats}
    assert "off-modes-differ" not in codes
    assert "off-by-salt" in codes


def test_a_model_that_changes_between_runs() -> None:
    """Each run is of one name, and they differ; runs that don't tell a name change nothing."""
    on, _ = make_sweep()
    named = [
        replace(run, requests=tuple(replace(one, model=name) for one in run.requests))
        for run, name in zip(on.runs, ("a", "b", None), strict=True)
    ]
    told = found_in_capture(replace(on, runs=tuple(named)), "model-renamed")
    assert told.text == "the runs were answered by 2 models: 'a', 'b'"
    assert "model-renamed" not in {one.code for one in single_caveats(on)}


def step(at_s: float, used: int) -> StepRecord:
    """A decode step that ends there."""
    return StepRecord("decode", 0, ns(at_s) - 1, ns(at_s), 0, 0, 0, 0, 1, 0, 0, 0, used, 100)


def test_usage_by_turn_is_the_peak_while_the_turn_was_under_way() -> None:
    """From the engine's steps; without any nothing is known."""
    requests = [make_request(turn, send_s=10.0 * turn, turn=turn, conversation=0) for turn in range(3)]
    steps = tuple(step(10.0 * turn + 0.1, 20 + 10 * turn) for turn in range(3))
    assert usage_by_turn(make_run(requests, steps=steps)) == (0.2, 0.3, 0.4)
    assert usage_by_turn(make_run(requests)) == ()


def test_a_history_that_parts_is_told_with_its_position() -> None:
    """The first round whose prompts don't continue the one before."""
    run = make_run([make_request(0)])
    turns = (
        TurnAccount(0, 4, 400, 0, 0, 0),
        TurnAccount(1, 4, 800, 300, 300, 300, compared=4, matched=1, first_difference=97),
    )
    summary = summarise(run)
    summary = replace(summary, cache=replace(summary.cache, turns=turns))
    (one,) = turn_findings(run, summary)
    parts = (
        "3 of 4 prompts of round 2 don't go on where the round before ended: the earliest parts at token 97"
    )
    assert one.text == parts
    (anew,) = turn_findings(run, summary, "retokenized")
    assert anew.text == (
        f"{parts}; as declared (history: retokenized), answers come back as text and are encoded anew"
    )
    assert anew.remedy.endswith("--history live sends token ids back")
    assert not list(turn_findings(run, summary, "recorded"))


def parted(mode: Mode, answer: int) -> Run:
    """Two rounds, of which the second repeats another answer than the one that was given."""
    first, given = (1, 2, 3), (4, answer)
    second = (*first, 8, 9, 10)
    requests = [
        make_request(
            turn,
            send_s=float(turn),
            conversation=0,
            turn=turn,
            prompt_tokens=length,
            output=2,
            output_ids=ids,
        )
        for turn, (length, ids) in enumerate(((3, given), (6, (5, 5))))
    ]
    return make_run(requests, prompts=[first, second], mode=mode)


def test_a_recorded_history_is_as_declared() -> None:
    """Said once, of both sides, in the same words whatever was answered; a live one that parts is told by run."""
    on, off = (make_capture([parted(mode, answer)]) for mode, answer in (("on", 5), ("off", 6)))
    live = [one for one in compare(on, off).caveats if one.code == "history-parts"]
    assert "prompts of round 2 don't go on" in live[0].text
    recorded = [
        replace(
            one, scenario=replace(one.scenario, workload=replace(one.scenario.workload, history="recorded"))
        )
        for one in (on, off)
    ]
    (told,) = [one for one in compare(*recorded).caveats if one.code == "history-parts"]
    assert told.severity == "info"
    assert told.text.startswith(
        "A and B: as declared (history: recorded), later rounds repeat answers made beforehand"
    )
    assert told.text.count("as declared") == 1
    assert told.remedy.startswith("--history live")
    assert [one.code for one in single_caveats(recorded[0])].count("history-parts") == 1


def test_seeds_of_one_recorded_file_are_repeats() -> None:
    """The same prompts under every seed are told, with what the interval then means; drawn ones are no such thing."""
    on, _ = make_sweep(shared=(64, 128))
    assert "same-prompts-every-seed" not in {one.code for one in single_caveats(on)}
    same = replace(on, runs=tuple(replace(run, workload_digest="file") for run in on.runs))
    told = found_in_capture(same, "same-prompts-every-seed")
    assert told.severity == "info"
    assert told.text.startswith("all 3 seeds sent the same prompts: they are repeats")
    assert told.place == ""
    one_cell = replace(
        on,
        runs=tuple(
            replace(run, workload_digest="file") if run.cell == {"shared_tokens": 64} else run
            for run in on.runs
        ),
    )
    told = found_in_capture(one_cell, "same-prompts-every-seed")
    assert told.place == "64 shared tokens"
    once = replace(same, runs=tuple(run for run in same.runs if run.seed == 0))
    assert "same-prompts-every-seed" not in {one.code for one in single_caveats(once)}
