"""``radixbench compare`` in a CI run: exit codes, what is allowed by hand, targets, and one document on stdout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from radixbench.capture.model import Capture
from radixbench.capture.store import save
from tests.builders import failed_request, make_capture, make_sweep
from tests.cli.conftest import Command
from tests.compare.test_eligible import altered, with_identity
from tests.report.test_hostile import controls, spoiled

Saved = Callable[[Capture, Capture], tuple[str, str]]
NOISE = (1.0, 1.03, 0.98)


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    """Writes two captures, and says where."""

    def write(a: Capture, b: Capture) -> tuple[str, str]:
        paths = tmp_path / "a.json", tmp_path / "b.json"
        for capture, path in zip((a, b), paths, strict=True):
            save(capture, path)
        return str(paths[0]), str(paths[1])

    return write


def all_failed() -> tuple[Capture, Capture]:
    """A candidate of which no request was answered."""
    on, off = make_sweep()
    return (
        altered(on, lambda run: replace(run, requests=tuple(failed_request(i) for i in range(8)))),
        off,
    )


def other_weights() -> tuple[Capture, Capture]:
    """Two captures of other models."""
    on, off = make_sweep(on=2.0, off=1.0)
    return on, with_identity(off, weights_sha256="x" * 64)


def only_alone() -> tuple[Capture, Capture]:
    """Six rows that are worse each by itself, and none when judged together."""
    return make_sweep(on=lambda s: 1.1 * NOISE[s], off=1.0, shared=(0, 16, 32))


def other_cells() -> tuple[Capture, Capture]:
    """Two sweeps without a cell in common."""
    return make_sweep(shared=(32,))[0], make_sweep(shared=(64,))[0]


def lacking_a_cell() -> tuple[Capture, Capture]:
    """B stopped before its second cell."""
    on, off = make_sweep(shared=(0, 64))
    return on, replace(off, runs=tuple(r for r in off.runs if r.cell["shared_tokens"] == 0))


@pytest.mark.parametrize(
    ("arms", "fail_on", "code", "said"),
    [
        (lambda: make_sweep(on=2.0, off=1.0), "worse", 1, "failed on ttft_p50"),
        (lambda: make_sweep(on=2.0, off=1.0), "undecided,incomparable", 0, "passed on ttft_p50"),
        (make_sweep, "worse", 0, "passed on ttft_p50"),
        (lambda: make_sweep(seeds=1), "worse", 0, "2 of 2 gated rows undecided"),
        (lambda: make_sweep(seeds=1), "worse,undecided", 1, "failed on ttft_p50"),
        (lambda: make_sweep(seeds=2), "undecided", 1, "failed on ttft_p50"),
        (all_failed, "worse", 0, "2 of 2 gated rows undecided"),
        (all_failed, "undecided", 1, "failed on ttft_p50"),
        (other_weights, "worse", 0, "2 of 2 gated rows incomparable"),
        (other_weights, "incomparable", 1, "failed on ttft_p50"),
        (other_cells, "incomparable", 1, "failed on ttft_p50"),
        (only_alone, "worse", 0, "doesn't hold when all gated rows are judged together"),
        (lacking_a_cell, "worse", 0, "2 of 4 gated rows undecided"),
        (lacking_a_cell, "undecided", 1, "failed on ttft_p50"),
        (lambda: (make_capture([]), make_capture([])), "incomparable", 1, "failed on ttft_p50"),
        (lambda: (make_capture([]), make_capture([])), "worse", 0, "2 of 2 gated rows incomparable"),
    ],
)
def test_exit_codes_of_a_gate(
    command: Command, saved: Saved, arms: Callable[[], Any], fail_on: str, code: int, said: str
) -> None:
    """1 exactly where a gated row has one of the verdicts, and a line that says how it ended; the document agrees."""
    outcome = command("compare", *saved(*arms()), "--fail-on", fail_on, "--json")
    assert outcome.code == code
    assert said in outcome.err
    gate = outcome.document["gate"]
    assert gate["failed"] == (code == 1)
    assert f"gate: {gate['conclusion']}" in outcome.err


def test_without_a_gate_every_verdict_is_0(command: Command, saved: Saved) -> None:
    """A comparison that was made ends well, whatever it says."""
    for arms in (other_weights(), all_failed(), make_sweep(on=2.0, off=1.0)):
        outcome = command("compare", *saved(*arms), "--json")
        assert outcome.code == 0
        assert outcome.document["gate"]["failed"] is None


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--fail-on", "worst"), "--fail-on: no verdict is called worst"),
        (("--fail-on", ","), "--fail-on: is empty"),
        (
            ("--allow", "weight_sha"),
            "--allow weight_sha: no difference is called that; did you mean 'weights_sha256'?",
        ),
        (("--goodput", "ttft"), "--goodput: NAME:MILLISECONDS is expected, not 'ttft'"),
        (("--goodput", "ttft:0"), "--goodput: ttft: "),
    ],
)
def test_flags_that_say_nothing_are_refused(
    command: Command, saved: Saved, flags: tuple[str, ...], said: str
) -> None:
    """2, one line, and nothing on stdout."""
    outcome = command("compare", *saved(*other_weights()), *flags)
    assert (outcome.code, outcome.out) == (2, "")
    (line,) = outcome.err.splitlines()
    assert said in line


def test_what_is_allowed_by_hand_is_told_everywhere(command: Command, saved: Saved, tmp_path: Path) -> None:
    """A verdict in place of a refusal: terminal, Markdown and document each name the field first."""
    pair = saved(*other_weights())
    table = tmp_path / "table.md"
    flags = ("--allow", "weights_sha256,dtype", "--fail-on", "worse")
    told = command("compare", *pair, *flags, "--markdown", str(table))
    assert told.code == 1
    words = "Allowed by hand (--allow), though by itself it forbids a verdict: weights_sha256"
    assert words in told.out
    assert "serious allowed-by-hand: " in told.out
    assert "--allow dtype changed nothing" in told.out or "allow-needless" in told.out
    markdown = table.read_text(encoding="utf-8")
    assert markdown.startswith("**▼ Worse, differences allowed by hand.** ")
    assert "serious: allowed-by-hand" in markdown
    document = command("compare", *pair, "--allow", "weights_sha256", "--allow", "dtype", "--json").document
    assert document["allowed"] == ["weights_sha256"]
    assert document["eligible"] is True


def _targets() -> Iterator[tuple[str, ...]]:
    yield ("--goodput", "ttft:500", "tpot:5000")
    yield ("--goodput", "ttft:500,tpot:5000")
    yield ("--goodput=ttft:500 tpot:5000",)


@pytest.mark.parametrize("flags", list(_targets()))
def test_goodput_is_judged_by_targets_given_afterwards(
    command: Command, saved: Saved, flags: tuple[str, ...]
) -> None:
    """Captures without targets get a row as soon as somebody asks: all of A's answers are good, none of B's."""
    on, off = make_sweep()
    pair = saved(on, off)
    without = {row["metric"] for row in command("compare", *pair, "--json").document["rows"]}
    assert "goodput" not in without
    rows = {row["metric"]: row for row in command("compare", *pair, *flags, "--json").document["rows"]}
    assert rows["goodput"]["a"]["value"] > 0
    assert rows["goodput_share"]["a"]["value"] == 1.0
    assert rows["goodput_share"]["b"]["value"] == 0.0


def test_a_summary_is_appended_as_it_is(command: Command, saved: Saved) -> None:
    """`--markdown -` writes GitHub's Markdown and nothing else to stdout, also when the gate fails."""
    outcome = command(
        "compare", *saved(*make_sweep(on=2.0, off=1.0)), "--markdown", "-", "--fail-on", "worse"
    )
    assert outcome.code == 1
    assert outcome.out.startswith("**▼ Worse.** ")
    assert outcome.out.rstrip().endswith("</details>")
    assert "gate: failed on ttft_p50, output_throughput" in outcome.err


def test_hostile_names_act_on_nothing(command: Command, saved: Saved, tmp_path: Path) -> None:
    """Through files and back: stdout and stderr hold no control character, and the document is one."""
    pair = saved(*(spoiled(arm) for arm in make_sweep(on=2.0, off=1.0)))
    flags = ("--fail-on", "worse,undecided", "--markdown", str(tmp_path / "table.md"))
    told = command("compare", *pair, *flags)
    assert told.code == 1
    for text in (told.out, told.err, (tmp_path / "table.md").read_text(encoding="utf-8")):
        assert controls(text.replace("\u200b", "")) == set()
    assert command("compare", *pair, "--json").document["schema"] == "radixbench.compare/1"


def test_a_hostile_file_name_is_told_as_text(command: Command) -> None:
    """What is typed, or globbed, reaches the terminal as text too."""
    outcome = command("compare", "no\x1b[31m\u202esuch\n.json", "b.json")
    assert outcome.code == 2
    assert len(outcome.err.splitlines()) == 1
    assert controls(outcome.err) == set()
