"""Windows as rows to draw: one trace for each thing a window tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from radixbench.metrics.log_summary.model import Window
from radixbench.report import text
from radixbench.report.logs.numbers import per_second, rate, usage
from radixbench.report.logs.stretches import share
from radixbench.report.logs.time_axis import TimeAxis
from radixbench.report.logs.windows import pool_names
from radixbench.report.model import Row

NEW, CACHED = "new", "cached"
_HEADROOM = 1.15
_PERCENT = 100.0
_SPECK = 0.012
"""The share of the axis below which a line can't be seen."""


class Trace(NamedTuple):
    """Rows with their names and unit; ``y_top`` is the end of the scale, ``None`` where it needs none."""

    title: str
    summary: str
    series: tuple[str, ...]
    rows: tuple[Row, ...]
    y_top: float | None = None


class _Line(NamedTuple):
    """One stepped line: its name, the windows' values (``None`` is a gap) and how a value is told.

    A line that ``lasts`` keeps its value where there is no window.
    """

    series: str
    values: Sequence[float | None]
    told: Callable[[float], str]
    lasts: bool = False


def tokens(windows: Sequence[Window], axis: TimeAxis) -> Trace:
    """Computed prompt tokens with the cached ones on top."""
    rows = tuple(row for window in windows for row in _bar(window, axis))
    new, cached = sum(w.new_tokens for w in windows), sum(w.cached_tokens for w in windows)
    told = f"{text.count(new)} new and {text.count(cached)} cached tokens"
    return Trace(
        title="Prompt tokens, new and cached",
        summary=f"New and cached prompt tokens over time: {told} in all.",
        series=(NEW, CACHED),
        rows=rows,
        y_top=float(max((w.new_tokens + w.cached_tokens for w in windows), default=0)) or 1.0,
    )


def hit_rate(windows: Sequence[Window], axis: TimeAxis) -> Trace | None:
    """Each window's own rate, that of all windows so far, and the server's own window where it prints one."""
    lines: list[_Line] = []
    if any(w.hit_rate is not None for w in windows):
        cached = list(accumulate(w.cached_tokens for w in windows))
        new = list(accumulate(w.new_tokens for w in windows))
        so_far = [share(c, n) for c, n in zip(cached, new, strict=True)]
        lines += [
            _Line("in the window", [w.hit_rate for w in windows], rate),
            _Line("so far", so_far, rate, lasts=True),
        ]
    title = "Hit rate" if lines else "Hit rate in the server's own window, as it prints it"
    if any(w.server_hit_rate is not None for w in windows):
        lines.append(_Line("server's own window", [w.server_hit_rate for w in windows], rate))
    return _percent_trace(title, windows, axis, lines)


def load(windows: Sequence[Window], axis: TimeAxis) -> Trace | None:
    """Running and waiting requests, the most that any line of the window printed."""
    lines = [
        _Line("running", [w.running_max for w in windows], _whole),
        _Line("waiting", [w.queue_max for w in windows], _whole),
    ]
    return _trace("Requests, most in the window", "", windows, axis, lines)


def pools(windows: Sequence[Window], axis: TimeAxis) -> Trace | None:
    """The highest printed usage of every pool."""
    names = pool_names(windows)
    lines = [_Line(name, [w.pools.get(name) for w in windows], usage) for name in names]
    return _percent_trace("Pool usage, highest in the window", windows, axis, lines)


def output(windows: Sequence[Window], axis: TimeAxis) -> Trace | None:
    """Generated tokens over the time their lines cover."""
    lines = [_Line("output", [w.output_throughput for w in windows], per_second)]
    return _trace("Output throughput", "tokens/s", windows, axis, lines)


def _whole(value: float) -> str:
    return text.count(round(value))


def _bar(window: Window, axis: TimeAxis) -> Iterator[Row]:
    new, cached = window.new_tokens, window.cached_tokens
    tip = f"{window.label}: {text.count(new)} new, {text.count(cached)} cached"
    base: Row = {"t": axis.at(window.start_s), "t2": axis.at(window.start_s + window.length_s), "tip": tip}
    if new:
        yield {**base, "y": 0, "y2": new, "series": NEW}
    if cached:
        yield {**base, "y": new, "y2": new + cached, "series": CACHED}


def _percent_trace(
    title: str, windows: Sequence[Window], axis: TimeAxis, lines: Sequence[_Line]
) -> Trace | None:
    scaled = [
        line._replace(
            values=[None if value is None else _PERCENT * value for value in line.values],
            told=_of_hundred(line.told),
        )
        for line in lines
    ]
    trace = _trace(title, "%", windows, axis, scaled)
    if trace is None:
        return None
    heights = [float(y) for row in trace.rows if isinstance(y := row["y"], int | float)]
    return trace._replace(y_top=max(_PERCENT, *heights))


def _of_hundred(told: Callable[[float], str]) -> Callable[[float], str]:
    return lambda value: told(value / _PERCENT)


def _trace(
    title: str, unit: str, windows: Sequence[Window], axis: TimeAxis, lines: Sequence[_Line]
) -> Trace | None:
    known = [line for line in lines if any(value is not None for value in line.values)]
    if not known:
        return None
    rows = tuple(row for line in known for row in _steps(line, windows, axis))
    spoken = "; ".join(_spoken(line) for line in known)
    top = max(value for line in known for value in line.values if value is not None)
    return Trace(
        title=f"{title}, {unit}" if unit else title,
        summary=f"{title}, over time: {spoken}.",
        series=tuple(line.series for line in known),
        rows=rows,
        y_top=_HEADROOM * top or 1.0,
    )


def _spoken(line: _Line) -> str:
    values = [value for value in line.values if value is not None]
    return f"{line.series} from {line.told(min(values))} to {line.told(max(values))}, last {line.told(values[-1])}"


def _steps(line: _Line, windows: Sequence[Window], axis: TimeAxis) -> Iterator[Row]:
    """A row where each window begins, and one where a run of windows without a gap ends."""
    for place, run in enumerate(_runs(line, windows)):
        rows: list[Row] = [
            {
                "t": axis.at(window.start_s),
                "y": round(value, 4),
                "series": line.series,
                "run": f"{line.series} {place}",
                "tip": f"{window.label}: {line.series} {line.told(value)}",
            }
            for window, value in run
        ]
        first, last = run[0][0], run[-1][0]
        end = axis.at(last.start_s + last.length_s)
        if end - axis.at(first.start_s) < _SPECK * axis.end:
            rows[0]["lone"] = True
        yield from rows
        yield {**_without(rows[-1], "lone"), "t": end}


def _runs(line: _Line, windows: Sequence[Window]) -> list[list[tuple[Window, float]]]:
    """Windows with values that follow each other without a gap."""
    runs: list[list[tuple[Window, float]]] = []
    goes_on = False
    for window, value in zip(windows, line.values, strict=True):
        if value is None:
            goes_on = line.lasts
            continue
        last = runs[-1][-1][0] if runs else None
        follows = last is not None and window.start_s - last.start_s - last.length_s <= window.length_s / 2
        if runs and (line.lasts or (goes_on and follows)):
            runs[-1].append((window, value))
        else:
            runs.append([(window, value)])
        goes_on = True
    return runs


def _without(row: Row, key: str) -> Row:
    return {name: value for name, value in row.items() if name != key}
