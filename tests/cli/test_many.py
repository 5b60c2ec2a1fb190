"""``radixbench compare`` and ``report`` with more than two captures."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from radixbench.capture.model import Capture
from radixbench.capture.store import save
from tests.cli.conftest import Command
from tests.compare.several import PATHS, capture, four

Saved = Callable[[Sequence[Capture]], list[str]]


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    """Writes captures, and says where."""

    def write(captures: Sequence[Capture]) -> list[str]:
        for one, name in zip(captures, PATHS, strict=False):
            save(one, tmp_path / name)
        return [str(tmp_path / name) for name in PATHS[: len(captures)]]

    return write


@pytest.mark.parametrize(
    ("fail_on", "code", "said"),
    [
        (
            "worse",
            1,
            [
                "gate: C: ttft_p50 at 64 shared tokens is worse",
                "gate: failed for C on ttft_p50, output_throughput",
            ],
        ),
        ("undecided", 0, ["not all of B could be judged"]),
        (
            "worse,incomparable",
            1,
            ["gate: B: ttft_p50 at 64 shared tokens is incomparable", "failed for B, C on"],
        ),
    ],
)
def test_the_gate_of_several_candidates(
    command: Command, saved: Saved, fail_on: str, code: int, said: list[str]
) -> None:
    """1 where a gated row of any candidate fails; each line names its own, and the document agrees."""
    outcome = command("compare", *saved(four()), "--fail-on", fail_on, "--json")
    assert outcome.code == code
    for words in said:
        assert words in outcome.err
    document = outcome.document
    assert document["schema"] == "radixbench.compare-many/1"
    assert document["gate"]["failed"] == (code == 1)
    assert f"gate: {document['gate']['conclusion']}" in outcome.err
    assert [one["candidate"] for one in document["comparisons"]] == ["A", "B", "C"]


def test_two_captures_are_as_ever(command: Command, saved: Saved) -> None:
    """One document of one comparison, and the two-sided report."""
    pair = saved(four()[:2])
    assert command("compare", *pair, "--json").document["schema"] == "radixbench.compare/1"
    assert "side by side" not in command("compare", *pair).out


def test_everything_that_is_wanted_is_written(command: Command, saved: Saved, tmp_path: Path) -> None:
    """Page and Markdown of compare; page, Markdown, figures and tables of report."""
    paths = saved(four())
    page, table = tmp_path / "a.html", tmp_path / "a.md"
    told = command("compare", *paths, "--report", str(page), "--markdown", str(table))
    assert told.code == 0
    assert told.out.startswith(
        "Against D (main, reference): A (fast): better; B (other): can't be compared; "
    )
    assert "4 captures side by side" in page.read_text(encoding="utf-8")
    assert "| cell | metric | A (fast) |" in table.read_text(encoding="utf-8")
    assert command("compare", *paths, "--markdown", "-").out == table.read_text(encoding="utf-8")
    out = {name: tmp_path / name for name in ("b.html", "png", "svg", "csv", "flat.json")}
    flags = ["-o", "b.html", "--png", "png", "--svg", "svg", "--csv", "csv", "--flat", "flat.json"]
    done = command("report", *paths, *(str(out.get(flag, flag)) for flag in flags))
    assert (done.code, done.out) == (0, "")
    assert out["b.html"].read_text(encoding="utf-8") == page.read_text(encoding="utf-8")
    figures = {path.stem for path in out["png"].iterdir()}
    assert figures == {path.stem for path in out["svg"].iterdir()}
    assert {"a-forest-ttft-p50", "ttft-0", "throughput-0"} <= figures
    with (out["csv"] / "factors.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["candidate"] for row in rows} == set(paths[:3])
    flat = json.loads(out["flat.json"].read_text(encoding="utf-8"))
    assert {run["capture"] for run in flat["runs"]} == set(paths)


def test_report_without_outputs_prints_the_table(command: Command, saved: Saved) -> None:
    """As for one capture, and for two."""
    outcome = command("report", *saved(four()))
    assert outcome.code == 0
    assert "64 shared tokens | TTFT, median | A (fast) 500 ms" in outcome.out


@pytest.mark.parametrize("name", ["compare", "report"])
def test_too_many_or_one_twice_are_refused_unread(command: Command, tmp_path: Path, name: str) -> None:
    """One line, before any file is opened: none of these exists."""
    many = command(name, *(str(tmp_path / f"{place}.json") for place in range(9)))
    assert (many.code, many.out) == (2, "")
    assert many.err == (
        "radixbench: 9 captures given, and at most 8 can be told apart side by side;"
        " compare them in groups, each with the reference last\n"
    )
    twice = command(name, "x.json", "y.json", "./x.json")
    assert (twice.code, twice.out) == (2, "")
    assert twice.err == "radixbench: x.json: is named twice, as A and as C; name each capture once\n"


def test_one_capture_compares_nothing(command: Command) -> None:
    """A usage error that says what is missing."""
    outcome = command("compare", "a.json")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "radixbench: a.json: is one capture; give the candidate, then the reference\n"


def test_allowance_and_threshold_hold_for_all(command: Command, saved: Saved) -> None:
    """What B needs is allowed for B, on the record; the threshold is told."""
    paths = saved([capture(0.95), *four()[1:]])
    flags = ("--allow", "weights_sha256", "--threshold", "0.1", "--json")
    document = command("compare", *paths, *flags).document
    assert [one["allowed"] for one in document["comparisons"]] == [[], ["weights_sha256"], []]
    assert document["threshold"] == 0.1
    verdicts = {
        row["candidate"]: row["verdict"] for row in document["gate"]["rows"] if row["metric"] == "ttft_p50"
    }
    assert verdicts == {"A": "within-noise", "B": "better", "C": "worse"}
