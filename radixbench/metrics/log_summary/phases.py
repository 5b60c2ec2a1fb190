"""The log as phases: starting, at work, idle.

Each rank has its own stretches of work; where ranks work beside each other a phase is the time in which any of them did, and
holds what all of them did in it. Flushes and restarts cut all ranks at once, so no stretch lies in two phases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from radixbench.metrics.log_summary.model import Phase
from radixbench.metrics.log_summary.stretches import SHORTEST_IDLE_S
from radixbench.metrics.log_summary.sums import Sums
from radixbench.metrics.log_summary.windows import Lane


class StartUp(NamedTuple):
    """From a server's first word to its being ready."""

    start_s: float
    end_s: float


class _Work(NamedTuple):
    start_s: float
    end_s: float
    opened_by: str | None
    sums: tuple[Sums, ...]


def phases_of(
    lanes: Sequence[Lane], starts: Sequence[StartUp], label: Callable[[float], str]
) -> tuple[Phase, ...]:
    """The phases in order of time."""
    work = _merged(lanes)
    found: list[Phase] = []
    for start in starts:
        inside = [one for one in work if one.start_s >= start.start_s and one.end_s <= start.end_s]
        work = [one for one in work if one not in inside]
        sums = tuple(part for one in inside for part in one.sums)
        opened_by = next((one.opened_by for one in inside if one.opened_by), None)
        found.append(_phase("start-up", start.start_s, start.end_s, sums, opened_by, label))
    found += [_phase("busy", one.start_s, one.end_s, one.sums, one.opened_by, label) for one in work]
    found.sort(key=lambda phase: (phase.start_s, phase.end_s))
    return tuple(_with_idle(found, label))


def _merged(lanes: Sequence[Lane]) -> list[_Work]:
    stretches = sorted(
        (
            _Work(stretch.start_s, stretch.end_s, stretch.opened_by, (lane.sums(stretch.added),))
            for lane in lanes
            for stretch in lane.course.worked()
        ),
        key=lambda one: one.start_s,
    )
    merged: list[_Work] = []
    for one in stretches:
        last = merged[-1] if merged else None
        if last is not None and len(lanes) > 1 and _belongs(one, last):
            merged[-1] = _Work(last.start_s, max(last.end_s, one.end_s), last.opened_by, last.sums + one.sums)
        else:
            merged.append(one)
    return merged


def _belongs(one: _Work, last: _Work) -> bool:
    """Ranks that work at the same time, or with so short a gap between them that none of them would call it idle."""
    if one.opened_by is not None and one.opened_by != last.opened_by:
        return False
    return one.start_s <= last.end_s + SHORTEST_IDLE_S


def _with_idle(phases: Sequence[Phase], label: Callable[[float], str]) -> Iterator[Phase]:
    end: float | None = None
    for phase in phases:
        if end is not None and phase.start_s - end > SHORTEST_IDLE_S:
            yield _phase("idle", end, phase.start_s, (), None, label)
        yield phase
        end = phase.end_s if end is None else max(end, phase.end_s)


def _phase(
    kind: str,
    start_s: float,
    end_s: float,
    sums: Sequence[Sums],
    opened_by: str | None,
    label: Callable[[float], str],
) -> Phase:
    new, reused = sum(one.new_tokens for one in sums), sum(one.reused_tokens for one in sums)
    return Phase(
        kind=kind,  # type: ignore[arg-type]  # one of the three words, by the callers above
        start_s=start_s,
        end_s=end_s,
        label=label(start_s),
        prefill_batches=sum(one.prefill_batches for one in sums),
        decode_batches=sum(one.decode_batches for one in sums),
        new_tokens=new,
        cached_tokens=reused,
        hit_rate=reused / (reused + new) if reused + new else None,
        opened_by=opened_by,
    )
