"""Where shared tokens went that weren't found cached, cause by cause, so that the causes add up.

From the top: everything shared, what had been sent before, the same in whole pages, the same without what only
failed requests had sent, what was surely there, what was found. Each step down is one cause; whoever comes after
failed requests alone is the first to arrive. A server may find more than a step says, since it works in its own order
(up to ``Reuse.most``); what it found is never charged again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from radixbench.metrics.figure import Pressure, Race, Shortfall
from radixbench.metrics.pressure import lost_to_room
from radixbench.metrics.reuse import Reuse
from radixbench.metrics.turns import CountedRow
from radixbench.records import RequestRecord
from radixbench.units import Tokens


def split(rows: Iterable[tuple[Tokens, Reuse]], room: Pressure, in_flight: int) -> Shortfall:
    """The causes, summed over requests given as possible cached tokens (at most ``Reuse.most``) and expectation."""
    first = concurrent = pages = below = 0
    for cached, reuse in rows:
        levels = (reuse.unpaged, reuse.high, reuse.high - reuse.doubtful, reuse.low)
        sent, whole, answered, sure = (max(level, cached) for level in levels)
        first += reuse.sharable - sent + whole - answered
        pages += sent - whole
        concurrent += answered - sure
        below += sure - cached
    eviction = lost_to_room(below, room, in_flight)
    return Shortfall(
        first_arrival=first,
        concurrent=concurrent,
        page_remainder=pages,
        eviction=eviction,
        unexplained=below - eviction,
    )


def most_in_flight(requests: Iterable[RequestRecord]) -> int:
    """The largest number of requests between sending and end at any one time."""
    moments = [
        moment for one in requests for moment in ((one.send_ns, 1), (max(one.end_ns, one.send_ns + 1), -1))
    ]
    now = most = 0
    for _, change in sorted(moments):
        now += change
        most = max(most, now)
    return most


def races(rows: Sequence[CountedRow], depths: Sequence[Tokens]) -> tuple[Race, ...]:
    """Prefix by prefix the requests that raced for it, the longest prefix first."""
    by_node: dict[int, list[CountedRow]] = {}
    for row in rows:
        if row[2].raced and row[2].met_at is not None:
            by_node.setdefault(row[2].met_at, []).append(row)
    found = []
    for node, racing in by_node.items():
        known = [cached < reuse.high - reuse.doubtful for _, cached, reuse in racing if cached is not None]
        computed = 1 + sum(known) if len(known) == len(racing) else None
        found.append(Race(depths[node], 1 + len(racing), computed))
    return tuple(sorted(found, key=lambda race: (-race.tokens, -race.requests, race.computed or 0)))
