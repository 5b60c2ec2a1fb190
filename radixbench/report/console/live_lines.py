"""What a live view shows of an event: lines that fit a terminal's width, each cut rather than wrapped.

Below 70 columns there are no bars, and what is in progress takes two lines, so that of each the beginning says it.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from radixbench.report import text
from radixbench.report.cells import cell_title
from radixbench.report.console.event import ProgressEvent, RunningEstimate
from radixbench.report.console.plain import clean

_WIDE = 70
_BAR = 24
_SHORTEST_LEFT_S = 1.0
_STAGE_WORDS = {
    "start-server": "starting the server,",
    "warm-up": "warming up",
    "measure": "measuring",
    "saved": "saved",
}


def live_lines(event: ProgressEvent, width: int, *, plain_bars: bool = False) -> list[Text]:
    """The whole sweep, the present run, its cell's estimates so far, the clocks, and what went wrong.

    ``plain_bars`` draws bars of ASCII.
    """
    wide = width >= _WIDE
    return [_line(line, style) for line, style in _lines(event, wide=wide, plain_bars=plain_bars)]


def _lines(event: ProgressEvent, *, wide: bool, plain_bars: bool) -> Iterator[tuple[str, str]]:
    over = finished(event)
    if event.runs:
        bar = _bar(over, event.runs, plain=plain_bars) if wide else ""
        yield _joined(f"{bar}{over}/{event.runs} runs", time_left(event, brief=not wide)), "bold"
    if wide:
        bar = _bar(event.done, event.total, plain=plain_bars) if event.total else ""
        yield f"{bar}{_counted(event)}{describe(event)}", ""
    else:
        yield f"{_counted(event)}{describe(event, cell=False)}", ""
        if event.cell:
            yield clean(cell_title(event.cell)), ""
    for one in event.running:
        yield estimate(one, event.target, brief=not wide), "cyan"
    if event.clock:
        yield clean(event.clock), "dim"
    faults = errors(event, brief=not wide)
    if faults:
        yield faults, "bold red"


def finished(event: ProgressEvent) -> int:
    """Runs that are over."""
    return max(event.run if event.stage == "saved" else event.run - 1, 0)


def describe(event: ProgressEvent, *, cell: bool = True) -> str:
    """``measuring 4,096 shared tokens, cache off, seed 1``."""
    parts = [cell_title(event.cell)] if event.cell and cell else []
    arm = event.arm or event.mode
    if arm is not None:
        parts.append(f"cache {arm}")
    if event.seed is not None:
        parts.append(f"seed {event.seed}")
    stage = _STAGE_WORDS.get(event.stage, event.stage)
    return clean(f"{stage} {', '.join(parts)}" if parts else event.text or stage.rstrip(","))


def time_left(event: ProgressEvent, *, brief: bool = False) -> str:
    """``about 2 min 05 s left``; where seeds are added how long that may take by the spread so far, and to the next look."""
    if event.limit_s is not None:
        limit = _time(event.limit_s)
        return f"{limit} to --max-time" if limit else "until --max-time"
    left = _time(event.left_s)
    if event.target is None:
        return f"about {left} left" if left else ""
    aim = f"±{text.share(event.target)}"
    further = _time(event.target_left_s)
    if not event.target_near:
        aim = f"the most seeds ({aim} may need more)"
    whole = f"about {further} to {aim}" if further else f"until {aim}"
    return f"{whole}, next look in {left}" if left and not brief else whole


def estimate(one: RunningEstimate, target: float | None = None, *, brief: bool = False) -> str:
    """``TTFT, median 30.1× (28.2–32.0), ±6.4 % (wanted ±5 %) of 3 seeds``; an interval that says nothing has no ends."""
    from radixbench.report.words import metric_title  # noqa: PLC0415 - loads numpy, which a bar without a figure needn't

    half = _half_width(one)
    span = (one.value, one.low, one.high) if half is not None and half < 1 else (one.value, None, None)
    figure = text.factor(*span) if one.unit == "x" else text.quantity(span[0], one.unit, *span[1:])
    line = f"{metric_title(one.metric)} {figure.whole}"
    if brief:
        return clean(line)
    seeds = text.plural(one.n, "seed")
    if half is None:
        return clean(f"{line} of {seeds}")
    aim = "" if target is None else f" (wanted ±{text.share(target)})"
    width = text.percent(half) if half < 1 else "100 % and more"
    return clean(f"{line}, ±{width}{aim} of {seeds}")


def errors(event: ProgressEvent, *, brief: bool = False) -> str:
    """``2 requests of this run failed, 1 run failed or incomplete``; "" while all is well."""
    if brief:
        counts = (
            text.plural(count, noun)
            for count, noun in ((event.errors, "request"), (event.failed_runs, "run"))
            if count
        )
        told = ", ".join(counts)
        return f"failed: {told}" if told else ""
    parts = []
    if event.errors:
        parts.append(f"{text.plural(event.errors, 'request')} of this run failed")
    if event.failed_runs:
        parts.append(f"{text.plural(event.failed_runs, 'run')} failed or incomplete")
    return ", ".join(parts)


def _half_width(one: RunningEstimate) -> float | None:
    if one.low is None or one.high is None or one.value == 0:
        return None
    return max(one.high - one.value, one.value - one.low) / abs(one.value)


def _time(seconds: float | None) -> str:
    return "" if seconds is None or seconds < _SHORTEST_LEFT_S else text.left(seconds)


def _counted(event: ProgressEvent) -> str:
    return f"{event.done}/{event.total} " if event.total else ""


def _bar(done: int, total: int, *, plain: bool) -> str:
    full = min(_BAR * done // max(total, 1), _BAR)
    filled, empty = ("#", "-") if plain else ("━", "╌")
    return f"{filled * full}{empty * (_BAR - full)} "


def _joined(first: str, second: str) -> str:
    return f"{first}, {second}" if second else first


def _line(line: str, style: str) -> Text:
    return Text(line, style=style, no_wrap=True, overflow="ellipsis")
