"""What the server prints: one line per prefill step, every n-th decode step and finished request.

Lines go to one text stream with one write per step. The rates on them are SGLang's (0.5.11 and
later): tokens since the previous line of that phase over the time since it, idle time included. They are
for the eye; the exact integers on the same line are for computing.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from radixbench.clock import Clock, ClockAnchor, local_stamp
from radixbench.engine.engine import EngineStats, StepResult
from radixbench.logs.line import format_finish, format_retraction, format_step
from radixbench.records import FinishRecord, StepRecord
from radixbench.units import NS_PER_S, Nanoseconds


@dataclass(slots=True)
class _Meter:
    """Tokens since the previous line of one phase."""

    since_ns: Nanoseconds
    tokens: int = 0

    def read(self, now_ns: Nanoseconds) -> float:
        """Tokens per second since the previous reading, and start over."""
        elapsed = now_ns - self.since_ns
        rate = self.tokens * NS_PER_S / elapsed if elapsed > 0 else 0.0
        self.since_ns, self.tokens = now_ns, 0
        return rate


class StepLog:
    """The server's log. Lines come from the engine thread and from the event loop's."""

    def __init__(
        self, stream: TextIO, clock: Clock, anchor: ClockAnchor, *, decode_log_interval: int = 40
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._anchor = anchor
        self._interval = decode_log_interval
        now = clock.now_ns()
        self._prefill = _Meter(now)
        self._decode = _Meter(now)
        self._decode_steps = 0
        self._ratio: float | None = None
        self._stamp_second: int | None = None
        self._stamp = ""
        self._lock = threading.Lock()

    def message(self, text: str) -> None:
        """One line of free text; line breaks in it stay, for tracebacks."""
        self._write([text], self._clock.now_ns())

    def step(self, result: StepResult, finished: Sequence[FinishRecord], stats: EngineStats) -> None:
        """What one step has to say, if anything."""
        record = result.record
        lines = self._step_lines(record)
        if record.retracted_req:
            lines.append(self._retraction_line(record, stats))
        self._ratio = stats.new_token_ratio
        lines += [self._finish_line(finish) for finish in finished]
        if lines:
            self._write(lines, record.end_ns)

    def _step_lines(self, record: StepRecord) -> list[str]:
        meter = self._prefill if record.phase == "prefill" else self._decode
        meter.tokens += record.new_tokens
        if record.phase == "decode":
            self._decode_steps += 1
            if self._decode_steps % self._interval:
                return []
        return [format_step(record, throughput=meter.read(record.end_ns))]

    def _retraction_line(self, record: StepRecord, stats: EngineStats) -> str:
        before = stats.new_token_ratio if self._ratio is None else self._ratio
        return format_retraction(
            retracted=record.retracted_req, ratio_before=before, ratio_after=stats.new_token_ratio
        )

    def _finish_line(self, finish: FinishRecord) -> str:
        return format_finish(finish, entry_wall_s=self._anchor.wall_at(finish.entry_ns) / NS_PER_S)

    def _write(self, lines: list[str], at_ns: Nanoseconds) -> None:
        """A log that can't be written (a full disk, a closed stream) loses its lines, not the requests."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            prefix = self._prefix(at_ns)
            self._stream.write("".join([f"{prefix}{line}\n" for line in lines]))
            self._stream.flush()

    def _prefix(self, at_ns: Nanoseconds) -> str:
        wall_ns = self._anchor.wall_at(at_ns)
        second = wall_ns // NS_PER_S
        if second != self._stamp_second:
            self._stamp_second, self._stamp = second, f"[{local_stamp(wall_ns)}] "
        return self._stamp
