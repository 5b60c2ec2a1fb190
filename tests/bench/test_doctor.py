"""What the machine check says of cores and of who else uses them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from radixbench.bench.doctor import Check, examine, judge_load
from radixbench.telemetry.probes import Company


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


def test_others_at_work_make_a_machine_unfit() -> None:
    """More than a core's worth of others' work is marked, with the figures and what to do."""
    check = judge_load(Company(cores=2, others=1.8, load_average=10.2))
    assert check.state == "note"
    assert check.text == "not fit to measure now: load average 10.2 on 2 cores, others use 1.8 of them now"
    assert check.remedy is not None


def test_a_machine_left_alone_is_fit() -> None:
    """A little of others' work is everywhere; a system without a load average leaves that figure out."""
    check = judge_load(Company(cores=2, others=0.1, load_average=0.4))
    assert (check.state, check.text) == ("ok", "load average 0.4 on 2 cores, others use 0.1 of them now")
    assert judge_load(Company(4, 0.1, None)).text == "others use 0.1 of 4 cores now"


def test_a_load_that_has_just_ended_is_told() -> None:
    """The last minute's average is above the cores while nobody works any more."""
    check = judge_load(Company(cores=2, others=0.0, load_average=6.0))
    assert check.state == "note"
    assert check.text.startswith("busy until a moment ago: load average 6.0 on 2 cores")
