"""Evidence that the cache had too little room: evictions, retractions, a working set larger than the pool.

Witnesses are never added up: the engine's own steps, the server's counters and its log tell of the same
events, so the largest number any of them gives stands.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from radixbench.capture.model import PromptTree, Run
from radixbench.metrics.figure import Pressure
from radixbench.metrics.prefixes import tree_depths
from radixbench.units import Tokens

FULL: Final = 0.99
"""The usage from which on a pool counts as full."""

_POOL_KEYS = ("max_total_num_tokens", "max_total_tokens")


def pressure(run: Run, page_size: Tokens) -> Pressure:
    """What the run's steps, counters and log say of its room."""
    log = run.log
    usage = [] if log is None else [log.peak_token_usage, log.peak_state_usage]
    return Pressure(
        working_set=working_set(run.prompts, page_size),
        pool_tokens=_pool(run),
        evicted_tokens=_most(
            [
                sum(step.evicted_tokens for step in run.steps) if run.steps else None,
                None if run.counters is None else run.counters.evicted_tokens,
            ]
        ),
        retractions=_most(
            [
                sum(step.retracted_req for step in run.steps) if run.steps else None,
                sum(finish.attempts - 1 for finish in run.finishes) if run.finishes else None,
                None if run.counters is None else run.counters.preemptions,
                None if log is None else log.retractions,
            ]
        ),
        peak_usage=max((value for value in usage if value is not None), default=None),
    )


def working_set(tree: PromptTree, page_size: Tokens) -> Tokens:
    """Tokens of all distinct whole pages of prompts and answers."""
    depths = tree_depths(tree)
    return page_size * sum(
        end // page_size - (end - node.len) // page_size for node, end in zip(tree.nodes, depths, strict=True)
    )


def lost_to_room(below: Tokens, room: Pressure, in_flight: int) -> Tokens:
    """How many of ``below`` tokens that were surely cached once are explained by want of room.

    An eviction that was counted explains as many tokens as it dropped, for each of the requests that were in
    flight together and missed it; the other signs say only that room was short.
    """
    if room.exceeds_pool or room.retractions or (room.peak_usage or 0.0) >= FULL:
        return below
    return min(below, (room.evicted_tokens or 0) * in_flight)


def _most(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _pool(run: Run) -> Tokens | None:
    if run.steps:
        return max(step.pool_slots for step in run.steps)
    for facts in (run.server.identity, run.server.args):
        for key in _POOL_KEYS:
            value = facts.get(key)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
    return None
