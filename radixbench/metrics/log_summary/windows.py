"""The table over time: windows of all ranks laid over each other, no wider than sixty rows need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from radixbench.metrics.log_summary.course import Course
from radixbench.metrics.log_summary.happenings import Happenings
from radixbench.metrics.log_summary.model import Window
from radixbench.metrics.log_summary.stretches import Stretch
from radixbench.metrics.log_summary.sums import Moment, Peaks, Row, Sums
from radixbench.metrics.log_summary.widths import joined, shown_width

ToSums = Callable[[Moment], Sums]


class Lane(NamedTuple):
    """One rank's course, how its sums are read, and how many seconds one unit of their ``work_time`` lasts.

    ``interval_s``: each line tells of so many seconds before it. ``source`` names the rank's server, ``None`` any of the log.
    """

    course: Course
    sums: ToSums
    work_unit_s: float = 1.0
    interval_s: float = 0.0
    source: str | None = None

    @property
    def idle_after_s(self) -> float:
        """Longer gaps between its lines are idle."""
        return self.course.idle_after_s(self.interval_s)

    @property
    def exact(self) -> bool:
        """What lies between its stretches is idle, however short."""
        return self.interval_s > 0.0 or self.course.stretches.exact_s > 0.0

    def stretches(self) -> list[Stretch]:
        """When the rank was at work."""
        return self.course.worked(self.interval_s)


class _Part(NamedTuple):
    sums: Sums
    peaks: Peaks
    work_unit_s: float


def window_table(
    lanes: Sequence[Lane],
    happenings: Happenings,
    main_pool: str,
    label: Callable[[float], str],
    *,
    fixed: bool,
) -> tuple[Window, ...]:
    """Rows in order of time; a window in which nothing was printed is none. ``fixed``: the width was asked for."""
    stored = max([happenings.width, *(lane.course.width for lane in lanes)])
    ranks = [(lane, _at_width(lane.course, stored)) for lane in lanes]
    events = happenings.windows(stored)
    places = {place for _, rows in ranks for place in rows}
    width = stored if fixed else shown_width(stored, places | events.keys())
    factor = round(width / stored)
    shown = [(lane, joined(rows, factor, Row.take)) for lane, rows in ranks]
    counts = joined(events, factor, Counter.update)
    every = sorted({place for _, rows in shown for place in rows} | counts.keys())
    table = []
    for place in every:
        parts = [
            _Part(lane.sums(rows[place].added), rows[place].peaks, lane.work_unit_s)
            for lane, rows in shown
            if place in rows
        ]
        table.append(_window(place * width, width, parts, counts.get(place), main_pool, label))
    return tuple(table)


def _at_width(course: Course, width: float) -> dict[int, Row]:
    """Copies of a rank's windows, joined to ``width``; those in which it printed nothing are left out."""
    copies = {
        place: _copy(row) for place, row in course.rows().items() if place is not None and any(row.added)
    }
    return joined(copies, round(width / course.width), Row.take)


def _copy(row: Row) -> Row:
    copy = Row(row.added)
    copy.peaks.raise_to(row.peaks)
    return copy


def _window(
    start_s: float,
    width: float,
    parts: Sequence[_Part],
    events: Counter[str] | None,
    main_pool: str,
    label: Callable[[float], str],
) -> Window:
    peaks = Peaks()
    for part in parts:
        peaks.raise_to(part.peaks)
    all_sums = [part.sums for part in parts]
    new, reused = sum(one.new_tokens for one in all_sums), sum(one.reused_tokens for one in all_sums)
    output_s = max((part.sums.work_time * part.work_unit_s for part in parts), default=0.0)
    output = sum(part.sums.work * part.work_unit_s for part in parts)
    used = any(one.usage_lines for one in all_sums)
    return Window(
        start_s=start_s,
        length_s=width,
        label=label(start_s),
        prefill_batches=sum(one.prefill_batches for one in all_sums),
        new_tokens=new,
        cached_tokens=reused,
        hit_rate=reused / (reused + new) if reused + new else None,
        decode_batches=sum(one.decode_batches for one in all_sums),
        output_throughput=output / output_s if output_s else None,
        output_tokens=output if output_s else None,
        output_s=output_s or None,
        running_max=peaks.running if any(one.running_lines for one in all_sums) else None,
        queue_max=peaks.queue if any(one.queue_lines for one in all_sums) else None,
        usage_max=peaks.usage if used else None,
        pools={**({main_pool: peaks.usage} if used else {}), **peaks.pools},
        server_hit_rate=peaks.server_hit,
        events=dict(events or {}),
    )
