"""How the hit rate went: with time, and with the number of requests at work."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.metrics.log_summary.model import Note
from radixbench.metrics.log_summary.notes.words import percent
from radixbench.metrics.log_summary.reading import Reading
from radixbench.metrics.log_summary.trends import fall_over_time, fall_with_concurrency

_EMPTYING = {
    "flush": "the cache was flushed",
    "reset_prefix_cache": "the cache was flushed",
    "server_args": "the server was started again",
}


def course_notes(reading: Reading) -> Iterator[Note]:
    """Notes on a hit rate that fell."""
    fall = fall_over_time(reading.windows)
    if fall is not None:
        why = next(
            (
                f", after {words}"
                for name, words in _EMPTYING.items()
                if any(name in one.events for one in fall.between)
            ),
            "",
        )
        yield Note(
            "hit-rate-fell",
            f"The hit rate fell from {percent(fall.high)} (from {fall.high_from}) to {percent(fall.low)} (from {fall.low_from}){why}.",
        )
    steep = fall_with_concurrency(reading.concurrency)
    usage = reading.figures.pressure.pools.get(reading.figures.main_pool)
    if steep is not None and usage is not None and usage < 0.9:
        yield Note(
            "fell-with-concurrency",
            f"The hit rate fell with concurrency: {percent(steep.low_load)} with fewer than {steep.below:,} requests at work, {percent(steep.high_load)} with more, although the pool "
            f"was never used above {usage:.2f}. Requests that arrive together can't reuse each other's prefix.",
        )
