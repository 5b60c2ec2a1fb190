"""``--goodput`` takes its targets as separate words, wherever it stands."""

from __future__ import annotations

import pytest

from radixbench.cli.goodput import join_targets
from tests.cli.conftest import Command


@pytest.mark.parametrize(
    ("given", "joined"),
    [
        (["run", "a.yaml", "--goodput", "ttft:500", "tpot:50"], ["run", "a.yaml", "--goodput", "ttft:500 tpot:50"]),
        (["sweep", "--goodput", "ttft:500", "e2el:9", "laptop"], ["sweep", "--goodput", "ttft:500 e2el:9", "laptop"]),
        (["sweep", "--goodput=ttft:500", "tpot:.5", "--seeds", "3"], ["sweep", "--goodput=ttft:500 tpot:.5", "--seeds", "3"]),
        (["report", "--goodput", "ttft:500,tpot:50", "c.json"], ["report", "--goodput", "ttft:500,tpot:50", "c.json"]),
        (["report", "c:1", "--", "--goodput", "a:1", "b:2"], ["report", "c:1", "--", "--goodput", "a:1", "b:2"]),
        (["report", "--goodput"], ["report", "--goodput"]),
        (["sweep", "--goodput", "ttft:500", "--goodput", "tpot:50", "x"], ["sweep", "--goodput", "ttft:500 tpot:50", "x"]),
        (["sweep", "--goodput=ttft:500", "x", "--goodput=tpot:5", "itl:9"], ["sweep", "--goodput=ttft:500 tpot:5 itl:9", "x"]),
        (["sweep", "--goodput", "ttft:500", "--goodput"], ["sweep", "--goodput", "ttft:500", "--goodput"]),
        (["compare", "a.json", "b:1"], ["compare", "a.json", "b:1"]),
    ],
)  # fmt: skip
def test_targets_are_put_together(given: list[str], joined: list[str]) -> None:
    """Words of the form NAME:NUMBER behind the flag are its own; everything else stays where it is."""
    assert join_targets(given) == joined


def test_a_sweep_takes_them(command: Command) -> None:
    """As a script for vLLM's tool writes them; a misspelt one is named."""
    planned = command("sweep", "--goodput", "ttft:500", "tpot:50", "--dry-run")
    assert planned.code == 0, planned.err
    refused = command("sweep", "--goodput", "ttft:500", "tppt:50", "--dry-run")
    assert (refused.code, refused.out) == (2, "")
    assert "--goodput: there is no target 'tppt'; did you mean tpot?" in refused.err


def test_a_flag_given_twice_asks_for_both(command: Command) -> None:
    """No target is dropped without a word; one that is given twice is refused."""
    twice = command("sweep", "--goodput", "ttft:500", "--goodput", "ttft:600", "--dry-run")
    assert (twice.code, twice.out) == (2, "")
    assert "--goodput: ttft stands there twice" in twice.err
    both = command("sweep", "--goodput", "ttft:500", "--goodput", "tppt:50", "--dry-run")
    assert (both.code, both.out) == (2, "")
    assert "--goodput: there is no target 'tppt'" in both.err
