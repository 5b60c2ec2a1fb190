"""One call at a moment, as exactly as the system allows.

An event loop's own timers are as coarse as its poll, a millisecond. Where the kernel offers a timer as a file (Linux),
the loop is woken by that, to tens of microseconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import sys
from collections.abc import Callable
from typing import Protocol

from radixbench.clock import Clock
from radixbench.units import NS_PER_S

_CLOCK_MONOTONIC = 1
_ABSOLUTE = 1


class Alarm(Protocol):
    """Calls back, not before a moment, until that is set anew."""

    def set(self, at_ns: int | None) -> None:
        """Call back at ``at_ns`` of the monotonic clock, or not at all."""
        ...

    def close(self) -> None:
        """Never call back again."""
        ...


def make_alarm(ring: Callable[[], None], clock: Clock) -> Alarm:
    """The best alarm of this platform, on the running event loop."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # a kernel or C library without timers as files
            return _KernelAlarm(ring)
    return _LoopAlarm(ring, clock)


class _Interval(ctypes.Structure):
    """C's ``struct itimerspec``: a period, which stays 0, and the moment."""

    _fields_ = (
        ("period_s", ctypes.c_long),
        ("period_ns", ctypes.c_long),
        ("s", ctypes.c_long),
        ("ns", ctypes.c_long),
    )


class _KernelAlarm:
    def __init__(self, ring: Callable[[], None]) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        self._settime = library.timerfd_settime
        self._file = library.timerfd_create(_CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
        if self._file < 0:
            raise OSError(ctypes.get_errno(), "no timer to be had")
        self._moment = _Interval()
        self._reference = ctypes.byref(self._moment)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._file, ring)  # setting it anew also quietens it: nothing need be read

    def set(self, at_ns: int | None) -> None:
        self._moment.s, self._moment.ns = divmod(0 if at_ns is None else max(at_ns, 1), NS_PER_S)  # 0: never
        self._settime(self._file, _ABSOLUTE, self._reference, None)

    def close(self) -> None:
        self._loop.remove_reader(self._file)
        os.close(self._file)


class _LoopAlarm:
    def __init__(self, ring: Callable[[], None], clock: Clock) -> None:
        self._ring = ring
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._handle: asyncio.TimerHandle | None = None

    def set(self, at_ns: int | None) -> None:
        self.close()
        if at_ns is None:
            return
        self._handle = self._loop.call_later(max(at_ns - self._clock.now_ns(), 0) / NS_PER_S, self._ring)

    def close(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
