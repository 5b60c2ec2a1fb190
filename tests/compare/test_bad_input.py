"""Captures as they come: too few, uneven, constant, empty, of an earlier writer. None is judged beyond its evidence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from radixbench.capture.model import Capture
from radixbench.capture.store import load
from radixbench.compare.change import Comparison
from radixbench.compare.comparison import compare
from radixbench.compare.document import to_document
from tests.builders import arm_run, failed_request, make_capture, make_sweep
from tests.compare.test_comparison import noisy, row

GOLDEN = Path(__file__).parents[1] / "golden"


def judged(comparison: Comparison) -> set[str | None]:
    """The verdicts of all rows, after the document was seen to be strict JSON that says why a figure is missing."""
    document = to_document(comparison)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    for one in document["rows"]:
        if one["verdict"] in {"undecided", "incomparable"}:
            assert one["reason"]
        if one["factor"] is None and one["verdict"] is not None:
            assert one["verdict"] in {"undecided", "incomparable"}
    return {one["verdict"] for one in document["rows"]}


@pytest.mark.parametrize("seeds", [1, 2])
def test_one_and_two_seeds(seeds: int) -> None:
    """No verdict however large the factor, and how many seeds are missing."""
    comparison = compare(*make_sweep(seeds=seeds))
    assert judged(comparison) == {"undecided", None}
    assert row(comparison).reason == f"{seeds} of at least 3 pairs"
    (caveat,) = [one for one in comparison.caveats if one.code == "too-few-runs"]
    assert "--seeds 3" in caveat.remedy


def test_unequal_seeds_count_the_common_ones_only() -> None:
    """Seeds 0 to 4 against 2 to 6: three pairs, listed and told."""
    on, off = make_sweep(seeds=7, on=noisy(0.1), off=noisy(1.0))
    comparison = compare(
        replace(on, runs=on.runs[:5], planned_runs=5), replace(off, runs=off.runs[2:], planned_runs=5)
    )
    found = row(comparison)
    assert [seed for seed, _, _ in found.pairs] == [2, 3, 4]
    assert (found.a.n_runs, found.b.n_runs, found.verdict) == (3, 3, "better")
    (listed,) = [one for one in comparison.differences if one.field == "cells and seeds"]
    assert "seeds [0, 1, 2, 3, 4]" in listed.a
    assert "seeds [2, 3, 4, 5, 6]" in listed.b
    (caveat,) = [one for one in comparison.caveats if one.code == "settings-differ"]
    assert "cells and seeds" in caveat.text
    (told,) = [one for one in comparison.caveats if one.code == "seeds-unpaired"]
    assert told.text == "64 shared tokens: A's seeds 0, 1 and B's seeds 5, 6 have no partner and don't count"
    assert "seeds-unpaired" not in {one.code for one in compare(on, off).caveats}


def test_two_common_seeds_of_many_are_too_few() -> None:
    """What isn't paired doesn't count, however much there is of it."""
    on, off = make_sweep(seeds=8)
    comparison = compare(replace(on, runs=on.runs[:5]), replace(off, runs=off.runs[3:]))
    assert row(comparison).reason == "2 of at least 3 pairs"


def test_constant_samples_on_both_sides() -> None:
    """Every value the same in both arms: within noise, and just the threshold would have been seen."""
    comparison = compare(*make_sweep(on=0.5, off=0.5))
    assert judged(comparison) == {"within-noise", None}
    found = row(comparison)
    assert found.power is not None
    assert found.power.spread == 0.0
    assert found.detectable == 0.03


def test_zero_variance_with_an_effect_is_sure() -> None:
    """The same factor in every pair: an interval of no width, a verdict from the threshold on."""
    found = row(compare(*make_sweep(on=1.0, off=1.1)))
    assert found.verdict == "better"
    assert found.factor is not None
    assert found.factor.high - found.factor.low == pytest.approx(0.0, abs=1e-9)
    assert row(compare(*make_sweep(on=1.0, off=1.02))).verdict == "within-noise"


@pytest.mark.parametrize("both", [False, True])
def test_all_failed(both: bool) -> None:
    """0 answers on one side or both: undecided, no factor, no 0."""
    arms = [
        replace(
            arm,
            runs=tuple(replace(run, requests=tuple(failed_request(i) for i in range(8))) for run in arm.runs),
        )
        if index == 0 or both
        else arm
        for index, arm in enumerate(make_sweep())
    ]
    comparison = compare(*arms)
    assert judged(comparison) == {"undecided", None}
    assert all(change.factor is None for change in comparison.changes)
    assert all(change.power is None for change in comparison.changes)


def test_an_arm_that_lacks_a_cell_is_judged_in_the_others() -> None:
    """The missing cell is undecided and named; the other keeps its verdict, and so does the gate."""
    on, off = make_sweep(shared=(0, 64), on=noisy(0.1), off=noisy(1.0))
    comparison = compare(on, replace(off, runs=tuple(r for r in off.runs if r.cell["shared_tokens"] == 64)))
    assert row(comparison, shared=0).reason == "B has no run of this cell"
    assert row(comparison, shared=64).verdict == "better"
    gate = to_document(comparison)["gate"]
    assert gate["verdict"] == "better"
    assert {one["verdict"] for one in gate["rows"] if one["cell"] == {"shared_tokens": 0}} == {"undecided"}


def test_no_run_on_one_side_or_on_both() -> None:
    """An interrupted sweep's empty arm refuses everything by one difference."""
    on, _ = make_sweep()
    for pair in ((on, make_capture([])), (make_capture([]), on), (make_capture([]), make_capture([]))):
        comparison = compare(*pair)
        assert judged(comparison) == {"incomparable", None}
        assert [one.field for one in comparison.differences] == ["number of measured runs"]


def today(capture: Capture) -> Capture:
    """Runs as today's sweep writes them, under the scenario of another capture."""
    runs = tuple(arm_run(seed=seed, mode="on", order=2 * seed, ttft_s=0.1, shared=64) for seed in range(3))
    return replace(capture, runs=runs, planned_runs=3)


@pytest.mark.parametrize("name", ["capture-1.json", "capture-1-additions.json"])
def test_captures_of_earlier_writers(name: str) -> None:
    """Kept files against themselves, against each other and against today's runs: read, compared, never judged wrong."""
    old = load(GOLDEN / name)
    same = compare(old, old)
    assert same.eligible
    assert judged(same) <= {"undecided", "within-noise", None}
    for other in (today(old), load(GOLDEN / "capture-1.json"), load(GOLDEN / "capture-1-additions.json")):
        for pair in ((old, other), (other, old)):
            assert judged(compare(*pair)) <= {"undecided", "incomparable", "within-noise", None}


def test_clocks_that_nobody_knows_bind_no_factor() -> None:
    """Without telemetry there is a verdict, no bound, and a note that clocks are unknown."""
    comparison = compare(*make_sweep(on=noisy(0.1), off=noisy(1.0)))
    assert row(comparison).verdict == "better"
    assert row(comparison).bound is None
    assert "clock-unknown" in {one.code for one in comparison.caveats}


def test_unknown_identity_is_named_and_not_called_the_same() -> None:
    """A server that states no hashes: compared by name, and the note says what nobody could compare."""

    def silent(capture: Capture, *facts: str) -> Capture:
        def forget(run):
            known = {key: value for key, value in run.server.identity.items() if key not in facts}
            return replace(run, server=replace(run.server, identity=known))

        return replace(capture, runs=tuple(forget(run) for run in capture.runs))

    on, off = make_sweep()
    hashes = ("weights_sha256", "tokenizer_sha256")
    both = compare(silent(on, *hashes), silent(off, *hashes))
    (told,) = [one for one in both.caveats if one.code == "identity-unknown"]
    assert (told.severity, told.text) == (
        "info",
        "unknown and therefore not compared: A and B: weights, tokenizer",
    )
    assert both.eligible
    one = compare(on, silent(off, *hashes, "dtype"))
    (told,) = [one for one in one.caveats if one.code == "identity-unknown"]
    assert told.text.endswith("compared: B: weights, tokenizer, precision")
    assert {d.field: (d.a is None, d.b is None) for d in one.differences if d.field in hashes} == {
        "weights_sha256": (False, True),
        "tokenizer_sha256": (False, True),
    }
    assert "identity-unknown" not in {c.code for c in compare(on, off).caveats}


def test_one_seed_without_a_partner_is_one() -> None:
    """Singular and plural, on one side and on both."""

    def told(a: int, b: int) -> str:
        on, off = make_sweep(seeds=5)
        pair = (
            replace(on, runs=on.runs[:a], planned_runs=a),
            replace(off, runs=off.runs[b:], planned_runs=5 - b),
        )
        (found,) = [one for one in compare(*pair).caveats if one.code == "seeds-unpaired"]
        return found.text

    assert told(5, 1) == "64 shared tokens: A's seed 0 has no partner and doesn't count"
    assert told(4, 1) == "64 shared tokens: A's seed 0 and B's seed 4 have no partner and don't count"
    assert told(5, 2) == "64 shared tokens: A's seeds 0, 1 have no partner and don't count"
