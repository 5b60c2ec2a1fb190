"""What ``sweep`` and ``run`` take for their course: null tests, targets for intervals, silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from radixbench.stats.sequential import MIN_SEEDS, STOPPED_COVERAGE
from tests.cli.conftest import Command


@pytest.mark.parametrize("name", ["sweep", "run"])
@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("0.05", "--until: '0.05' is no percentage; write one with its sign: --until 5%"),
        ("5", "--until: '5' is no percentage; write one with its sign: --until 5%"),
        ("narrow", "--until: 'narrow' is no percentage; write one with its sign: --until 5%"),
        ("-5%", "--until: '-5%' is no percentage; write one with its sign: --until 5%"),
        ("0%", "--until: must be 0.1% to 100%, not 0%; write a share such as 5%"),
        ("200%", "--until: must be 0.1% to 100%, not 200%; write a share such as 5%"),
    ],
)
def test_targets_that_are_none(command: Command, name: str, typed: str, message: str) -> None:
    """One line with what to write; 5 and 0.05 could both mean 5 %, and neither is guessed at."""
    outcome = command(name, "default", "--until", typed)
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"radixbench: {message}\n")


def test_help_says_how_often_a_stopped_interval_holds(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The seeds and the coverage in the help are those of the stopping rule."""
    monkeypatch.setenv("COLUMNS", "300")
    for name in ("sweep", "run"):
        shown = " ".join(command(name, "--help").out.split())
        assert f"Add seeds ({MIN_SEEDS} to 50) until" in shown
        assert f"{STOPPED_COVERAGE:.0%} of cases".replace("%", " %") in shown


def test_a_plan_says_how_it_ends(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a target the plan is the least that runs, and names the most and the rule."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    flags = ("sweep", "--dry-run", "--device", "cpu", "--shared", "0")
    plain = command(*flags, "--json").document
    assert (plain["seeds"], plain["runs"], plain["until"], plain["most_seeds"]) == (3, 6, None, None)
    grown = command(*flags, "--until", "5%", "--json").document
    assert (grown["seeds"], grown["runs"], grown["until"], grown["most_seeds"]) == (5, 10, 0.05, 50)
    assert command(*flags, "--until", "5%", "--seeds", "60", "--json").document["most_seeds"] == 60
    shown = command(*flags, "--until", "2.5%").out
    assert "5 to 50 seeds, 10 runs or more" in shown
    assert "within ±2.5 % of their values" in shown
    assert "95 % of cases at least" in shown
    assert "time: at least about" in shown


def test_a_plan_of_a_null_test_names_both_arms(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both go without reuse, however the scenario file has it."""
    monkeypatch.setenv("COLUMNS", "200")
    outcome = command("sweep", "--dry-run", "--null", "--device", "cpu", "--shared", "0")
    assert outcome.code == 0, outcome.err
    assert "null test, off-a against off-b: both with a server without its cache" in outcome.out
    document = command("sweep", "--dry-run", "--null", "--device", "cpu", "--shared", "0", "--json").document
    assert document["arms"] == ["off-a", "off-b"]


def test_a_scenario_may_be_a_null_test(command: Command, tmp_path: Path) -> None:
    """One mode twice are two arms; three arms and one alone are refused in one line."""
    path = tmp_path / "null.yaml"
    path.write_text('name: x\nmodes: ["on", "on"]\n')
    document = command("sweep", str(path), "--dry-run", "--device", "cpu", "--json").document
    assert document["arms"] == ["on-a", "on-b"]
    path.write_text('name: x\nmodes: ["on", "off", "on"]\n')
    three = command("sweep", str(path), "--dry-run")
    assert (three.code, three.err.count("\n")) == (2, 1)
    assert "null.yaml:2: modes[2]: 3 arms are more than a sweep compares; name one, or two" in three.err
    path.write_text('name: x\nmodes: ["on"]\n')
    one = command("sweep", str(path), "--dry-run")
    assert (one.code, one.err.count("\n")) == (2, 1)
    assert "has the mode on alone, and a sweep compares two arms" in one.err
