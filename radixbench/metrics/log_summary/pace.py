"""Decode throughput from printed rates: tokens over the time they took.

A decode line covers a fixed number of steps (40 by default), hence interval x running x accepted tokens, and its
rate says how long they took: the interval cancels in the ratio of the sums. A rate that includes idle time says nothing
about decoding, so such lines are left out: a rank's first, one after an idle gap, and, where no prefill line can tell of a gap,
one whose tokens took more than five times as long as those of both its neighbours.
"""

from __future__ import annotations

from radixbench.metrics.log_summary.sheet import Rates, Truths
from radixbench.metrics.log_summary.sums import Sums

_STALL = 5.0
_DILUTED = 2.0
_REST_S = 1.0


class DecodePace:
    """Takes the decode lines of one rank, and word of the prefill lines between them."""

    __slots__ = ("_each", "_fresh", "_prefilled", "_rest_s", "_started", "_suspect", "left_out")

    def __init__(self) -> None:
        self.left_out = 0
        self._started = False
        self._fresh = False
        self._prefilled = False
        self._rest_s: float | None = 0.0
        self._each = 0.0
        self._suspect: tuple[float, float, float] | None = None

    def start_again(self) -> None:
        """The server restarted: the next line is a first one."""
        self._started = False

    def prefilled(self, running: int | None, gap_s: float | None) -> None:
        """A prefill line that found ``running`` requests, ``gap_s`` after the line before it."""
        self._prefilled = True
        if not running:
            self._fresh = True
            if gap_s is None:
                self._rest_s = None
            elif self._rest_s is not None and gap_s > self._rest_s:
                self._rest_s = gap_s

    def line(self, sums: Sums, running: int, accept: float, rate: float) -> None:
        """A decode line; ``accept``: tokens for each request and step. Adds to ``sums`` what can be trusted."""
        work = running * accept
        took = work / rate
        each = running / rate
        suspect = self._suspect
        if suspect is not None:
            self._suspect = None
            self._resolve(sums, suspect, each)
        trusted = self._started and not (self._fresh and self._rested(each))
        if not trusted:
            self.left_out += 1
        elif self._each and not self._prefilled and each > _STALL * self._each:
            self._suspect = (work, took, each)
        else:
            sums.work += work
            sums.work_time += took
            self._each = each
        self._started = True
        self._fresh = self._prefilled = False
        self._rest_s = 0.0

    @property
    def steady(self) -> bool:
        """The next line is judged by the last one that counted, and by nothing else."""
        return self._started and not self._fresh and self._suspect is None

    @property
    def counted_each(self) -> float:
        """Seconds for a token of one request, of the last line that counted; 0 before one did."""
        return self._each

    def go_on(self, each: float) -> None:
        """Lines up to one with ``each`` seconds for a token counted."""
        self._each = each
        self._prefilled = False

    def stalls(self, each: Rates, before: Rates, prefilled: Truths) -> Truths:
        """Lines that take so much longer than the one before that only idling explains it."""
        found: Truths = ~prefilled & (before > 0.0) & (each > _STALL * before)
        return found

    def _rested(self, each: float) -> bool:
        """Whether the batch that began anew did so after a gap worth speaking of."""
        rest = self._rest_s
        return rest is None or rest > _REST_S or (self._each > 0.0 and each > _DILUTED * self._each)

    def _resolve(self, sums: Sums, suspect: tuple[float, float, float], next_each: float) -> None:
        work, took, each = suspect
        if each > _STALL * next_each:
            self.left_out += 1
        else:
            sums.work += work
            sums.work_time += took
            self._each = each
