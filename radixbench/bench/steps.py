"""A run's part of a server's log: its scheduler steps and finished requests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
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
        """The lines since ``skip`` or the last call. Waits up to a second for ``finished`` requests to be logged."""
        scan = LogScan(Timeline())
        steps: list[StepRecord] = []
        finishes: list[FinishRecord] = []
        for _ in range(_PATIENCE):
            for record in scan.feed(self._new_lines()):
                exact = record.exact
                if isinstance(exact, StepRecord) and exact.start_ns >= start_ns:
                    steps.append(exact)
                elif isinstance(exact, FinishRecord) and exact.entry_ns >= start_ns:
                    finishes.append(exact)
            if len(finishes) >= finished:
                break
            await asyncio.sleep(_PAUSE_S)
        return LogPart(steps=tuple(steps), finishes=tuple(finishes), complete=_unbroken(steps))

    def _new_lines(self) -> list[str]:
        """The whole lines written since the last look; the server ends each with its line break at once."""
        with self._path.open("rb") as log:
            log.seek(self._offset)
            text = log.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        return whole.decode(errors="replace").split("\n")[:-1]


def _unbroken(steps: Sequence[StepRecord]) -> bool:
    return bool(steps) and steps[-1].step - steps[0].step + 1 == len(steps)
