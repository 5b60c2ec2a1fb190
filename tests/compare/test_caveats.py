"""Each caveat is raised by its fault, names the place, and touches the rows it should."""

from __future__ import annotations

from dataclasses import replace

from radixbench.capture.model import Capture, Run
from radixbench.clock import ClockAnchor
from radixbench.compare.change import Caveat, Comparison
from radixbench.compare.comparison import compare
from tests.builders import make_capture, make_request, make_sweep


def caveat(comparison: Comparison, code: str) -> Caveat | None:
    """The caveat of that code."""
    return next((c for c in comparison.caveats if c.code == code), None)


def with_cached(run: Run, cached: int) -> Run:
    """The run with so many cached tokens in every answer."""
    return replace(run, requests=tuple(replace(r, cached_tokens=cached) for r in run.requests))


def altered(capture: Capture, index: int, run: Run) -> Capture:
    """The capture with one run replaced."""
    runs = list(capture.runs)
    runs[index] = run
    return replace(capture, runs=tuple(runs))


def test_every_caveat_is_complete() -> None:
    """Code, severity, text and remedy, the gravest first."""
    comparison = compare(*make_sweep(seeds=1))
    ranks = [("serious", "warning", "info").index(c.severity) for c in comparison.caveats]
    assert ranks == sorted(ranks)
    assert all(c.text and c.remedy for c in comparison.caveats)
    known = {c.code for c in comparison.caveats}
    assert {code for change in comparison.changes for code in change.caveats} <= known


def test_a_second_cold_run_that_hits_everything() -> None:
    """The same workload sent twice: serious, the hit rate named, the runs set aside, no verdict."""
    on, off = make_sweep()
    warm = replace(on, runs=tuple(with_cached(run, 71) for run in on.runs))
    comparison = compare(warm, off)
    found = caveat(comparison, "cold-not-cold")
    assert found is not None
    assert found.severity == "serious"
    assert (
        "measured hit rate 99 %, above the theoretical maximum 78 %: 568 cached tokens where at most 448 are possible, in a"
        " run declared cold; the run is set aside"
    ) in found.text
    assert caveat(comparison, "above-maximum") is None
    sources = caveat(comparison, "sources-disagree")
    assert sources is not None
    assert (sources.severity, "theoretical" in sources.text) == ("info", False)
    for change in comparison.changes:
        assert change.verdict in {"undecided", None}
        assert "cold-not-cold" in change.caveats
    assert comparison.changes[0].reason == "no pair of runs had its cache in the declared state"


def test_one_warm_run_is_marked_not_averaged() -> None:
    """Of four pairs the faulty one is left out; the other three keep their verdict."""
    on, off = make_sweep(on=lambda s: 0.01 if s == 3 else 0.1, seeds=4)
    comparison = compare(altered(on, 3, with_cached(on.runs[3], 71)), off)
    ttft = comparison.changes[0]
    assert [seed for seed, _, _ in ttft.pairs] == [0, 1, 2]
    assert ttft.verdict == "better"
    assert ttft.factor is not None
    assert round(ttft.factor.value) == 10


def test_a_probe_that_hits_proves_a_warm_cache() -> None:
    """Cached tokens in the probe after the flush: set aside, whatever the run itself says."""
    on, off = make_sweep(on_options={"probe": 17})
    found = caveat(compare(on, off), "cold-not-cold")
    assert found is not None
    assert "a probe after the flush found 17 cached tokens" in found.text


def test_an_off_arm_that_hits_isnt_off() -> None:
    """Any cached token with the cache declared off."""
    on, off = make_sweep(off_options={"hits": True})
    found = caveat(compare(on, off), "off-not-off")
    assert found is not None
    assert "448 cached tokens in a run declared off" in found.text


def test_hits_below_what_was_possible() -> None:
    """An on arm that hardly hits: a warning, the figures stay."""
    on, off = make_sweep(on_options={"hits": False})
    comparison = compare(on, off)
    found = caveat(comparison, "hit-shortfall")
    assert found is not None
    assert "0 cached tokens where an unlimited cache gives 448" in found.text
    assert comparison.changes[0].verdict == "better"
    assert caveat(compare(*make_sweep()), "hit-shortfall") is None


def test_a_control_that_differs() -> None:
    """Nothing shared, and yet a different speed: the control failed; where prefixes are shared it is none."""
    comparison = compare(*make_sweep(shared=(0, 64)))
    found = caveat(comparison, "control-failed")
    assert found is not None
    assert "0 shared tokens: nothing to reuse, yet TTFT, median differs" in found.text
    assert "64 shared tokens" not in found.text
    touched = {
        (c.cell["shared_tokens"], c.metric) for c in comparison.changes if "control-failed" in c.caveats
    }
    assert touched == {(0, "ttft_p50"), (0, "output_throughput")}


def test_two_captures_of_one_mode_have_no_control() -> None:
    """A faster candidate is faster without reuse too, and that is no failure."""
    fast, _ = make_sweep(on=0.1, shared=(0,))
    slow, _ = make_sweep(on=0.2, shared=(0,))
    assert caveat(compare(fast, slow), "control-failed") is None


def test_unlike_outputs_are_found_with_their_place() -> None:
    """One answer of one seed parts at token 2: in float32 that is serious."""
    on, off = make_sweep()
    run = on.runs[1]
    changed = (replace(run.requests[0], output_ids=(0, 1, 9, 3)), *run.requests[1:])
    comparison = compare(altered(on, 1, replace(run, requests=changed)), off)
    found = caveat(comparison, "output-mismatch")
    assert found is not None
    assert found.severity == "serious"
    assert "seed 1: 1 of 8 greedy answers differ between A and B, the earliest at token 2" in found.text


def test_a_shorter_answer_differs_where_it_ends() -> None:
    """In half precision answers may part: a warning. Unknown ids are not compared."""
    half = {"identity": {"dtype": "bfloat16"}}
    on, off = make_sweep(on_options=half, off_options=half)
    run = on.runs[0]
    changed = (
        replace(run.requests[0], output_ids=(0, 1)),
        replace(run.requests[1], output_ids=None),
        *run.requests[2:],
    )
    found = caveat(compare(altered(on, 0, replace(run, requests=changed)), off), "output-mismatch")
    assert found is not None
    assert found.severity == "warning"
    assert "1 of 7 greedy answers differ between A and B, the earliest at token 2" in found.text


def test_arms_of_two_sweeps_arent_interleaved() -> None:
    """The same orders in both captures: they can't be of one sweep."""
    on, _ = make_sweep()
    _, off = make_sweep()
    later = replace(off, runs=tuple(replace(r, order=2 * i) for i, r in enumerate(off.runs)))
    found = caveat(compare(on, later), "not-interleaved")
    assert found is not None
    assert "pairs weren't run back to back in one sweep" in found.text
    assert caveat(compare(on, off), "not-interleaved") is None


def test_neighbouring_numbers_at_other_times_arent_interleaved() -> None:
    """Orders 0 and 1 of two sweeps a day apart, the second number earlier."""
    on, off = make_sweep()
    day_before = ClockAnchor(monotonic_ns=0, wall_ns=-86_400 * 10**9)
    moved = replace(off, runs=tuple(replace(r, clock_anchor=day_before) for r in off.runs))
    assert caveat(compare(on, moved), "not-interleaved") is not None


def test_an_arm_of_an_earlier_sweep_is_never_a_neighbour() -> None:
    """Two sweeps count alike: half of the pairs are neighbours by number and in order of time, with a day between them."""
    on, off = make_sweep(shared=(0, 64))
    earlier = replace(
        off,
        runs=tuple(
            replace(r, clock_anchor=ClockAnchor(0, r.clock_anchor.wall_ns - 86_400 * 10**9)) for r in off.runs
        ),
    )
    found = caveat(compare(on, earlier), "not-interleaved")
    assert found is not None
    assert found.text.startswith("6 of 6 pairs weren't run back to back")


def test_one_arm_always_first_isnt_alternating() -> None:
    """Back to back, but off always on the warmer card."""
    on, off = make_sweep()
    first = replace(on, runs=tuple(replace(r, order=2 * i) for i, r in enumerate(on.runs)))
    second = replace(off, runs=tuple(replace(r, order=2 * i + 1) for i, r in enumerate(off.runs)))
    times = [
        replace(
            one, runs=tuple(replace(r, clock_anchor=ClockAnchor(0, r.order * 100 * 10**9)) for r in one.runs)
        )
        for one in (first, second)
    ]
    found = caveat(compare(*times), "not-interleaved")
    assert found is not None
    assert found.text.startswith("A always ran first")


def test_missing_runs_are_named() -> None:
    """Two of three planned runs, interrupted: the caveat touches every row."""
    on, off = make_sweep()
    comparison = compare(replace(on, runs=on.runs[:2], interrupted=True), off)
    found = caveat(comparison, "incomplete")
    assert found is not None
    assert found.text == "A: the capture was interrupted: 2 of 3 planned runs"
    assert all("incomplete" in change.caveats for change in comparison.changes)


def test_values_left_out_are_counted() -> None:
    """Empty answers and impossible counts don't vanish."""
    on, off = make_sweep()
    run = on.runs[0]
    changed = (make_request(0, output=0), replace(run.requests[1], cached_tokens=9999), *run.requests[2:])
    found = caveat(compare(altered(on, 0, replace(run, requests=changed)), off), "values-left-out")
    assert found is not None
    assert "1 completed without a token, 1 with more cached than prompt tokens" in found.text


def test_few_values_touch_the_percentile_alone() -> None:
    """A p99 of eight values is their maximum; the median isn't concerned."""
    comparison = compare(*make_sweep())
    assert {c.metric for c in comparison.changes if "few-values" in c.caveats} == {"ttft_p99"}


def test_many_places_are_summed_up() -> None:
    """A fault of twenty runs in the same words is said once, in different words of a few: the length is bounded."""
    on, off = make_sweep(seeds=20, on_options={"probe": 5})
    found = caveat(compare(on, off), "cold-not-cold")
    assert found is not None
    assert found.text.startswith(
        "A, 64 shared tokens, seed 0, cache on and 19 more runs: a probe after the flush"
    )
    runs = [replace(r, protocol=replace(r.protocol, probe_cached_tokens=1 + r.seed)) for r in on.runs]
    found = caveat(compare(replace(on, runs=tuple(runs)), off), "cold-not-cold")
    assert found is not None
    assert found.text.endswith("and 14 more")


def test_random_weights_are_said() -> None:
    """The built-in model's answers mean nothing; a real model has no such caveat."""
    assert caveat(compare(*make_sweep()), "random-weights") is not None
    real = {"identity": {"random_weights": False}}
    assert caveat(compare(*make_sweep(on_options=real, off_options=real)), "random-weights") is None


def test_an_empty_capture_is_incomplete() -> None:
    """No run at all."""
    comparison = compare(make_capture([], planned_runs=9), make_sweep()[1])
    found = caveat(comparison, "incomplete")
    assert found is not None
    assert "A: the capture is incomplete: 0 of 9 planned runs" in found.text
