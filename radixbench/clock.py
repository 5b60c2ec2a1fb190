"""Time as an argument: the one place that reads or spends it.

``MonotonicClock`` reads ``CLOCK_MONOTONIC``, which all processes of one host share, so that stamps of
client, server and sampler lie on one axis. ``ManualClock`` only moves when told to: tests and
simulations run on it. A ``ClockAnchor`` ties the axis to wall-clock time once per run.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

_NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class ClockAnchor:
    """One moment on two axes: the host's monotonic clock and nanoseconds since the Unix epoch."""

    monotonic_ns: int
    wall_ns: int

    def wall_at(self, monotonic_ns: int) -> int:
        """Nanoseconds since the Unix epoch at a moment of the monotonic clock."""
        return self.wall_ns + monotonic_ns - self.monotonic_ns


class Clock(Protocol):
    """Something that tells a monotonic time and can wait."""

    def now_ns(self) -> int:
        """The present moment in nanoseconds; never goes backwards."""
        ...

    def sleep_ns(self, duration: int) -> None:
        """Let ``duration`` nanoseconds pass; returns at once for zero or less."""
        ...


class MonotonicClock:
    """The host's monotonic clock."""

    now_ns = staticmethod(time.monotonic_ns)  # no frame of its own: the client asks once per read

    def sleep_ns(self, duration: int) -> None:
        if duration > 0:
            time.sleep(duration / _NS_PER_S)


@dataclass(slots=True)
class ManualClock:
    """A clock that stands still until ``advance`` or ``sleep_ns`` moves it."""

    at_ns: int = 0

    def now_ns(self) -> int:
        return self.at_ns

    def sleep_ns(self, duration: int) -> None:
        self.advance(max(duration, 0))

    def advance(self, duration: int) -> None:
        """Move the clock forward; a negative duration is refused."""
        if duration < 0:
            raise ValueError(f"a clock can't go back by {-duration} ns")
        self.at_ns += duration


def anchor() -> ClockAnchor:
    """One moment on both axes, read back to back."""
    return ClockAnchor(monotonic_ns=time.monotonic_ns(), wall_ns=time.time_ns())


def utc_stamp() -> str:
    """The present UTC time as ``20261016T140100Z``, fit for a file name."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())


def local_stamp(wall_ns: int) -> str:
    """Local wall-clock time as servers log it: ``2026-10-16 14:01:00``."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(wall_ns // _NS_PER_S))


def process_cpu_ns() -> int:
    """CPU time of this process, user and system, in nanoseconds."""
    return time.process_time_ns()
