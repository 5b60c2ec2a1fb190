"""Bad input and faults through the front door: one clear line, the right exit code, nothing lost."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import psutil
import pytest

from radixbench.capture.store import load
from radixbench.cli import main as command_line
from tests.e2e.conftest import FAKE, SMALL, Door, Edit, Outcome

SLOW = (
    "--server-argument=--fake-step-cost=prefill_base=10000,prefill_token=10,decode_base=20000,decode_token=10"
)
ONE_CELL = ("--shared", "256")

Edited = Callable[[str, Edit], Path]


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        ("name: x\nworkload:\n  shard: [0]\n", ("workload.shard", "did you mean shared")),
        ("name: x\nmodes: [on, off]\n", ("modes[0]", "quote")),
        ("name: x\nseeds: true\n", ("seeds", "true")),
        ("name: x\nworkload:\n  shared: [-1]\n", ("workload.shared[0]", "-1")),
        ("name: x\n  bad indent: [\n", ("is not YAML",)),
    ],
)
def test_a_wrong_scenario_is_refused_by_line_and_key(
    door: Door, tmp_path: Path, scenario: str, said: tuple[str, ...]
) -> None:
    """A scenario's fault is named by file, line, key and remedy; nothing is started or written."""
    file = tmp_path / "wrong.yaml"
    file.write_text(scenario)
    outcome = door("run", "wrong.yaml")
    assert outcome.code == 2
    assert "wrong.yaml:" in outcome.complaint
    assert all(word in outcome.complaint for word in said), outcome.complaint
    assert [path.name for path in tmp_path.iterdir()] == ["wrong.yaml"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--shared", "many"), "--shared: 'many' is not a whole number"),
        (("--shared", "-1"), "--shared: must be at least 0, not -1"),
        (("--shared", "0,,4"), "--shared: a value is missing"),
        (("--seeds", "0"), "--seeds"),
        (("--workload", "chat"), "--workload"),
        (("--model", ""), "--model"),
        (("--turns", "4"), "--turns"),
        (("--page-size", "0"), "--page-size"),
        (("nonesuch",), "nonesuch"),
    ],
)
def test_a_wrong_flag_is_refused_by_name(door: Door, flags: tuple[str, ...], said: str) -> None:
    """A flag's fault names the flag; no directory is left behind."""
    outcome = door("sweep", *flags)
    assert outcome.code == 2
    assert said in outcome.complaint
    assert not list(door.directory.iterdir())


def test_an_unknown_option_is_a_usage_error(door: Door) -> None:
    """Typer's own refusals exit with 2 as well."""
    outcome = door("sweep", "--shred", "0")
    assert outcome.code == 2
    assert "--shred" in outcome.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--shared", "20000"), "the context of tiny holds 16,384"),
        (("--shared", "4096", "--max-total-tokens", "1000"), "1,000"),
    ],
)
def test_a_prompt_that_fits_nowhere_is_refused_before_the_run(
    door: Door, flags: tuple[str, ...], said: str
) -> None:
    """A prompt longer than the context or the pool exits with 2 and names both numbers."""
    outcome = door("sweep", *flags, *FAKE)
    assert outcome.code == 2
    assert said in outcome.complaint


def test_a_taken_port_is_named(door: Door) -> None:
    """``serve`` on a port that somebody listens on exits with 2 before a model is loaded."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        outcome = door("serve", "--port", str(port))
    assert outcome.code == 2
    assert str(port) in outcome.complaint


def _mamba(folder: Path) -> None:
    config = {
        "model_type": "mamba",
        "architectures": ["MambaForCausalLM"],
        "hidden_size": 8,
        "vocab_size": 16,
    }
    (folder / "config.json").write_text(json.dumps(config))


def _damaged(folder: Path) -> None:
    (folder / "config.json").write_text("{ this is no JSON")


def _windowed(folder: Path) -> None:
    config = {"model_type": "mistral", "architectures": ["MistralForCausalLM"], "sliding_window": 64}
    (folder / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (None, "model"),
        (_damaged, "config.json"),
        (_mamba, "can't be served"),
        (_windowed, "sliding window"),
    ],
)
def test_a_model_that_can_not_be_served_is_refused_with_the_reason(
    door: Door, make: Callable[[Path], None] | None, said: str
) -> None:
    """A missing, damaged or unservable model directory ends a sweep with 2 and the server's own line."""
    folder = door.directory / "model"
    if make is not None:
        folder.mkdir()
        make(folder)
    outcome = door("sweep", "--model", "./model", "--shared", "0", "--out", "pair")
    assert outcome.code == 2, outcome.err
    assert said in outcome.complaint, outcome.complaint
    assert not list(door.directory.glob("pair/*.json"))


def test_an_unwritable_output_is_found_before_the_run(door: Door) -> None:
    """An output below something that is no directory is refused at once; so is one that exists."""
    (door.directory / "file").write_text("mine")
    outputs = (("--out", "file/pair"), ("--report", "file/report.html"), ("--report", "file"))
    for flags in (*outputs, ("--markdown", "file/table.md")):
        outcome = door.sweep(*flags)
        assert outcome.code == 2
        assert "file" in outcome.complaint
    assert (door.directory / "file").read_text() == "mine"


def test_a_full_disk_is_found_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without room to save nothing is started; the line says how much is needed and how much is free."""
    monkeypatch.chdir(tmp_path)
    usage = type("Usage", (), {"free": 1 << 20})
    monkeypatch.setattr("radixbench.capture.output.shutil.disk_usage", lambda _path: usage)
    assert command_line.run(["sweep"]) == 2
    assert "1 MiB are free" in capsys.readouterr().err


def test_captures_are_never_overwritten(swept: tuple[Door, Outcome]) -> None:
    """A second sweep into the same directory is refused and the first one's files stay."""
    door, _ = swept
    before = (door.directory / "pair" / "on.json").read_bytes()
    outcome = door.sweep("--out", "pair")
    assert outcome.code == 2
    assert "on.json: exists" in outcome.complaint
    assert (door.directory / "pair" / "on.json").read_bytes() == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ('{"schema": "radixbench.capture/1", "runs": [', "is cut off"),
        ('{"median_ttft_ms": 12.5}', "is not a radixbench capture"),
        ('{"schema": "radixbench.capture/99"}', "newer"),
        ("\x00\x01binary", "JSON"),
    ],
)
def test_a_file_that_is_no_capture_is_refused(door: Door, text: str, said: str) -> None:
    """Truncated, foreign and newer files each get their own line."""
    (door.directory / "x.json").write_text(text)
    outcome = door("compare", "x.json", "x.json")
    assert outcome.code == 2
    assert "x.json" in outcome.complaint
    assert said in outcome.complaint, outcome.complaint


def _nan(document: dict[str, Any]) -> None:
    document["runs"][0]["requests"][0]["cached_tokens"] = float("nan")


def _unknown_key(document: dict[str, Any]) -> None:
    document["runs"][1]["sped"] = 1


@pytest.mark.parametrize(
    ("edit", "said"),
    [(_nan, "runs[0].requests[0].cached_tokens"), (_unknown_key, "runs[1].sped")],
)
def test_a_spoiled_capture_is_refused_by_path(door: Door, edited: Edited, edit: Edit, said: str) -> None:
    """NaN and unknown keys are refused with the place where they stand."""
    path = edited("on", edit)
    outcome = door("compare", str(path), str(path))
    assert outcome.code == 2
    assert said in outcome.complaint, outcome.complaint


def test_captures_of_different_things_are_incomparable(swept: tuple[Door, Outcome], edited: Edited) -> None:
    """Another model and other prompts forbid a verdict; every reason is named, and the gate can fail on it."""

    def other(document: dict[str, Any]) -> None:
        for run in document["runs"]:
            run["workload_digest"] = "0" * 64
            run["server"]["identity"]["weights_sha256"] = "1" * 64
            run["server"]["identity"]["dtype"] = "bfloat16"

    door, _ = swept
    path = edited("off", other)
    outcome = door("compare", "pair/on.json", str(path), "--json", "--fail-on", "incomparable")
    assert outcome.code == 1
    document = outcome.document
    assert document["eligible"] is False
    forbidding = " ".join(item["field"] for item in document["differences"] if not item["allowed"])
    for reason in ("prompts", "weights", "dtype"):
        assert reason in forbidding
    assert {row["verdict"] for row in document["rows"]} <= {"incomparable", None}


def test_a_capture_without_answers_gets_no_verdict(swept: tuple[Door, Outcome], edited: Edited) -> None:
    """With no completed request there is no figure, no verdict and no crash."""

    def fail(document: dict[str, Any]) -> None:
        for run in document["runs"]:
            run["status"] = "incomplete"
            run["error"] = "all failed"
            run["prompts"]["sequences"] = [None] * len(run["requests"])
            for request in run["requests"]:
                request["status"] = "failed"
                request["error"] = "connection refused"
                for key in ("chunk_ns", "chunk_tokens", "output_ids", "cached_tokens", "output_tokens"):
                    request.pop(key, None)

    door, _ = swept
    path = edited("on", fail)
    outcome = door("compare", str(path), "pair/off.json", "--json")
    assert outcome.code == 0, outcome.err
    assert {row["verdict"] for row in outcome.document["rows"]} <= {"undecided", None}
    assert "incomplete" in {caveat["code"] for caveat in outcome.document["caveats"]}
    shown = door("compare", str(path), "pair/off.json", "--report", str(path.with_suffix(".html")))
    assert shown.code == 0, shown.err


def test_markup_in_a_model_name_is_escaped(
    swept: tuple[Door, Outcome], edited: Edited, tmp_path: Path
) -> None:
    """A model called like a script tag shows as text in the report and breaks no Markdown table."""
    evil = "</script><script>alert(1)</script>|\n`x`"

    def rename(document: dict[str, Any]) -> None:
        document["scenario"]["model"]["name"] = evil
        for run in document["runs"]:
            run["server"]["model"] = evil

    door, _ = swept
    on, off = edited("on", rename), edited("off", rename)
    report = tmp_path / "evil.html"
    outcome = door(
        "compare", str(on), str(off), "--report", str(report), "--markdown", str(tmp_path / "e.md")
    )
    assert outcome.code == 0, outcome.err
    page = report.read_text()
    assert "alert(1)" in page
    assert "<script>alert(1)" not in page
    lines = (tmp_path / "e.md").read_text().splitlines()
    tables = [list(rows) for is_table, rows in groupby(lines, lambda line: line.startswith("|")) if is_table]
    assert len(tables) > 1
    assert all(len({row.replace("\\|", "").count("|") for row in rows}) == 1 for rows in tables)


def _children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(process.pid).children(recursive=True)
    return []


def _start_and_wait_for_requests(door: Door) -> subprocess.Popen[str]:
    """A slow sweep, returned once its second run is under way."""
    outputs = ("--out", "pair", "--report", "pair.html")
    process = door.start("sweep", *SMALL, *ONE_CELL, *FAKE, SLOW, "--no-calibrate", *outputs)
    deadline = threading.Event()
    for _ in range(600):
        path = door.directory / "pair" / "on.json"
        if path.exists() and json.loads(path.read_text())["runs"]:
            return process
        deadline.wait(0.1)
    process.kill()
    raise AssertionError(process.communicate()[1])


def test_a_killed_server_leaves_an_incomplete_capture(door: Door) -> None:
    """When the server dies mid-run what was measured is saved, the exit code is 3 and the line says why."""
    process = _start_and_wait_for_requests(door)
    servers = _children(process)
    assert servers
    for server in servers:
        server.send_signal(signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert "Traceback" not in err
    line = next(line for line in err.splitlines() if line.startswith("radixbench: "))
    assert "server ended" in line
    assert len(load(door.directory / "pair" / "on.json").runs) >= 1
    outcome = door("compare", "pair/on.json", "pair/off.json", "--json")
    assert outcome.code == 0
    assert "incomplete" in {caveat["code"] for caveat in outcome.document["caveats"]}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sweep_saves_and_leaves_no_process(door: Door, number: signal.Signals) -> None:
    """Ctrl-C ends with 130; the captures say that they are incomplete, and no server stays behind."""
    process = _start_and_wait_for_requests(door)
    servers = _children(process)
    assert servers
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    gone, alive = psutil.wait_procs(servers, timeout=10)
    assert not alive
    assert len(gone) == len(servers)
    captures = [load(door.directory / "pair" / f"{mode}.json") for mode in ("on", "off")]
    assert all(capture.interrupted for capture in captures)
    assert sum(len(capture.runs) for capture in captures) >= 1


def test_no_server_outlives_a_killed_sweep(door: Door) -> None:
    """Even when radixbench itself is killed, its servers end by themselves."""
    process = _start_and_wait_for_requests(door)
    servers = _children(process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    _, alive = psutil.wait_procs(servers, timeout=15)
    assert not alive


def test_no_output_may_destroy_an_input_or_another_output(swept: tuple[Door, Outcome]) -> None:
    """An output that is a capture, an input or another output is refused before any work."""
    door, _ = swept
    before = (door.directory / "pair" / "on.json").read_bytes()
    pair = ("pair/on.json", "pair/off.json")
    for flags in (
        ("compare", *pair, "--report", "pair/on.json"),
        ("compare", *pair, "--markdown", "pair/off.json"),
        ("compare", *pair, "--report", "x", "--markdown", "./x"),
        ("report", *pair, "-o", "pair/../pair/on.json"),
        ("sweep", *SMALL, *FAKE, "--out", "new", "--report", "new/on.json"),
    ):
        outcome = door(*flags)
        assert outcome.code == 2, flags
    assert (door.directory / "pair" / "on.json").read_bytes() == before


@pytest.mark.parametrize("flags", [("--gate", ""), ("--gate", ","), ("--fail-on", ""), ("--gate", "ttft")])
def test_an_empty_or_unknown_gate_is_refused(swept: tuple[Door, Outcome], flags: tuple[str, str]) -> None:
    """A gate that would judge nothing, as after an unset variable, is an error and no pass."""
    door, _ = swept
    outcome = door("compare", "pair/on.json", "pair/off.json", "--fail-on", "worse", *flags)
    assert outcome.code == 2
    assert outcome.complaint


def test_a_second_sweep_into_the_same_folder_is_refused(door: Door) -> None:
    """Two sweeps never share a folder: the later one ends at once and the first one's evidence stays whole."""
    process = _start_and_wait_for_requests(door)
    second = door.sweep("--out", "pair", "--report", "other.html")
    assert second.code == 2
    assert "pair" in second.complaint
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130


def test_closed_and_full_outputs_end_in_one_line(swept: tuple[Door, Outcome]) -> None:
    """A full stdout is told as such; closed standard streams neither crash the program nor change its work."""
    door, _ = swept
    command = f"{sys.executable} -m radixbench"
    full = door.shell(f"{command} compare pair/on.json pair/off.json > /dev/full")
    assert full.code == 2, full.err
    assert "stdout can't be written" in full.complaint
    for closing in ("<&-", ">&-"):
        assert door.shell(f"{command} compare pair/on.json pair/off.json {closing}").code == 0
    assert door.shell(f"{command} doctor <&- >&- 2>&-").code == 0
    narrow = door.shell(f"LC_ALL=C PYTHONIOENCODING=ascii {command} compare pair/on.json pair/off.json")
    assert narrow.code == 0, narrow.err


def test_a_count_beyond_reason_is_refused_by_path(door: Door, edited: Edited) -> None:
    """Counts are whole numbers of 63 bits from 0 on; what isn't is named."""

    def overflow(document: dict[str, Any]) -> None:
        document["runs"][0]["requests"][0]["output_tokens"] = -4

    path = edited("on", overflow)
    outcome = door("compare", str(path), str(path))
    assert outcome.code == 2
    assert "runs[0].requests[0].output_tokens" in outcome.complaint


def test_a_cut_sweep_is_resumed_from_its_captures(door: Door) -> None:
    """After Ctrl-C the command that is shown, pasted, keeps whole pairs, measures the rest and compares them all."""
    process = _start_and_wait_for_requests(door)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    shown = next(line for line in err.splitlines() if line.startswith("radixbench: interrupted after"))
    pasted = shlex.split(shown.partition("go on with: radixbench ")[2])
    assert pasted[-3:] == ["--resume", "--out", "pair"], shown
    before = {mode: load(door.directory / "pair" / f"{mode}.json").runs for mode in ("on", "off")}
    pairs = min(len(runs) for runs in before.values())
    outcome = door(*pasted, "--json")
    assert outcome.code == 0, outcome.err
    for mode, runs in before.items():
        capture = load(door.directory / "pair" / f"{mode}.json")
        assert len(capture.runs) == capture.planned_runs == 3
        assert not capture.interrupted
        kept = [run for run in capture.runs if run in runs]
        assert len(kept) >= pairs - 1
    changed = door.sweep(*ONE_CELL, "--groups", "3", "--out", "pair", "--report", "other.html", "--resume")
    assert changed.code == 2
    assert "workload.groups was 2 and is 3" in changed.complaint
