"""``radixbench compare``: flags that decide verdicts and caveats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from radixbench.capture.store import save
from tests.builders import CARD, gpu_samples, make_sweep
from tests.cli.conftest import Command

Pair = tuple[str, str]


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Pair]:
    """Writes a sweep whose arms differ by just so much, and says where."""

    def write(**facts: Any) -> Pair:
        paths = tmp_path / "a.json", tmp_path / "b.json"
        for capture, path in zip(make_sweep(**facts), paths, strict=True):
            save(capture, path)
        return str(paths[0]), str(paths[1])

    return write


def verdict(document: dict[str, Any], metric: str = "ttft_p50") -> str:
    """The verdict of one metric."""
    (row,) = [row for row in document["rows"] if row["metric"] == metric]
    found: str = row["verdict"]
    return found


def test_threshold_decides_what_is_too_small(command: Command, saved: Callable[..., Pair]) -> None:
    """1 % in every seed is within the noise of the default 3 % and better at 0.5 %; the document says which."""
    pair = saved(on=0.99, off=1.0)
    usual = command("compare", *pair, "--json").document
    keen = command("compare", *pair, "--json", "--threshold", "0.005").document
    assert (usual["threshold"], verdict(usual)) == (0.03, "within-noise")
    assert (keen["threshold"], verdict(keen)) == (0.005, "better")


def test_threshold_moves_the_gate(command: Command, saved: Callable[..., Pair]) -> None:
    """A regression of 5 % fails a CI run, unless its threshold allows for it."""
    pair = saved(on=1.05, off=1.0)
    gate = ("--fail-on", "worse", "--gate", "ttft_p50", "--json")
    failed, passed = command("compare", *pair, *gate), command("compare", *pair, *gate, "--threshold", "0.1")
    assert failed.code == 1
    assert "gate: failed on ttft_p50" in failed.err
    assert passed.code == 0
    assert "gate: passed on ttft_p50" in passed.err


def test_clock_floor_is_the_users_where_given(command: Command, saved: Callable[..., Pair]) -> None:
    """900 MHz lie below half of the card's maximum, and above a floor of 800 that somebody asks for."""
    low = {"gpu": gpu_samples(clock=900), "devices": (CARD,), "identity": {"device": "cuda"}}
    pair = saved(on_options=low, off_options=low)
    caveats = {
        floor: {one["code"] for one in command("compare", *pair, "--json", *floor).document["caveats"]}
        for floor in ((), ("--clock-floor", "800"), ("--clock-floor", "950"))
    }
    assert {floor: "clock-floor" in codes for floor, codes in caveats.items()} == {
        (): True,
        ("--clock-floor", "800"): False,
        ("--clock-floor", "950"): True,
    }


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--gate", "ttft"), "no metric is called 'ttft'"),
        (("--gate", "hit_rate"), "hit_rate is no quality"),
        (("--threshold", "-0.01"), "'--threshold'"),
        (("--threshold", "nan"), "'--threshold'"),
        (("--threshold", "1"), "'--threshold'"),
        (("--clock-floor", "-1"), "'--clock-floor'"),
        (("--clock-floor", "low"), "'--clock-floor'"),
    ],
)
def test_a_value_that_decides_nothing_is_refused(
    command: Command, saved: Callable[..., Pair], flags: tuple[str, ...], said: str
) -> None:
    """Exit code 2 and one line, without a result: not a gate that passes because of a typing error."""
    outcome = command("compare", *saved(), *flags)
    assert (outcome.code, outcome.out) == (2, "")
    (line,) = outcome.err.splitlines()
    assert said in line
