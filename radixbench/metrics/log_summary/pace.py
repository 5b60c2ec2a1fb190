"""Decode throughput from printed rates: tokens over the time they took.

A decode line covers a fixed number of steps (40 by default), hence interval x running x accepted tokens, and its
rate says how long they took: the interval cancels in the ratio of the sums. A rate that includes idle time says nothing
about decoding, so such lines are left out: a rank's first, one after an idle gap, and, where no prefill line can tell of a gap,
one whose tokens took more than five times as long as those of both its neighbours. Only after a gap that parts phases a line follows
an idle gap; the rates of the others are diluted by a shorter rest.
"""

from __future__ import annotations

from collections import Counter
from math import ceil

from radixbench.metrics.log_summary.sheet import Rates, Truths
from radixbench.metrics.log_summary.sums import Sums

_STALL = 5.0
_DILUTED = 2.0
_REST_S = 1.0
_LONGEST_REST = 86_400

FIRST, AFTER_IDLE, DILUTED = "first of a rank", "after an idle gap", "diluted"


class DecodePace:
    """Takes the decode lines of one rank, and word of the prefill lines between them."""

    __slots__ = (
        "_each", "_firsts", "_fresh", "_idle_s", "_prefilled", "_rest_s", "_rests", "_started", "_suspect",
    )  # fmt: skip

    def __init__(self) -> None:
        self._firsts = 0
        self._rests: Counter[int] = Counter()
        self._idle_s = 0.0
        self._started = False
        self._fresh = False
        self._prefilled = False
        self._rest_s: float | None = 0.0
        self._each = 0.0
        self._suspect: tuple[float, float, float, float] | None = None

    def start_again(self) -> None:
        """The server restarted: the next line is a first one."""
        self._started = False

    @property
    def left_out(self) -> int:
        """Lines whose rate says nothing about decoding."""
        return self._firsts + sum(self._rests.values())

    def reasons(self, idle_after_s: float) -> dict[str, int]:
        """How many were left out for which reason; a longer gap than ``idle_after_s`` is idle."""
        idle = sum(lines for rest, lines in self._rests.items() if rest > idle_after_s)
        found = {FIRST: self._firsts, AFTER_IDLE: idle, DILUTED: sum(self._rests.values()) - idle}
        return {reason: lines for reason, lines in found.items() if lines}

    def prefilled(self, running: int | None, gap_s: float | None, resting: bool) -> None:
        """A prefill line that found ``running`` requests, ``gap_s`` after the rank's last work; ``resting``: none waited either."""
        self._prefilled = True
        if resting and gap_s is not None and gap_s > self._idle_s:
            self._idle_s = gap_s
        if not running:
            self._fresh = True
            if gap_s is None:
                self._rest_s = None
            elif self._rest_s is not None and gap_s > self._rest_s:
                self._rest_s = gap_s

    def line(self, sums: Sums, running: int, accept: float, rate: float, idle_s: float | None = None) -> None:
        """A decode line; ``accept``: tokens for each request and step. Adds to ``sums`` what can be trusted.

        ``idle_s``: the gap before it, where no prefill line can tell of one.
        """
        work = running * accept
        took = work / rate
        each = running / rate
        suspect = self._suspect
        if suspect is not None:
            self._suspect = None
            self._resolve(sums, suspect, each)
        if not self._started:
            self._firsts += 1
        elif self._fresh and self._rested(each):
            self._leave_out(self._idle_s)
        elif self._each and not self._prefilled and each > _STALL * self._each:
            self._suspect = (work, took, each, idle_s or 0.0)
        else:
            sums.work += work
            sums.work_time += took
            self._each = each
        self._started = True
        self._fresh = self._prefilled = False
        self._rest_s = self._idle_s = 0.0

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

    def _leave_out(self, rest_s: float) -> None:
        self._rests[min(ceil(rest_s), _LONGEST_REST)] += 1

    def _resolve(self, sums: Sums, suspect: tuple[float, float, float, float], next_each: float) -> None:
        work, took, each, rest_s = suspect
        if each > _STALL * next_each:
            self._leave_out(rest_s)
        else:
            sums.work += work
            sums.work_time += took
            self._each = each
