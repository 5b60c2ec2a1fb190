"""What is added up over lines: the same sums for a whole rank, for one window and for one stretch of time.

A rank only ever adds to one ``Sums``; a window's or a stretch's share is the difference between two moments
of it, so that the parts always make the whole. What is a highest value can't be had by a difference: ``Peaks``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from operator import add, attrgetter, sub
from typing import TypeAlias


@dataclass(slots=True)
class Sums:
    """Sums over lines.

    ``repeated_tokens`` are cached tokens that a server printed for a prompt's own earlier chunks, no reuse. ``work`` and
    ``work_time`` are of decode lines with a trusted rate: tokens and the time they took, both in units of
    one print interval of the server, which cancels in their ratio. ``*_lines`` count the lines that print the value.
    """

    prefill_batches: int = 0
    new_seq: int = 0
    new_tokens: int = 0
    cached_tokens: int = 0
    repeated_tokens: int = 0
    decode_batches: int = 0
    running: int = 0
    running_lines: int = 0
    queue: int = 0
    queue_lines: int = 0
    queued_lines: int = 0
    usage_lines: int = 0
    full_lines: int = 0
    work: float = 0
    work_time: float = 0.0

    def gain(self, counts: Sequence[int], worked: Sequence[float]) -> None:
        """Several lines at once: all counts but ``repeated_tokens``, in the order above; ``work`` and ``work_time``."""
        (
            prefills, seqs, new, cached, decodes, running, running_lines, queue, queue_lines, queued_lines, usage_lines, full_lines,
        ) = counts  # fmt: skip
        self.prefill_batches += prefills
        self.new_seq += seqs
        self.new_tokens += new
        self.cached_tokens += cached
        self.decode_batches += decodes
        self.running += running
        self.running_lines += running_lines
        self.queue += queue
        self.queue_lines += queue_lines
        self.queued_lines += queued_lines
        self.usage_lines += usage_lines
        self.full_lines += full_lines
        self.work += worked[0]
        self.work_time += worked[1]

    @property
    def reused_tokens(self) -> int:
        """Cached tokens that are a reuse."""
        return self.cached_tokens - self.repeated_tokens

    @property
    def hit_rate(self) -> float | None:
        """Reused over all prompt tokens; unknown without any."""
        prompt = self.reused_tokens + self.new_tokens
        return self.reused_tokens / prompt if prompt > 0 else None


Moment: TypeAlias = tuple[float, ...]
"""All sums at one moment, in the order of the fields."""

SUM_NAMES = tuple(one.name for one in fields(Sums))
read_sums = attrgetter(*SUM_NAMES)
NOTHING: Moment = read_sums(Sums())


def sums_of(moment: Moment) -> Sums:
    """The sums a moment or a difference of two holds."""
    return Sums(*moment)  # type: ignore[arg-type]  # counts come back as the ints they were


def plus(one: Moment, other: Moment) -> Moment:
    """Sum by sum."""
    return tuple(map(add, one, other))


def minus(later: Moment, earlier: Moment) -> Moment:
    """What was added between two moments."""
    return tuple(map(sub, later, earlier))


@dataclass(slots=True)
class Peaks:
    """Highest values; one of 0 means something only where ``Sums`` counts a line that prints it.

    ``usage`` is of the pool that holds the KV of full attention, ``pools`` of all others, 0 to 1. ``server_hit`` is
    the latest hit rate that the server itself printed, 0 to 1.
    """

    running: int = 0
    queue: int = 0
    pending: int | None = None
    usage: float = 0.0
    pools: dict[str, float] = field(default_factory=dict)
    server_hit: float | None = None

    def rise(self, running: int, queue: int, pending: int, usage: float) -> None:
        """The highest of several lines at once; what none of them prints is below 0, or ``nan``."""
        self.running = max(self.running, running)
        self.queue = max(self.queue, queue)
        if pending > 0 and pending > (self.pending or 0):
            self.pending = pending
        self.usage = max(self.usage, usage)

    def rise_pool(self, name: str, usage: float) -> None:
        """The same of another pool."""
        if usage >= self.pools.get(name, 0.0):
            self.pools[name] = usage

    def raise_to(self, other: Peaks) -> None:
        """Take whatever is higher in ``other``, and its later ``server_hit``."""
        self.running = max(self.running, other.running)
        self.queue = max(self.queue, other.queue)
        if other.pending is not None:
            self.pending = other.pending if self.pending is None else max(self.pending, other.pending)
        self.usage = max(self.usage, other.usage)
        for name, usage in other.pools.items():
            self.pools[name] = max(self.pools.get(name, 0.0), usage)
        if other.server_hit is not None:
            self.server_hit = other.server_hit


@dataclass(slots=True)
class Row:
    """One window of one rank."""

    added: Moment = NOTHING
    peaks: Peaks = field(default_factory=Peaks)

    def take(self, other: Row) -> None:
        """Add a later row to this one."""
        self.added = plus(self.added, other.added)
        self.peaks.raise_to(other.peaks)
