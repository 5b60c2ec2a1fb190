"""The lines of vLLM servers: an engine for each rank, and the lines that aggregate several, which are never added."""

from __future__ import annotations

from radixbench.logs.record import LogRecord, Rank
from radixbench.metrics.log_summary.engine import Engine


class PeriodicLog:
    """All periodic lines. ``preempt_events`` are V0's warnings about single preemptions."""

    __slots__ = ("_aggregated", "_engines", "_width", "preempt_events")

    def __init__(self, width: float | None) -> None:
        self._width = width
        self._engines: dict[Rank, Engine] = {}
        self._aggregated: dict[Rank, Engine] = {}
        self.preempt_events = 0

    def add(self, record: LogRecord) -> None:
        """A line of any kind but an event."""
        engines = self._aggregated if "aggregated" in record.extra else self._engines
        engine = engines.get(record.rank)
        if engine is None:
            engine = engines[record.rank] = Engine(record.rank, self._width)
        match record.kind:
            case "stats":
                engine.stats(record)
            case "prefix_cache":
                engine.hit_rates(record)
            case "spec":
                engine.drafts(record)

    @property
    def lines(self) -> int:
        """Lines that counted."""
        return sum(one.lines for one in (*self._engines.values(), *self._aggregated.values()))

    @property
    def aggregated_lines(self) -> int:
        """Lines over several engines."""
        return sum(one.lines for one in self._aggregated.values())

    def all(self) -> list[Engine]:
        """Every engine, aggregates too."""
        return [*self._engines.values(), *self._aggregated.values()]

    def aggregates(self) -> list[Engine]:
        """The lines over several engines."""
        return list(self._aggregated.values())

    def engines(self) -> list[Engine]:
        """The engines that make the whole, by rank; the aggregates where no engine printed lines of its own."""
        printing = [one for one in self._engines.values() if one.lines or one.server_windows()]
        if not any(one.lines for one in printing):
            printing += [one for one in self._aggregated.values() if one.lines]
        return sorted(printing, key=lambda one: (one.rank.source, -1 if one.rank.dp is None else one.rank.dp))

    def drafting(self) -> list[Engine]:
        """Engines with a word about speculation, which the API server may print without naming an engine."""
        return [one for one in self._engines.values() if one.speculation.accept_rate is not None]
