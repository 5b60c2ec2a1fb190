"""The options of ``sweep`` and ``run``: the same ones, each refused in one line that names it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from radixbench.bench.target import BundledServer
from radixbench.capture.store import save
from radixbench.cli.overrides import OVERRIDES
from radixbench.scenario.kinds import FILE_KINDS
from radixbench.scenario.load import load, shipped_names
from tests.builders import make_sweep
from tests.cli.conftest import Command

NAMES = ["--" + override.name.replace("_", "-") for override in OVERRIDES]


@pytest.mark.parametrize("name", ["sweep", "run"])
def test_the_help_page_has_every_option(command: Command, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Both commands list all overrides and what steers their course, in panels."""
    monkeypatch.setenv("COLUMNS", "110")
    outcome = command(name, "--help")
    assert outcome.code == 0
    shown = set(re.findall(r"^│ (--[a-z-]+)", outcome.out, re.MULTILINE))
    assert {*NAMES, "--resume", "--max-time", "--no-calibrate", "--out", "--keep-text"} <= shown | {"--out"}
    for panel in ("Traffic: what is asked", "Recorded traffic", "Cache protocol", "Course of the sweep"):
        assert panel in outcome.out


def test_an_option_is_explained_in_one_line() -> None:
    """Help texts are sentences that fit beside their option."""
    for override in OVERRIDES:
        assert override.help.endswith("."), override.name
        assert len(override.help) < 95, override.name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seeds", "0"], "--seeds: must be at least 1, not 0"),
        (["--temperature", "-1"], "--temperature: must be at least 0, not -1.0"),
        (["--shared", "0,x"], "--shared: 'x' is not a whole number"),
        (["--page-size", "16,-1"], "--page-size: must be at least 1, not -1"),
        (["--request-rate", "inf"], "--request-rate: inf is no rate"),
        (["--duration", "soon"], "--duration: 'soon' is no length of time"),
        (["--workload", "chat"], "--workload: must be 'shared-prefix', "),
        (["--engine", "vllm"], "--base-url: a server of vllm isn't started from here"),
        (["--base-url", "http://h:99999"], "--base-url: 'http://h:99999' is no address"),
        (["--base-url", "http://[::1"], "--base-url: 'http://[::1' is no address"),
        (["--base-url", "here"], "--base-url: 'here' is no address"),
        (["--workload", "trace"], "--file: the trace workload replays a file of requests, and none is named"),
        (["--off-mode", "flush"], "--off-mode: a flush before every request"),
        (["--max-time", "soon"], "--max-time: 'soon' is no length of time"),
        (["--max-time", "0"], "--max-time: must be more than 0"),
        (["--resume"], "--resume: nothing says what to go on with; name it with --out"),
        (["--fanout", "2"], "--fanout: the shared-prefix workload has no fanout"),
        (["--seeds", "many"], "--seeds: 'many' is not a whole number; write one, without commas"),
        (["--zipf-exponent", "steep"], "--zipf-exponent: 'steep' is not a number; write one"),
    ],
)
@pytest.mark.parametrize("name", ["sweep", "run"])
def test_bad_values(command: Command, name: str, arguments: list[str], message: str) -> None:
    """One line on stderr, exit code 2, nothing on stdout, whichever command it is."""
    outcome = command(name, "default", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert outcome.err.startswith("radixbench: ")
    assert outcome.err.count("\n") == 1


def test_runs_mode_is_on_or_off(command: Command) -> None:
    """``--mode`` is checked as the key it sets."""
    outcome = command("run", "default", "--mode", "maybe")
    assert outcome.code == 2
    assert "--mode: must be 'on' or 'off', not the text 'maybe'" in outcome.err


@pytest.mark.parametrize("name", shipped_names())
def test_every_shipped_scenario_has_a_plan(command: Command, name: str, tmp_path: Path) -> None:
    """Its cells are laid out without starting anything; one that plays a file says which to name."""
    outcome = command("sweep", name, "--dry-run", "--device", "cpu", "--out", str(tmp_path / "none"))
    if load(name).workload.kind in FILE_KINDS:
        assert outcome.code == 2
        assert "--file: " in outcome.err
        assert "name" in outcome.err
        return
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith(f"{name}: ")
    assert "computed on" in outcome.out
    assert "…" not in outcome.out.replace("N,N,…", "")
    assert not list(tmp_path.iterdir())


def test_a_plan_of_many_axes(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Axes that tell cells apart are columns, others are said once; every combination is a row."""
    monkeypatch.setenv("COLUMNS", "120")
    arguments = ["--workload", "agent", "--turns", "2", "--shared", "0,64", "--prompts-per-group", "2"]
    axes = ["--max-concurrency", "1,8", "--schedule-policy", "fcfs,lpm", "--page-size", "1,16"]
    outcome = command("sweep", "--dry-run", "--device", "cpu", *arguments, *axes)
    assert outcome.code == 0, outcome.err
    assert "every cell: 2 turns" in outcome.out
    rows = [line for line in outcome.out.splitlines() if "fcfs" in line or "lpm" in line]
    assert len(rows) == 16
    document = command(
        "sweep", "--dry-run", "--json", "--device", "cpu", "--off-mode", "salt", *arguments, *axes
    ).document
    assert len(document["cells"]) == 16
    assert (document["workload"], document["off_mode"], document["cache_state"]) == ("agent", "salt", "cold")


def test_zero_is_a_value(command: Command) -> None:
    """A flag of 0 was given: it isn't taken for one that wasn't."""
    outcome = command(
        "sweep", "--dry-run", "--json", "--device", "cpu", "--shared", "0", "--temperature", "0"
    )
    assert outcome.code == 0, outcome.err
    assert [cell["cell"] for cell in outcome.document["cells"]] == [{"shared_tokens": 0}]


def test_a_plan_shows_what_it_doesnt_know(command: Command) -> None:
    """Unknown counts are question marks with a note; what takes hours is told in hours."""
    huge = command("sweep", "--dry-run", "--device", "cpu", "--shared", "0,10000000")
    assert huge.code == 0, huge.err
    assert re.search(r"10,000,000 │ +\? │", huge.out)
    assert "note: a cell of more than 20,000,000 prompt tokens isn't laid out" in huge.out
    slow = command(
        *("sweep", "--dry-run", "--device", "cpu", "--shared", "0", "--arrival", "constant"),
        *("--request-rate", "0.01"),
    )
    assert " hours, by the model's shape" in slow.out


def test_a_run_has_one_arm(command: Command) -> None:
    """Both modes at once are refused, with the command that measures both."""
    outcome = command("run", "default", "--mode", "on,off")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("radixbench: --mode: on,off are two arms, and a run has one; ")
    assert outcome.err.count("\n") == 1


def test_an_empty_scenario_name_is_no_default(command: Command) -> None:
    """An empty variable in a script doesn't start the default sweep."""
    outcome = command("sweep", "")
    assert (outcome.code, outcome.out) == (2, "")
    assert "an empty name: there is no such file" in outcome.err


def test_what_cannot_fit_is_refused_before_anything_starts(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pool too small for one cell of a grid is known without a server; nothing is written."""

    def start(self: BundledServer) -> None:
        raise AssertionError("a server was started")

    monkeypatch.setattr(BundledServer, "start", start)
    folder, report = tmp_path / "captures", tmp_path / "report.html"
    outcome = command(
        "sweep", "default", "--max-total-tokens", "100,65536", "--out", str(folder), "--report", str(report)
    )
    assert (outcome.code, outcome.out) == (2, "")
    assert "--max-total-tokens: a pool of 100 tokens can't hold the longest request of " in outcome.err
    assert "calibrating" not in outcome.err
    assert not list(folder.glob("*.json"))


def test_another_scenario_is_refused_before_anything_starts(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A resumption that doesn't fit its captures, or one of a damaged capture, costs no server start."""

    def start(self: BundledServer) -> None:
        raise AssertionError("a server was started")

    monkeypatch.setattr(BundledServer, "start", start)
    on, _ = make_sweep()
    save(on, tmp_path / "on.json")
    arguments = ("--resume", "--out", str(tmp_path), "--report", str(tmp_path / "report.html"))
    outcome = command("sweep", "default", *arguments)
    assert outcome.code == 2
    assert "on.json: was measured with another scenario: name was " in outcome.err
    (tmp_path / "on.json").write_bytes((tmp_path / "on.json").read_bytes()[:200])
    outcome = command("sweep", "default", *arguments)
    assert outcome.code == 2
    assert "on.json: " in outcome.err
    assert (tmp_path / "on.json").stat().st_size == 200
