"""A run's part of a server's log: its scheduler steps and finished requests."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from radixbench.logs.scan import LogScan
from radixbench.logs.timeline import Timeline
from radixbench.records import FinishRecord, StepRecord

_PATIENCE = 20
_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class LogPart:
    """What the log says about the time from ``start_ns`` on. ``complete``: every step number is there."""

    steps: tuple[StepRecord, ...] = ()
    finishes: tuple[FinishRecord, ...] = ()
    complete: bool = False


class LogTail:
    """Reads what a server appends to its log, run by run."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def skip(self) -> None:
        """Forget what stands there by now."""
        self._offset = self._path.stat().st_size

    async def read(self, *, start_ns: int, finished: int) -> LogPart:
        """The lines since ``skip``. Waits up to a second for ``finished`` requests to be logged."""
        part = LogPart()
        for _ in range(_PATIENCE):
            part = self._parse(start_ns)
            if len(part.finishes) >= finished:
                break
            await asyncio.sleep(_PAUSE_S)
        return part

    def _parse(self, start_ns: int) -> LogPart:
        with self._path.open("rb") as log:
            log.seek(self._offset)
            lines = log.read().decode(errors="replace").split("\n")
        scan = LogScan(Timeline())
        records = [record.exact for record in (*scan.feed(lines), *scan.finish())]
        steps = tuple(r for r in records if isinstance(r, StepRecord) and r.start_ns >= start_ns)
        finishes = tuple(r for r in records if isinstance(r, FinishRecord) and r.entry_ns >= start_ns)
        return LogPart(steps=steps, finishes=finishes, complete=_unbroken(steps))


def _unbroken(steps: tuple[StepRecord, ...]) -> bool:
    return bool(steps) and steps[-1].step - steps[0].step + 1 == len(steps)
