"""Filling a cache on purpose: with the shared prefixes alone, or with all that the workload leaves.

A primer is a prefix exactly as the measured prompts begin with it, sent for one token. Sending it again
afterwards must find it, else the server dropped it or never kept it.
"""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.bench.protocol.probing import Probed
from radixbench.bench.protocol.sender import Sender
from radixbench.capture.model import Check
from radixbench.client.play import play
from radixbench.errors import IncompleteError
from radixbench.scenario.model import LoadSpec
from radixbench.units import Tokens
from radixbench.workloads.conversation import Render, TokenIds, Workload

_NAME = "priming"
_COMPLETE_SHARE = 0.99


@dataclass(frozen=True, slots=True)
class Primed:
    """What was put into a cache before the measured requests: ``held`` are whole sequences of ids."""

    requests: int
    tokens: Tokens
    held: tuple[TokenIds, ...]
    check: Check


async def prime(sender: Sender, workload: Workload, probed: Probed) -> Primed:
    """Send every prefix that the workload shares on purpose, then one of them again.

    Raises ``IncompleteError`` when that one isn't found, but by a server that never finds repeats.
    """
    prefixes = workload.prefixes
    if not prefixes:
        return Primed(
            0, 0, (), Check(_NAME, True, "no prefix is shared on purpose, so there is none to send")
        )
    await sender.send_all(prefixes, "priming")
    tokens = sum(len(prefix) for prefix in prefixes)
    if probed.blind:
        blind = f"{len(prefixes)} prefixes sent; the server never finds a repeat that could prove it"
        return Primed(len(prefixes), tokens, prefixes, Check(_NAME, None, blind))
    first = prefixes[0]
    found = await sender.cached(first, "priming")
    least = max(len(first) - 1 - probed.slack, 0)
    detail = (
        f"{len(prefixes)} prefixes sent; the first, of {len(first)} tokens, sent again found {found} cached"
    )
    if found is not None and found < least:
        raise IncompleteError(
            f"cache not primed: {detail}, at least {least} were expected",
            remedy="give the server a pool that holds all prefixes, or share fewer tokens",
        )
    return Primed(len(prefixes) + 1, tokens, prefixes, Check(_NAME, None if found is None else True, detail))


async def warm(sender: Sender, workload: Workload, load: LoadSpec, render: Render | None) -> Primed:
    """Play the whole workload once. Raises ``IncompleteError`` unless nearly all of it is answered."""
    once = await play(
        workload, sender.client, load, seed=sender.seed, render=render, should_stop=sender.should_stop
    )
    answered = [record for record in once.records if record.status == "completed"]
    if once.stopped is not None or len(answered) < _COMPLETE_SHARE * len(once.records):
        failed = next((record.error for record in once.records if record.error is not None), once.stopped)
        raise IncompleteError(
            f"cache not warmed: {len(answered)} of {len(once.records)} requests were answered; {failed}",
            remedy="see the server's log",
        )
    sender.ledger.note(once.prompts.values())
    held = tuple(once.prompts[record.prompt] for record in answered)
    tokens = sum(len(ids) for ids in held)
    detail = f"the workload was played once: {len(held)} requests, {tokens:,} prompt tokens"
    return Primed(len(held), tokens, held, Check(_NAME, True, detail))
