"""The cumulative hit rate that servers up to 0.4.3 print, beside our own sum over the same lines.

The server counts since its start or its last flush. Where the log tells of one, or its first rates above 0 are our own to the printed
digit, both count from the same moment and have to agree; a log that begins later can't be checked. Of a part of a log, or after a
line whose tokens are lost to our sum, only what follows the next start or flush can.
"""

from __future__ import annotations

from enum import Enum

_HALF_DIGIT = 0.00501


class _Since(Enum):
    """Since when the server counts, as far as the log tells."""

    UNKNOWN = 0
    START = 1
    EARLIER = 2
    UNTOLD = 3


class RunningRate:
    """Takes the prefill lines of one rank that print a rate.

    ``differing`` of ``checked`` lines contradict our sum, ``example`` is the first (printed, own). ``zero_despite`` lines print 0.00 % although
    ``least_cached`` tokens at least had been reused by then.
    """

    __slots__ = (
        "_since", "cached", "checked", "differing", "example", "least_cached", "printed", "prompt", "zero_despite",
    )  # fmt: skip

    def __init__(self, *, from_start: bool = True) -> None:
        self.cached = 0
        self.prompt = 0
        self.printed: float | None = None
        self.checked = 0
        self.differing = 0
        self.zero_despite = 0
        self.least_cached = 0
        self.example: tuple[float, float] | None = None
        self._since = _Since.UNKNOWN if from_start else _Since.UNTOLD

    def reset(self) -> None:
        """The server started or flushed its cache: its count begins at 0."""
        self.cached = self.prompt = 0
        self._since = _Since.START

    def lose(self) -> None:
        """A prefill line that can't be read in full: the server counted its tokens, our sum may lack them."""
        if self._since is not _Since.EARLIER:
            self._since = _Since.UNTOLD

    def add(self, new: int, cached: int, printed: float) -> None:
        """One prefill line and the rate it prints, in percent."""
        self.cached += cached
        self.prompt += cached + new
        self.printed = printed
        own = self.percent
        if own is None:
            return
        differs = abs(own - printed) > _HALF_DIGIT
        if printed == 0.0 and cached > 0 and self._since is not _Since.UNTOLD:
            self.zero_despite += 1
            self.least_cached = self.cached
        if self._since is _Since.START:
            self.checked += 1
            if differs:
                self.differing += 1
                self.example = self.example or (printed, own)
        elif differs and self._since is _Since.UNKNOWN:
            self._since = _Since.EARLIER
        elif own > 0.0 and self._since is _Since.UNKNOWN:
            self._since = _Since.START
            self.checked += 1

    @property
    def percent(self) -> float | None:
        """Cached of all prompt tokens since the last reset, as the server would print it; ``None`` before any."""
        return round(100 * self.cached / self.prompt, 2) if self.prompt else None

    @property
    def begins_later(self) -> bool:
        """The server counted before this log began."""
        return self._since is _Since.EARLIER
