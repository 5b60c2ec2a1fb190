"""The main job through the front door, on a scripted model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from radixbench.capture.store import load
from radixbench.cli import main as command_line
from tests.e2e.conftest import Door, Edit, Outcome

Swept = tuple[Door, Outcome]

METRICS = {
    "ttft_p50",
    "ttft_p99",
    "e2e_p50",
    "itl_p50",
    "tpot_p50",
    "output_throughput",
    "input_throughput",
    "prefill_throughput",
    "request_throughput",
    "duration",
    "hit_rate",
    "cached_tokens",
}


def test_sweep_prints_one_json_document(swept: Swept) -> None:
    """``--json`` leaves exactly one document on stdout, which names the captures and holds the comparison."""
    _, outcome = swept
    assert outcome.code == 0, outcome.err
    document = outcome.document
    assert document["schema"] == "radixbench.sweep/1"
    assert document["captures"] == {"on": "pair/on.json", "off": "pair/off.json"}
    assert document["report"] == "pair.html"
    assert document["compare"]["schema"] == "radixbench.compare/1"
    assert {row["metric"] for row in document["compare"]["rows"]} >= METRICS


def test_compare_says_the_same_from_the_files(swept: Swept) -> None:
    """``compare`` recomputes the sweep's comparison from the captures alone."""
    door, outcome = swept
    again = door("compare", "pair/on.json", "pair/off.json", "--json")
    assert again.code == 0, again.err
    assert again.document == outcome.document["compare"]


def test_a_capture_holds_the_evidence(swept: Swept) -> None:
    """Every run is there with its requests, all scheduler steps, the server's finish records and a proved flush."""
    capture = load(swept[0].directory / "pair" / "on.json")
    assert len(capture.runs) == capture.planned_runs == 6
    for run in capture.runs:
        assert run.status == "completed"
        assert len(run.requests) == len(run.finishes) == 8
        assert run.steps_complete
        assert sum(
            step.new_tokens + step.cached_tokens for step in run.steps if step.phase == "prefill"
        ) == sum(request.prompt_tokens or 0 for request in run.requests)
        assert run.protocol.verified is True
        assert run.protocol.probe_cached_tokens == 0
        assert all(step.host_ns > 0 for step in run.steps)


def test_a_capture_says_what_the_client_cost(swept: Swept) -> None:
    """A calibration for all runs, and for each run the client's own cost and the server's counters and log."""
    capture = load(swept[0].directory / "pair" / "on.json")
    assert capture.calibration is not None
    assert capture.calibration.ttft_error_p50_ns > 0
    for run in capture.runs:
        found = sum(request.cached_tokens or 0 for request in run.requests)
        assert run.client is not None
        assert run.client.chunks == sum(len(request.chunk_ns) for request in run.requests)
        assert run.counters is not None
        assert run.log is not None
        assert run.counters.cached_tokens == run.log.cached_tokens == found
        assert {check.name: check.held for check in run.protocol.checks} == {
            "exact repeats": True,
            "extensions": True,
            "flush": True,
            "alone": True,
            "measured hits": True,
        }


def test_the_arms_alternate_back_to_back(swept: Swept) -> None:
    """Both arms of a seed and cell run one after the other, ``on off off on …``."""
    folder = swept[0].directory / "pair"
    runs = [*load(folder / "on.json").runs, *load(folder / "off.json").runs]
    runs.sort(key=lambda run: run.order)
    assert [run.mode for run in runs] == ["on", "off", "off", "on"] * 3
    for first, second in zip(runs[::2], runs[1::2], strict=True):
        assert (first.cell, first.seed) == (second.cell, second.seed)
        assert first.workload_digest == second.workload_digest
        assert first.end_ns <= second.start_ns


def test_the_cache_finds_what_is_shared_and_nothing_else(swept: Swept) -> None:
    """With the cache on a shared prefix is found; with it off, or with nothing shared, nothing is."""
    rows = swept[1].document["compare"]["rows"]
    cached = {row["cell"]["shared_tokens"]: row for row in rows if row["metric"] == "cached_tokens"}
    assert cached[0]["a"]["value"] == cached[0]["b"]["value"] == cached[256]["b"]["value"] == 0
    assert 0 < cached[256]["a"]["value"] <= 6 * 256
    assert cached[256]["factor"] is None


def test_both_arms_answer_the_same(swept: Swept) -> None:
    """Greedy answers of both arms are the same tokens."""
    folder = swept[0].directory / "pair"
    on, off = load(folder / "on.json"), load(folder / "off.json")
    answers = [
        {(str(run.cell), run.seed): [request.output_ids for request in run.requests] for run in capture.runs}
        for capture in (on, off)
    ]
    assert answers[0] == answers[1]
    assert "output-mismatch" not in {caveat["code"] for caveat in swept[1].document["compare"]["caveats"]}


def test_the_last_line_is_the_compare_command(door: Door) -> None:
    """Without ``--json`` a table comes first and the command to go on with last; nothing is overwritten by default."""
    outcome = door.sweep("--shared", "0", "--seeds", "1")
    assert outcome.code == 0, outcome.err
    last = outcome.out.splitlines()[-1]
    match = re.fullmatch(r"radixbench compare (captures/default-\w+/on\.json) (captures/\S+/off\.json)", last)
    assert match, outcome.out
    assert door("compare", match[1], match[2]).code == 0
    assert len(list((door.directory / "reports").glob("default-*.html"))) == 1


def test_multi_turn_reuses_the_conversation(door: Door) -> None:
    """Each turn finds prompt and answer of the turn before, though nothing is shared between conversations."""
    outcome = door.sweep(
        "--workload", "multi-turn", "--turns", "3", "--shared", "0", "--seeds", "1", "--json"
    )
    assert outcome.code == 0, outcome.err
    capture = load(door.directory / outcome.document["captures"]["on"])
    for run in capture.runs:
        by_turn = {
            turn: {(r.prompt_tokens or 0) - (r.cached_tokens or 0) for r in run.requests if r.turn == turn}
            for turn in range(3)
        }
        assert by_turn[0] == {32}
        assert by_turn[1] == by_turn[2] == {33}


def test_dry_run_starts_nothing(
    door: Door, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--dry-run`` prints cells, tokens, time and memory, and leaves no file."""
    monkeypatch.chdir(door.directory)
    assert command_line.run(["sweep", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "4,096" in shown
    assert "minutes" in shown
    assert "GiB" in shown
    document = door("sweep", "--dry-run", "--json").document
    assert not list(door.directory.iterdir())
    assert [cell["computed_on"] for cell in document["cells"]] == [2048, 6144, 18432]
    assert [cell["computed_off"] for cell in document["cells"]] == [2048, 67584, 264192]


def test_run_leaves_one_capture_that_reports_alone(door: Door, tmp_path: Path) -> None:
    """``run`` measures one arm of a scenario file; ``report`` shows it by itself."""
    scenario = tmp_path / "mine.yaml"
    scenario.write_text(
        "name: mine\nworkload:\n  shared: [64]\n  groups: 1\n  prompts_per_group: 4\n  output_len: 3\nseeds: 1\n"
    )
    outcome = door("run", str(scenario), "-o", "one.json.zst", "--mode", "off", "--no-calibrate", *_fake())
    assert outcome.code == 0, outcome.err
    capture = load(door.directory / "one.json.zst")
    assert [run.mode for run in capture.runs] == ["off"]
    shown = door("report", "one.json.zst", "-o", "one.html", "--markdown", "-")
    assert shown.code == 0, shown.err
    assert (door.directory / "one.html").read_text().startswith("<!")
    assert "64 shared tokens" in shown.out


def test_png_of_every_figure(swept: Swept, tmp_path: Path) -> None:
    """``report --png`` writes the figures as pictures without a browser."""
    outcome = swept[0]("report", "pair/on.json", "pair/off.json", "--png", str(tmp_path / "figures"))
    assert outcome.code == 0, outcome.err
    pictures = list((tmp_path / "figures").glob("*.png"))
    assert len(pictures) >= 4
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures)


def _slower(document: dict[str, Any]) -> None:
    """Every token of every run arrives 50 ms later for each place it has, as on a slower build."""
    for run in document["runs"]:
        for request in run["requests"]:
            delays = range(50_000_000, 50_000_000 * (len(request["chunk_ns"]) + 1), 50_000_000)
            request["chunk_ns"] = [
                at + delay * 10 for at, delay in zip(request["chunk_ns"], delays, strict=True)
            ]
            request["end_ns"] = request["chunk_ns"][-1]


def test_gate_fails_a_worse_candidate(swept: Swept, edited: Callable[[str, Edit], Path]) -> None:
    """``--fail-on worse`` exits with 1 when gated rows got worse and says which; the other way round with 0."""
    door, _ = swept
    slow, fast = str(edited("on", _slower)), "pair/on.json"
    worse = door("compare", slow, fast, "--fail-on", "worse", "--gate", "ttft_p50")
    assert worse.code == 1
    assert "gate: ttft_p50 at 256 shared tokens is worse" in worse.err
    assert worse.err.splitlines()[-1] == "gate: failed on ttft_p50"
    better = door("compare", fast, slow, "--fail-on", "worse", "--gate", "ttft_p50")
    assert better.code == 0
    assert better.err.splitlines()[-1] == "gate: passed on ttft_p50"


def test_text_is_kept_only_when_asked_for(swept: Swept, door: Door) -> None:
    """Answers' text goes into a capture with ``--keep-text`` and never without."""
    outcome = door.sweep("--shared", "0", "--seeds", "1", "--keep-text", "--out", "a b", "--report", "r.html")
    assert outcome.code == 0, outcome.err
    kept = load(door.directory / "a b" / "on.json").runs[0].requests
    assert all(request.text for request in kept)
    bare = load(swept[0].directory / "pair" / "on.json").runs[0].requests
    assert not any(request.text for request in bare)
    assert outcome.out.splitlines()[-1] == "radixbench compare 'a b/on.json' 'a b/off.json'"


def test_every_run_flushes_before_and_after(swept: Swept) -> None:
    """A server is flushed after warm-up, after the probe and after the measured requests of each run."""
    log = (swept[0].directory / "pair" / "on.server.log").read_text()
    assert log.count("Cache flushed successfully!") == 3 * 6


def test_doctor_finds_the_chain_whole(door: Door) -> None:
    """``doctor --json`` starts a server, asks it twice and sees the cache hit."""
    outcome = door("doctor", "--json")
    assert outcome.code == 0, outcome.err
    states = {check["name"]: check["state"] for check in outcome.document["checks"]}
    assert states["chain"] == "ok"
    assert "fault" not in states.values()


def test_json_survives_a_round_trip(swept: Swept) -> None:
    """The sweep's document holds no NaN and no Infinity."""
    json.loads(swept[1].out, parse_constant=lambda word: (_ for _ in ()).throw(AssertionError(word)))


def _fake() -> tuple[str, ...]:
    return ("--server-argument=--runner", "--server-argument=fake")
