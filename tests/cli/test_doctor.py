"""``radixbench doctor`` on a machine that isn't fit."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command


@pytest.fixture
def broken_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter that starts no server."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'no such module' >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))


@pytest.mark.usefixtures("broken_python")
def test_a_fault_ends_with_3_and_is_marked(command: Command) -> None:
    """Every check is shown, the failing one with a cross and its cause; the exit code is that of incomplete work."""
    outcome = command("doctor")
    marks = {line[2:].partition(":")[0]: line[0] for line in outcome.out.splitlines()}
    assert outcome.code == 3, outcome.err
    assert list(marks) == ["packages", "cores", "load", "memory", "disk", "gpu", "torch", "chain"]
    assert [name for name, mark in marks.items() if mark == "✗"] == ["chain"]


@pytest.mark.usefixtures("broken_python")
def test_a_fault_as_json(command: Command) -> None:
    """The document is whole and says which check failed; the exit code is the same."""
    outcome = command("doctor", "--json")
    assert outcome.code == 3, outcome.err
    states = {check["name"]: check["state"] for check in outcome.document["checks"]}
    assert [name for name, state in states.items() if state == "fault"] == ["chain"]
