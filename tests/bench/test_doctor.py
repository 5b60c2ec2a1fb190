"""What the machine check says of cores."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from radixbench.bench.doctor import Check, examine


def cores(monkeypatch: pytest.MonkeyPatch, usable: int) -> Check:
    """The check on a machine of 64 cores of which this process may use so many."""
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(usable)), raising=False)
    return next(check for check in examine() if check.name == "cores")


def test_cores_are_those_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under ``taskset`` or in a container the machine's other cores are nobody's."""
    check = cores(monkeypatch, 4)
    assert (check.state, check.text) == ("ok", "4 cores; the server takes 3, the client the other")


def test_one_core_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    """One usable core of many still means that client and server disturb each other."""
    check = cores(monkeypatch, 1)
    assert check.state == "note"
    assert check.remedy is not None


def test_a_path_that_is_gone_is_a_fault_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Run from a folder that somebody deleted, the other checks still speak."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    states = {check.name: check.state for check in examine()}
    assert states["disk"] == "fault"
    assert states["torch"] == "ok"
