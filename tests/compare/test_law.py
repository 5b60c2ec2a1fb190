"""What follows from both laws: the break-even length, factors at other lengths, and when neither may be told."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from radixbench.capture.model import Capture, Run
from radixbench.compare.change import LawChange
from radixbench.compare.comparison import compare
from radixbench.compare.document import to_document
from radixbench.compare.law import bend_findings, capture_laws
from radixbench.compare.single import single_caveats
from radixbench.metrics.summary import summarise
from radixbench.stats.estimate import Estimate
from radixbench.stats.sequential import STOPPED_LEVEL
from radixbench.stats.student import critical
from tests.builders import make_capture
from tests.lawful import Cost, lawful_arm, lawful_run, lawful_sweep

ON = Cost(0.010, 2e-4, cached=1e-5)
OFF = Cost(0.004, 2e-4)


def scattered(cost: Cost, by: float = 0.01) -> list[Cost]:
    """Three seeds that differ by a share of the cost."""
    return [
        replace(cost, base=cost.base * (1 + by * step), computed=cost.computed * (1 + by * step))
        for step in (-1, 0, 1)
    ]


def only(a: Capture, b: Capture) -> LawChange:
    """The law of a comparison with one setting."""
    (found,) = compare(a, b).laws
    return found


def test_break_even_is_where_both_first_tokens_come_at_once() -> None:
    """On pays 6 ms more and saves 0.19 ms a token: 31.6 tokens."""
    found = only(*lawful_sweep(scattered(ON), scattered(OFF)))
    assert found.reason is None
    assert found.break_even is not None
    assert found.break_even.value == pytest.approx(0.006 / 1.9e-4, rel=1e-3)
    assert found.break_even.low is not None
    assert found.break_even.high is not None
    assert found.break_even.low < 0.006 / 1.9e-4 < found.break_even.high


def test_foretold_factors_are_those_of_the_laws() -> None:
    """For a request that finds all of it cached, at the lengths measured and about them; beyond is said."""
    found = only(*lawful_sweep(scattered(ON), scattered(OFF)))
    by_length = {one.shared_tokens: one for one in found.predictions}
    assert set(by_length) >= {256, 1024, 4096, 8192, 16384}
    for length, one in by_length.items():
        assert one.factor.value == pytest.approx(OFF.of(32 + length, 0) / ON.of(32, length), rel=1e-3)
        assert one.factor.low is not None
        assert one.factor.high is not None
        assert one.factor.low <= one.factor.value <= one.factor.high
        assert one.beyond == (length > 4096)


def test_a_bent_law_is_followed_by_its_curve() -> None:
    """Where attention bends the law, factors follow the bend beyond what was measured too, and a caveat tells it."""
    bent = Cost(0.004, 1e-4, squared=4e-8)
    a, b = lawful_sweep(scattered(ON), scattered(bent), lengths=(0, 1024, 2048, 4096))
    comparison = compare(a, b)
    one = next(one for one in comparison.laws[0].predictions if one.shared_tokens == 8192)
    assert one.factor.value == pytest.approx(bent.of(8224, 0) / ON.of(32, 8192), rel=0.01)
    caveat = next(caveat for caveat in comparison.caveats if caveat.code == "law-bends")
    assert caveat.severity == "info"
    assert caveat.text.startswith("B: the time to the first token is no straight line")
    assert "long prompts cost more" in caveat.text


def test_a_law_bent_a_little_is_followed_by_its_curve_too() -> None:
    """Less than a tenth is no caveat, and yet factors between and beyond are those of the curve."""
    bent = Cost(0.004, 1e-4, squared=3e-9)
    a, b = lawful_sweep(scattered(ON), scattered(bent), lengths=(0, 1024, 2048, 4096))
    comparison = compare(a, b)
    assert "law-bends" not in {caveat.code for caveat in comparison.caveats}
    for one in comparison.laws[0].predictions:
        truth = bent.of(32 + one.shared_tokens, 0) / ON.of(32, one.shared_tokens)
        assert one.factor.value == pytest.approx(truth, rel=0.005)


def test_a_straight_law_has_no_such_caveat() -> None:
    """Nothing bends, nothing is said."""
    comparison = compare(*lawful_sweep(scattered(ON), scattered(OFF)))
    assert "law-bends" not in {caveat.code for caveat in comparison.caveats}


def test_caching_that_pays_at_once() -> None:
    """A cache that costs nothing pays from the first token on: 0, and never fewer."""
    found = only(*lawful_sweep(scattered(Cost(0.003, 2e-4)), scattered(OFF)))
    assert found.break_even is not None
    assert (found.break_even.value, found.break_even.low, found.break_even.high) == (0.0, 0.0, 0.0)


def test_caching_that_never_pays() -> None:
    """Finding a token costs as much as computing it: no length is enough."""
    found = only(*lawful_sweep(scattered(Cost(0.010, 2e-4, cached=3e-4)), scattered(OFF)))
    assert found.break_even is None
    assert found.break_even_reason == (
        "even at 4,096 shared tokens, the most that were found cached, the first token doesn't surely come sooner by these"
        " laws of 3 seeds"
    )


def test_break_even_of_bent_laws_is_where_their_curves_cross() -> None:
    """Where short prompts cost next to nothing, the slope there isn't known, and yet every long prefix pays."""
    bent = Cost(0.004, 1e-6, squared=5e-8)
    on = [Cost(0.010 * share, 2e-6 * share, squared=5e-8 * share) for share in (0.8, 1.0, 1.2)]
    found = only(*lawful_sweep(on, scattered(bent, 0.2)[::-1], lengths=(0, 256, 1024, 2048)))
    assert found.b is not None
    assert found.b.is_bent
    assert found.break_even is not None
    truth = next(n for n in range(2048) if bent.of(32 + n, 0) > Cost(0.010, 2e-6, squared=5e-8).of(32, n))
    assert found.break_even.value == pytest.approx(truth, rel=0.15)
    assert found.break_even.low is not None
    assert found.break_even.high is not None
    assert found.break_even.low <= truth <= found.break_even.high < 1024


def test_lengths_nobody_measured_between_two_rest_on_a_straight_line() -> None:
    """Two lengths don't tell whether the law bends: what lies between and beyond is said to rest on its being straight."""
    found = only(*lawful_sweep(scattered(ON), scattered(OFF), lengths=(0, 4096)))
    told = {one.shared_tokens: (one.beyond, one.straight) for one in found.predictions}
    assert told[2048] == (False, True)
    assert told[4096] == (False, False)
    assert told[8192] == (True, True)
    middle = only(*lawful_sweep(scattered(ON), scattered(OFF)))
    assert not any(one.straight for one in middle.predictions)


@pytest.mark.parametrize("seeds", [1, 2])
def test_few_seeds(seeds: int) -> None:
    """One seed gives figures without intervals, two give wide ones."""
    found = only(*lawful_sweep(scattered(ON)[:seeds], scattered(OFF)[:seeds]))
    assert found.break_even is not None
    assert (found.break_even.low is None) == (seeds == 1)
    assert all((one.factor.low is None) == (seeds == 1) for one in found.predictions)


@pytest.mark.parametrize("mode", ["on", "off"])
def test_arms_of_one_mode_have_laws_and_no_break_even(mode: str) -> None:
    """Two builds: both lines, and nothing said of what caching brings."""
    modes = (mode, mode)
    found = only(*lawful_sweep(scattered(ON), scattered(OFF), modes=modes))
    assert found.a is not None
    assert found.b is not None
    assert found.break_even is None
    assert found.predictions == ()
    assert f"both sides have the cache {mode}" in str(found.break_even_reason)


def test_captures_the_other_way_round() -> None:
    """With the cached arm as reference nothing is foretold, and the remedy is said."""
    a, b = lawful_sweep(scattered(ON), scattered(OFF))
    assert "give the capture with it first" in str(only(b, a).break_even_reason)


def test_what_can_t_be_compared_has_laws_and_nothing_between_them() -> None:
    """On other hardware each line is still true of its own arm."""
    a, _ = lawful_sweep(scattered(ON), scattered(OFF))
    _, b = lawful_sweep(scattered(ON), scattered(OFF), identity={"device": "cuda"})
    found = only(a, b)
    assert found.a is not None
    assert found.b is not None
    assert found.break_even is None
    assert found.predictions == ()
    assert found.break_even_reason == "the captures can't be compared"


def test_both_laws_are_of_the_same_seeds() -> None:
    """A seed that one side lacks leaves the other's law."""
    a, b = lawful_sweep(scattered(ON), scattered(OFF))
    found = only(a, replace(b, runs=b.runs[3:]))
    assert found.a is not None
    assert found.b is not None
    assert set(found.a.lines) == set(found.b.lines) == {1, 2}


def test_one_side_without_a_law() -> None:
    """The other keeps its own, with the reason of the one that has none."""
    a = make_capture(lawful_arm(scattered(ON), mode="on", told=False))
    b = make_capture(lawful_arm(scattered(OFF), mode="off"))
    found = only(a, b)
    assert found.a is None
    assert found.b is not None
    assert str(found.reason).startswith("A: the server doesn't report cached tokens")
    assert only(make_capture(()), make_capture(())).reason == "no pair of runs counts"


def test_no_hits_foretell_nothing() -> None:
    """A cache that found nothing doesn't say what a hit costs."""
    found = only(*lawful_sweep(scattered(ON), scattered(OFF), misses=12))
    assert found.break_even_reason == "no request of A found anything cached"


def test_lengths_end_where_the_model_does() -> None:
    """Nothing is foretold for prompts that the model can't take."""
    found = only(*lawful_sweep(scattered(ON), scattered(OFF), identity={"context_length": 8192}))
    assert max(one.shared_tokens for one in found.predictions) == 4096


def test_every_other_axis_has_laws_of_its_own() -> None:
    """Concurrencies aren't pooled: each is a load of its own."""

    def arm(cost: Cost, mode: str) -> Capture:
        runs: list[Run] = []
        for seed in range(3):
            for level in (1, 8):
                for shared in (0, 1024):
                    slower = replace(cost, computed=cost.computed * level)
                    cell: dict[str, int | str] = {"shared_tokens": shared, "max_concurrency": level}
                    runs.append(
                        lawful_run(slower, mode=mode, shared=shared, seed=seed, order=len(runs), cell=cell)
                    )
        return make_capture(runs)

    found = compare(arm(ON, "on"), arm(OFF, "off")).laws
    assert [one.setting for one in found] == [{"max_concurrency": 1}, {"max_concurrency": 8}]
    assert [round(one.b.slope.value * 1e6) for one in found if one.b] == [200, 1600]


def test_the_document_tells_laws_without_their_requests() -> None:
    """Plain values that JSON takes, figures with their intervals."""
    (told,) = to_document(compare(*lawful_sweep(scattered(ON), scattered(OFF))))["laws"]
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert set(told) == {
        "setting",
        "a",
        "b",
        "reason",
        "break_even",
        "break_even_reason",
        "predictions",
    }
    assert set(told["b"]["slope"]) == {"value", "low", "high", "level"}
    assert told["b"]["cached_slope"] is None
    assert "lines" not in told["a"]


def test_one_capture_by_itself() -> None:
    """Its law, no break-even, and the caveat where it bends."""
    bent = Cost(0.004, 1e-4, squared=4e-8)
    capture = make_capture(lawful_arm(scattered(bent), mode="off", lengths=(0, 1024, 2048, 4096)))
    summaries = [summarise(run) for run in capture.runs]
    (found,) = capture_laws(capture, summaries)
    assert found.a is not None
    assert (found.b, found.break_even, found.predictions) == (None, None, ())
    assert [one.code for one in bend_findings([found])] == ["law-bends"]
    assert "law-bends" in {caveat.code for caveat in single_caveats(capture)}


def test_laws_of_added_seeds_are_drawn_wider() -> None:
    """Where either capture's seeds were added until intervals were narrow: the law, what it foretells and the break-even."""
    on, off = lawful_sweep(scattered(ON), scattered(OFF))
    settled, stopped = only(on, off), only(on, replace(off, until=0.05))
    wider = critical(STOPPED_LEVEL, 2) / critical(0.95, 2)
    assert settled.a is not None
    assert stopped.a is not None
    assert _width(stopped.a.slope) == pytest.approx(wider * _width(settled.a.slope))
    for before, after in zip(settled.predictions, stopped.predictions, strict=True):
        logs = [math.log(one.factor.high / one.factor.low) for one in (before, after)]
        assert logs[1] == pytest.approx(wider * logs[0])
        assert after.factor.level == 0.95
    assert settled.break_even is not None
    assert stopped.break_even is not None
    assert stopped.break_even.low < settled.break_even.low
    alone = [
        capture_laws(one, [summarise(run) for run in one.runs])[0].a for one in (on, replace(on, until=0.05))
    ]
    assert _width(alone[1].slope) == pytest.approx(wider * _width(alone[0].slope))


def _width(estimate: Estimate) -> float:
    return estimate.high - estimate.low
