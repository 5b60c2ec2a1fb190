"""Differences allowed by hand: a verdict all the same, on the record."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.compare.comparison import compare
from radixbench.compare.document import to_document
from radixbench.compare.eligible import FORBIDDING
from radixbench.errors import UsageError
from tests.builders import make_capture, make_sweep
from tests.compare.test_comparison import row
from tests.compare.test_eligible import altered, with_identity


def unlike() -> tuple:
    """Arms of other weights and another precision."""
    on, off = make_sweep()
    return on, with_identity(off, weights_sha256="x" * 64, dtype="bfloat16")


def test_an_allowed_difference_gives_a_verdict_and_says_so() -> None:
    """Every field that forbids is named, and the gravest caveat tells of it."""
    comparison = compare(*unlike(), allow=("weights_sha256", "dtype"))
    assert comparison.eligible
    assert comparison.allowed == ("weights_sha256", "dtype")
    assert row(comparison).verdict == "better"
    first = comparison.caveats[0]
    assert (first.code, first.severity) == ("allowed-by-hand", "serious")
    assert (
        "weights_sha256 (wwwwwwwwwwww against xxxxxxxxxxxx); dtype (float32 against bfloat16)" in first.text
    )
    assert "allowed-by-hand" in row(comparison).caveats
    document = to_document(comparison)
    assert document["allowed"] == ["weights_sha256", "dtype"]
    told = {one["field"]: (one["allowed"], one["overridden"]) for one in document["differences"]}
    assert told["dtype"] == (False, True)


def test_one_that_is_left_still_forbids() -> None:
    """Allowing the precision doesn't allow other weights."""
    comparison = compare(*unlike(), allow=("dtype",))
    assert not comparison.eligible
    assert row(comparison).verdict == "incomparable"
    assert "dtype" not in (row(comparison).reason or "")
    assert "weights_sha256" in (row(comparison).reason or "")


@pytest.mark.parametrize(
    "name", ["requested output length", "Requested-Output-Length", "requested_output_length"]
)
def test_names_may_be_typed_without_quotes(name: str) -> None:
    """Any case, and a hyphen or an underscore for a space."""
    on, off = make_sweep()
    other = altered(
        off,
        lambda run: replace(run, requests=tuple(replace(r, requested_tokens=2) for r in run.requests)),
    )
    assert compare(on, other, allow=(name,)).allowed == ("requested output length",)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("prompt", "no difference is called that; did you mean 'prompts'?"),
        ("dtypes", "did you mean 'dtype'?"),
        ("zzzz", "what forbids a verdict here: weights_sha256, dtype"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(name: str, said: str) -> None:
    """An allowance that allows nothing because of a typing error is told at once."""
    with pytest.raises(UsageError) as caught:
        compare(*unlike(), allow=(name,))
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"--allow {name}: ")


@pytest.mark.parametrize("name", [*FORBIDDING, "mode", "server.threads"])
def test_allowing_what_needs_no_allowance_is_told(name: str) -> None:
    """What doesn't differ, or forbids nothing anyway, changes nothing, and a note says so."""
    comparison = compare(*make_sweep(), allow=(name,))
    assert comparison.allowed == ()
    (told,) = [one for one in comparison.caveats if one.code == "allow-needless"]
    assert (told.severity, name in told.text) == ("info", True)
    assert "allowed-by-hand" not in {one.code for one in comparison.caveats}


def test_what_leaves_nothing_to_compare_cannot_be_allowed() -> None:
    """No runs, runs held twice, no cell in common: there no allowance helps."""
    on, off = make_sweep()
    for pair, name in (
        ((on, make_capture([])), "number of measured runs"),
        ((replace(on, runs=on.runs * 2), off), "number of repeated runs of a cell and seed"),
        ((make_sweep(shared=(32,))[0], off), "cells and seeds in common"),
    ):
        with pytest.raises(UsageError, match="there is nothing to compare; measure both sides alike"):
            compare(*pair, allow=(name,))
