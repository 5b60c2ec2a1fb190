"""Which of a sheet's decode rates count, and what they come to: ``DecodePace`` for many lines at once.

Most lines count without a second look, and go by columns. From a line that follows an idle gap or stalls, the pace is
asked line by line, until one counts again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from radixbench.metrics.log_summary.course import Course
from radixbench.metrics.log_summary.pace import DecodePace
from radixbench.metrics.log_summary.sheet import Counts, Rates, Sheet, Truths
from radixbench.metrics.log_summary.sums import Sums


class Worked(NamedTuple):
    """For each line of a sheet the tokens it covers and the time they took; 0 where the line doesn't count."""

    work: Rates
    took: Rates


def worked(pace: DecodePace, course: Course, sheet: Sheet, resting: Truths, probes: Truths) -> Worked:
    """What each line's rate comes to; ``pace`` goes on from there. ``course`` must not have reached the sheet yet.

    ``resting`` marks lines before which nothing was at work, ``probes`` those that are no work themselves.
    """
    running, rate = sheet.counts("running_req"), sheet.rates("gen_throughput")
    accept = sheet.rates("accept_len") if sheet.has("accept_len") else np.ones(len(sheet))
    accept = np.where(np.isnan(accept), 1.0, accept)
    told = ~sheet.prefill & (running > 0) & (rate > 0) & (accept > 0)
    work = np.where(told, running * accept, 0.0)
    took = np.divide(work, rate, out=np.zeros(len(sheet)), where=told)
    gaps = _gaps(course, sheet, probes)
    _Walk(pace, sheet, gaps, resting, np.flatnonzero(told)).go(accept, Worked(work, took))
    return Worked(work, took)


def _gaps(course: Course, sheet: Sheet, probes: Truths) -> Rates:
    """The time since the rank's last work, of each line; ``nan`` where there was none."""
    last = -np.inf if course.last_s is None else course.last_s
    work = np.concatenate(([last], np.where(probes, -np.inf, sheet.at)[:-1]))
    gaps: Rates = np.maximum(sheet.at - np.maximum.accumulate(work), 0.0)
    gaps[np.isinf(gaps)] = np.nan
    return gaps


class _Walk:
    """Along the decode lines of a sheet that have a rate; ``places`` are theirs among all lines."""

    def __init__(self, pace: DecodePace, sheet: Sheet, gaps: Rates, resting: Truths, places: Counts) -> None:
        self._pace = pace
        self._gaps = gaps
        self._resting = resting
        self._places = places
        self._running, self._rate = sheet.counts("running_req"), sheet.rates("gen_throughput")
        self._each: Rates = self._running[places] / self._rate[places]
        self._prefills = np.flatnonzero(sheet.prefill)
        self._fresh: Truths = self._running[self._prefills] <= 0
        self._prefills_before = np.append(np.searchsorted(self._prefills, places), len(self._prefills))

    def go(self, accept: Rates, worked: Worked) -> None:
        """Lines that need a look get in ``worked`` what they come to."""
        pace, each = self._pace, self._each
        doubtful = np.flatnonzero(self._doubtful())
        sure = pace.steady
        place = 0
        while place < len(each):
            if sure:
                next_doubtful = np.searchsorted(doubtful, place)
                end = int(doubtful[next_doubtful]) if next_doubtful < len(doubtful) else len(each)
                if end > place:
                    pace.go_on(float(each[end - 1]))
                    place = end
                    continue
            self._tell_prefills(place)
            line = int(self._places[place])
            scratch = Sums()
            idle_s = float(np.nan_to_num(self._gaps[line])) if self._resting[line] else None
            pace.line(scratch, int(self._running[line]), float(accept[line]), float(self._rate[line]), idle_s)
            worked.work[line], worked.took[line] = scratch.work, scratch.work_time
            sure = pace.steady and pace.counted_each == each[place]
            place += 1
        self._tell_prefills(len(each))

    def _doubtful(self) -> Truths:
        """Lines that may follow an idle gap, or stall against the line before."""
        between = np.diff(self._prefills_before[:-1], prepend=0) > 0
        fresh = np.concatenate(([0], np.cumsum(self._fresh)))[self._prefills_before[:-1]]
        before = np.concatenate(([self._pace.counted_each], self._each[:-1]))
        doubtful: Truths = (np.diff(fresh, prepend=0) > 0) | self._pace.stalls(self._each, before, between)
        return doubtful

    def _tell_prefills(self, place: int) -> None:
        """Tell the pace of the prefill lines since the decode line before this place."""
        start = int(self._prefills_before[place - 1]) if place else 0
        stop = int(self._prefills_before[place])
        if start == stop:
            return
        for line in self._prefills[start:stop][self._fresh[start:stop]].tolist():
            running, gap = int(self._running[line]), float(self._gaps[line])
            resting = bool(self._resting[line])
            self._pace.prefilled(None if running < 0 else running, None if np.isnan(gap) else gap, resting)
        self._pace.prefilled(1, 0.0, False)
