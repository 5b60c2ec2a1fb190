"""How the hit rate went: with time, and with the number of requests at work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from radixbench.metrics.log_summary.model import Note, Window
from radixbench.metrics.log_summary.notes.words import percent, several
from radixbench.metrics.log_summary.reading import Reading
from radixbench.metrics.log_summary.trends import Fall, fall_over_time, fall_with_concurrency

_WORDS = {
    "server_args": "server start",
    "flush": "flush",
    "reset_prefix_cache": "flush",
    "retract": "retraction",
    "preempt": "preemption",
}
_PLURALS = {"flush": "flushes"}


def course_notes(reading: Reading) -> Iterator[Note]:
    """Notes on a hit rate that fell."""
    fall = fall_over_time(reading.windows)
    if fall is not None:
        yield Note("hit-rate-fell", _fell(fall))
    steep = fall_with_concurrency(reading.concurrency)
    usage = reading.figures.pressure.pools.get(reading.figures.main_pool)
    if steep is not None and usage is not None and usage < 0.9:
        yield Note(
            "fell-with-concurrency",
            f"The hit rate fell with concurrency: {percent(steep.low_load)} with fewer than {steep.below:,} requests at work, {percent(steep.high_load)} with more, although the pool "
            f"was never used above {usage:.2f}. Requests that arrive together can't reuse each other's prefix.",
        )


def _fell(fall: Fall) -> str:
    """Both sides as sums that the windows' rows give, and what happened between them and after."""
    high, low = fall.high, fall.low
    until = "" if high.last is high.first else f" to {_clock(high.last, high.first)}"
    place = "window of" if high.last is high.first else "windows from"
    told = (
        f"The hit rate fell: {percent(high.rate)} = {high.cached:,} / {high.cached + high.new:,} in the {place} {high.first.label}{until}; "
        f"{percent(low.rate)} = {low.cached:,} / {low.cached + low.new:,} from {_clock(low.first, high.first)} to the end"
    )
    between, later = _events(fall.between), _events(fall.later)
    if between:
        told += f"; in between: {between}"
    if later:
        told += f"; after that: {later}"
    return f"{told}."


def _clock(window: Window, known: Window) -> str:
    """A window's label, without its date where that is known."""
    date, _, clock = window.label.rpartition(" ")
    return clock if known.label.startswith(f"{date} ") else window.label


def _events(windows: Sequence[Window]) -> str:
    counts: Counter[str] = Counter()
    for window in windows:
        for name, n in window.events.items():
            if name in _WORDS:
                counts[_WORDS[name]] += n
    return ", ".join(several(n, word, _PLURALS.get(word)) for word, n in counts.items())
