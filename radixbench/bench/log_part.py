"""A run's part of a server's log: scheduler steps and finished requests, and what all its lines come to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from radixbench.bench.log_totals import LogSum
from radixbench.errors import LogError
from radixbench.logs.scan import LogScan
from radixbench.logs.timeline import Timeline
from radixbench.records import FinishRecord, LogTotals, StepRecord

_PATIENCE = 20
_SETTLE = 6
_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class LogPart:
    """What the log says about the time from ``start_ns`` on. ``complete``: every step number is there."""

    steps: tuple[StepRecord, ...] = ()
    finishes: tuple[FinishRecord, ...] = ()
    complete: bool = False
    totals: LogTotals | None = None


class LogTail:
    """Reads what a server appends to its log, run by run; a log that was begun anew is read from there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def skip(self) -> None:
        """Forget what stands there by now. Raises ``LogError`` for a log that isn't there."""
        try:
            self._offset = self._path.stat().st_size
        except OSError as error:
            raise LogError(
                f"{self._path}: the server's log can't be read: {error.strerror or error}",
                remedy="name the file the server logs to, or leave the log out",
            ) from error

    async def read(self, *, start_ns: int, finished: int | None) -> LogPart:
        """The lines since ``skip`` or the last call.

        Waits up to a second for ``finished`` requests to be logged; a log that doesn't tell them
        (``None``) has 0.3 s to be written out.
        """
        scan, sums = LogScan(Timeline()), LogSum()
        steps: list[StepRecord] = []
        finishes: list[FinishRecord] = []
        for _ in range(_SETTLE if finished is None else _PATIENCE):
            for record in scan.feed(self._new_lines()):
                exact = record.exact
                if exact is None:
                    sums.add(record)
                elif isinstance(exact, StepRecord) and exact.start_ns >= start_ns:
                    steps.append(exact)
                    sums.add(record)
                elif isinstance(exact, FinishRecord) and exact.entry_ns >= start_ns:
                    finishes.append(exact)
            if finished is not None and len(finishes) >= finished:
                break
            await asyncio.sleep(_PAUSE_S)
        return LogPart(tuple(steps), tuple(finishes), _unbroken(steps), sums.totals())

    def _new_lines(self) -> list[str]:
        """The whole lines written since the last look; the server ends each with its line break at once."""
        with self._path.open("rb") as log:
            if self._path.stat().st_size < self._offset:
                self._offset = 0
            log.seek(self._offset)
            text = log.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        return whole.decode(errors="replace").split("\n")[:-1]


def _unbroken(steps: Sequence[StepRecord]) -> bool:
    return bool(steps) and steps[-1].step - steps[0].step + 1 == len(steps)
