"""Was there room? Full pools evict prefixes, and a full pool of another kind of state does so while the KV pool looks empty."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.metrics.log_summary.model import Note
from radixbench.metrics.log_summary.notes.words import figure, percent, several
from radixbench.metrics.log_summary.reading import Reading

_SIDE_FULL = 0.99
_ROOM = 0.9
_OFTEN = 0.1
_QUEUED = 0.5
_SIDE = {"swa": "sliding-window", "mamba": "state (mamba)"}


def pool_notes(reading: Reading) -> Iterator[Note]:
    """Notes on pools and the queue."""
    pressure = reading.figures.pressure
    main = pressure.pools.get(reading.figures.main_pool)
    sides = {name: usage for name, usage in pressure.pools.items() if name in _SIDE}
    full = {name: usage for name, usage in sides.items() if usage >= _SIDE_FULL}
    for name, usage in full.items():
        if main is not None and main < _ROOM:
            yield Note(
                "side-pool-full",
                f"The {_SIDE[name]} pool is full first (usage {usage:.2f}) while the KV pool was never used above {main:.2f}: requests wait, and prefixes "
                "are dropped, for want of that pool.",
            )
    if sides and not full:
        yield Note(
            "hybrid-model",
            f"A hybrid model: a prefix is reused only where its {' and '.join(_SIDE[name] for name in sides)} state is kept too, so a hit may be shorter than the shared prefix.",
        )
    group = reading.figures.group
    if group is None:
        return
    tested = group.retractions.tested(ledger.rank for ledger in group.ledgers)
    retractions = pressure.retract_events - tested.events
    often = pressure.full_share is not None and pressure.full_share >= _OFTEN
    if often or retractions > 0:
        told = []
        if often and pressure.full_share is not None:
            told.append(f"usage is 0.97 or more in {percent(pressure.full_share)} of the lines")
        if retractions > 0:
            sent = pressure.retracted_requests - tested.requests
            told.append(
                f"{several(retractions, 'retraction')} sent {several(sent, 'request')} back to the queue"
            )
        evicted = "" if reading.kept.server.cache_off else " Cached prefixes are evicted to make room."
        yield Note("pool-full", f"The KV pool was full: {'; '.join(told)}.{evicted}")
    if (
        pressure.queued_share is not None
        and pressure.queued_share >= _QUEUED
        and pressure.queue_mean is not None
    ):
        yield Note(
            "queue-builds",
            f"Requests waited in {percent(pressure.queued_share)} of the lines, {figure(pressure.queue_mean)} on average and {pressure.queue_max:,} at most: waiting is then part "
            "of every time to first token.",
        )
