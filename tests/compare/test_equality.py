"""Answers of two runs held against each other, token by token."""

from __future__ import annotations

from dataclasses import replace

from radixbench.compare.comparison import compare
from radixbench.compare.equality import Equality, equality
from tests.builders import make_sweep


def test_equal_unlike_and_untold_answers_are_told_apart() -> None:
    """One parts at token 2, one ends early, one server doesn't tell, one request failed; the rest are equal."""
    on, off = make_sweep()
    a, b = on.runs[0], off.runs[0]
    one, two, three, four, *rest = b.requests
    ids = one.output_ids
    assert ids is not None
    changed = (
        replace(one, output_ids=(*ids[:2], 9, *ids[3:])),
        replace(two, output_ids=ids[:3]),
        replace(three, output_ids=None),
        replace(four, status="failed"),
        *rest,
    )
    found = equality(a, replace(b, requests=changed))
    assert found == Equality(compared=6, unlike=2, first=2, untold=1)
    assert found.equal == 4


def test_runs_without_a_common_prompt_have_nothing_to_compare() -> None:
    """No answers: nothing equal, nothing unlike."""
    on, off = make_sweep()
    assert equality(on.runs[0], replace(off.runs[0], requests=())) == Equality(0, 0, None, 0)


def test_sampled_answers_are_no_mismatch() -> None:
    """At a temperature above 0 answers part by chance: nothing is said of those that do."""
    on, off = make_sweep()
    first, *rest = on.runs
    parted = replace(
        first, requests=(replace(first.requests[0], output_ids=(7, 7, 7, 7)), *first.requests[1:])
    )
    pair = [replace(on, runs=(parted, *rest)), off]
    assert "output-mismatch" in {one.code for one in compare(*pair).caveats}
    warm = [
        replace(one, scenario=replace(one.scenario, workload=replace(one.scenario.workload, temperature=0.7)))
        for one in pair
    ]
    assert "output-mismatch" not in {one.code for one in compare(*warm).caveats}
