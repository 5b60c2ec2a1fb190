"""What is kept of a log while it is read, dialect by dialect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from radixbench.metrics.log_summary.batch_log import BatchLog, Retractions
from radixbench.metrics.log_summary.course import Course
from radixbench.metrics.log_summary.happenings import Happenings
from radixbench.metrics.log_summary.periodic_log import PeriodicLog
from radixbench.metrics.log_summary.server import ServerFacts
from radixbench.metrics.log_summary.starts import Starts
from radixbench.metrics.log_summary.timing_log import TimingLog


@dataclass(slots=True)
class Kept:
    """Bounded, however long the log. ``window_s`` is the width of windows that was asked for."""

    window_s: float | None
    sglang: BatchLog
    ours: BatchLog
    vllm: PeriodicLog
    llamacpp: TimingLog
    retractions: Retractions
    happenings: Happenings
    servers: dict[str, ServerFacts] = field(default_factory=dict)
    starts: dict[str, Starts] = field(default_factory=dict)

    @classmethod
    def empty(cls, window_s: float | None) -> Kept:
        """Nothing read yet."""
        return cls(
            window_s,
            BatchLog(window_s),
            BatchLog(window_s),
            PeriodicLog(window_s),
            TimingLog(window_s),
            Retractions(),
            Happenings(window_s),
        )

    @property
    def server(self) -> ServerFacts:
        """What the log's server says of itself; of several, what they say alike."""
        return ServerFacts.agreed(list(self.servers.values()))

    def server_of(self, source: str) -> ServerFacts:
        """What one of several servers says of itself."""
        return self.servers.setdefault(source, ServerFacts())

    def lines_of(self, source: str) -> int:
        """Batch, periodic and timing lines of one server."""
        batches = sum(
            ledger.lines
            for log in (self.sglang, self.ours)
            for ledger in log.ledgers.values()
            if ledger.rank.source == source
        )
        periodic = sum(engine.lines for engine in self.vllm.all() if engine.rank.source == source)
        return batches + periodic + self.llamacpp.lines

    def courses(self) -> Iterator[Course]:
        """Every course of time, of whatever dialect."""
        for log in (self.sglang, self.ours):
            yield from (ledger.course for ledger in log.ledgers.values())
        yield from (engine.course for engine in self.vllm.all())
        yield self.llamacpp.course

    def span(self) -> tuple[float, float] | None:
        """The first and the last moment of lines and events."""
        ends = [one for course in self.courses() for one in (course.first_s, course.last_s, course.visited_s)]
        ends += [self.happenings.first_s, self.happenings.last_s]
        known = [one for one in ends if one is not None]
        return (min(known), max(known)) if known else None


def by_dialect(kept: Kept) -> dict[str, int]:
    """Lines that counted, of each dialect."""
    return {
        "radixbench": kept.ours.lines,
        "sglang": kept.sglang.lines,
        "vllm": kept.vllm.lines,
        "llamacpp": kept.llamacpp.lines,
    }
