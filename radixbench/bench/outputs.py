"""Where a bench leaves what it found; everything is checked before the first run."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from radixbench.capture.output import (
    check_folder,
    check_new,
    check_writable,
    expected_bytes,
    refuse_same_file,
)
from radixbench.clock import utc_stamp
from radixbench.errors import OutputError
from radixbench.scenario.arms import ArmName, arms
from radixbench.scenario.model import Scenario
from radixbench.scenario.resolve import OUTPUT_LEN, at_cell, cells


@dataclass(frozen=True, slots=True)
class OutputPaths:
    """A capture and a server log per arm and, for a sweep, the report."""

    captures: Mapping[ArmName, Path]
    report: Path | None

    @property
    def directory(self) -> Path:
        """Where the captures lie."""
        return next(iter(self.captures.values())).parent

    def server_log(self, arm: ArmName) -> Path:
        """What the arm's server printed: evidence beside the capture."""
        capture = self.captures[arm]
        return capture.with_name(f"{capture.name.partition('.json')[0]}.server.log")


def choose_paths(scenario: Scenario, directory: Path | None, report: Path | None) -> OutputPaths:
    """A sweep's files: ``captures/<scenario>-<UTC>/`` and ``reports/<scenario>-<UTC>.html`` unless told otherwise."""
    names = arms(scenario)
    if len(names) == 1:
        raise OutputError(
            f"scenario {scenario.name} has the mode {scenario.modes[0]} alone, and a sweep compares two arms",
            remedy="name both modes, or use `radixbench run` for one arm",
        )
    stamped = f"{scenario.name}-{utc_stamp()}"
    folder = directory or Path("captures") / stamped
    return OutputPaths(
        captures={arm: folder / f"{arm}.json" for arm in names},
        report=report or Path("reports") / f"{stamped}.html",
    )


def choose_capture(scenario: Scenario, capture: Path | None) -> OutputPaths:
    """The one capture of a scenario with one mode."""
    (arm,) = arms(scenario)
    default = Path("captures") / f"{scenario.name}-{utc_stamp()}" / f"{arm}.json"
    return OutputPaths(captures={arm: capture or default}, report=None)


@contextlib.contextmanager
def reserved(paths: OutputPaths, scenario: Scenario, *others: Path, resume: bool = False) -> Iterator[None]:
    """Hold the folder of the captures against a second bench, and check every output before the first run.

    Nothing is overwritten, no two outputs (``others`` among them) are one file, and there is room to save. A sweep
    that is resumed goes on with the captures that are there. What was made here and holds nothing in the end goes again:
    a server log without a word, a folder without a file.
    """
    captures = tuple(paths.captures.values())
    ours = scenario.target.base_url is None  # others log where they please
    logs = tuple(paths.server_log(mode) for mode in paths.captures) if ours else ()
    reports = () if paths.report is None else (paths.report,)
    refuse_same_file(*captures, *logs, *reports, *others)
    made = _missing_folders(*captures, *reports)
    fresh = [path for path in captures if not (resume and path.exists())]
    try:
        for report in reports:
            check_new(report)
            check_folder(report)
        for path in fresh:
            check_writable(path, need_bytes=_need_bytes(scenario))
        with _locked(paths.directory):
            for path in fresh:
                check_new(path)
            for log in logs:
                log.touch()
            try:
                yield
            finally:
                _drop_empty(logs)
    finally:
        for folder in made:
            with contextlib.suppress(OSError):  # it holds something, or was never made
                folder.rmdir()


def _drop_empty(logs: Sequence[Path]) -> None:
    for log in logs:
        with contextlib.suppress(OSError):
            if log.stat().st_size == 0:
                log.unlink()


def _missing_folders(*files: Path) -> tuple[Path, ...]:
    """The folders above these files that aren't there yet, the deepest first."""
    missing = {folder for file in files for folder in file.parents if not folder.exists()}
    return tuple(sorted(missing, key=lambda folder: len(folder.parts), reverse=True))


def _need_bytes(scenario: Scenario) -> int:
    """Room for one arm; what is read from a file is as large as nobody knows yet."""
    requests = output_tokens = 0
    for cell in cells(scenario):
        workload = at_cell(scenario, cell).workload
        count = workload.groups * workload.prompts_per_group * max(workload.turns or (1,))
        requests += count * scenario.seeds
        output_tokens = max(output_tokens, OUTPUT_LEN if workload.output_len is None else workload.output_len)
    return expected_bytes(requests, output_tokens)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """A lock that the system takes back when this process ends, however it ends."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise OutputError(f"{folder}: another run is writing there", remedy="name another folder") from None
    try:
        yield
    finally:
        os.close(descriptor)
