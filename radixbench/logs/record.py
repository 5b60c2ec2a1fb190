"""What one line of a server's log says, as it says it: units of the line, nothing derived.

A ``LogRecord`` keeps every key that was printed: those of the vocabulary (``logs.sglang.keys``) in ``values``,
those nobody knows yet in ``extra``. A key that is absent was not printed; ``None`` was printed but is
no number (``nan``). ``values["truncated"]`` marks a cut or damaged line, whose readable keys are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from radixbench.records import FinishRecord, StepRecord

DialectName = Literal["sglang", "vllm", "llamacpp", "radixbench"]


class Rank(NamedTuple):
    """Who printed a line: a server and, within it, the rank.

    ``source`` tells servers in one stream apart, as the wrapper names them (a compose service, a pod, a
    ray actor); empty where nothing does. ``dp`` has a cache of its own; ``parts`` are the other printed ranks, such as
    ``(("TP", 0), ("EP", 0))``, which work on the same batches. A printed ``DP-1`` (no data parallelism) is ``None``.
    """

    source: str = ""
    dp: int | None = None
    parts: tuple[tuple[str, int], ...] = ()

    @property
    def label(self) -> str:
        """As servers print it, such as ``DP1 TP3``; ``all`` where no rank is printed."""
        words = [self.source] if self.source else []
        words += [] if self.dp is None else [f"DP{self.dp}"]
        words += [f"{name}{number}" for name, number in self.parts]
        return " ".join(words) or "all"


class LogRecord(NamedTuple):
    """One recognised statement of a log.

    ``line_no`` counts physical lines from 1 (the first one, where the statement takes several).
    ``at_s`` is its moment in seconds on the log's own axis (``logs.timeline``), ``None`` without a time.
    ``exact`` is the full record of a line of our own server.
    """

    line_no: int
    dialect: DialectName
    kind: str
    values: Mapping[str, Any]
    extra: Mapping[str, Any]
    rank: Rank
    at_s: float | None
    exact: StepRecord | FinishRecord | None = None

    @property
    def event(self) -> str | None:
        """What happened, for a line that is no batch and no timing."""
        return self.values.get("event")

    def document(self) -> dict[str, Any]:
        """The record as one JSON object: ``line_no``, ``kind``, its keys, ``extra`` if there is any."""
        head = {"line_no": self.line_no, "kind": self.kind, **self.values}
        return {**head, "extra": dict(self.extra)} if self.extra else head


class Parsed(NamedTuple):
    """What a dialect made of one physical line: the kind it counts under, and the statements that are complete.

    ``kind`` ``None``: the line is not the dialect's; ``records`` are then older ones that it gave up waiting for.
    """

    kind: str | None
    records: tuple[LogRecord, ...] = ()


class Dialect(Protocol):
    """One server's way to write. It sees each candidate line once, in order."""

    @property
    def name(self) -> DialectName: ...

    @property
    def markers(self) -> tuple[str, ...]:
        """A line that holds none of these texts says nothing in this dialect."""
        ...

    @property
    def open(self) -> bool:
        """A statement may go on in the next physical line."""
        ...

    def parse(self, line_no: int, text: str) -> Parsed:
        """A line that holds one of ``markers``, without its line end."""
        ...

    def extend(self, line_no: int, text: str) -> Parsed:
        """The next physical line, while ``open``; ``Parsed(None, …)`` if it doesn't continue the statement."""
        ...

    def close(self) -> tuple[LogRecord, ...]:
        """Nothing more comes: what an open statement has so far."""
        ...


@dataclass(slots=True)
class LineCounts:
    """Physical lines by the kind they count under. ``sum(by_kind.values()) == read``, always."""

    read: int = 0
    by_kind: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    by_dialect: Counter[str] = field(default_factory=Counter)
