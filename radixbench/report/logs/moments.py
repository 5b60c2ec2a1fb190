"""Where on a log's axis something happened: each event at its own moment, or by window where not all were kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from radixbench.metrics.log_summary.model import LogSummary, Window
from radixbench.report import text
from radixbench.report.logs.labels import event_word
from radixbench.report.logs.time_axis import TimeAxis

_RESOLUTION = 300


class Moment(NamedTuple):
    """``n`` events of one name, the first of them at ``at`` on the axis, drawn until ``end``."""

    at: float
    end: float
    name: str
    n: int
    label: str

    @property
    def tip(self) -> str:
        """``2026-08-23 21:04:55: 3 retract``."""
        return f"{self.label}: {text.count(self.n)} {self.name}"


def moments(summary: LogSummary, windows: Sequence[Window], axis: TimeAxis) -> tuple[Moment, ...]:
    """What happened within ``windows``, in order; events of one name too close to be told apart are one."""
    counted: Counter[str] = sum((Counter(window.events) for window in windows), Counter())
    kept = Counter(event.name for event in summary.events if event.at_s is not None)
    by_window = {name for name, n in counted.items() if kept[name] < n}
    found = [*_exact(summary, by_window, axis), *_of_windows(windows, by_window, axis)]
    return tuple(sorted(found, key=lambda moment: moment.at))


def _exact(summary: LogSummary, left_out: set[str], axis: TimeAxis) -> Iterator[Moment]:
    width = axis.end / _RESOLUTION
    found: dict[tuple[str, int], Moment] = {}
    for event in summary.events:
        if event.at_s is None or event.name in left_out:
            continue
        at = min(axis.at(event.at_s), axis.end - width)
        place = (event.name, int(at / width))
        first = found.setdefault(place, Moment(at, at + width, event_word(event.name), 0, event.label))
        found[place] = first._replace(n=first.n + 1)
    yield from found.values()


def _of_windows(windows: Sequence[Window], names: set[str], axis: TimeAxis) -> Iterator[Moment]:
    for window in windows:
        for name, n in window.events.items():
            if name in names:
                start, end = axis.at(window.start_s), axis.at(window.start_s + window.length_s)
                yield Moment(start, end, event_word(name), n, window.label)
