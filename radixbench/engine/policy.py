"""In which order waiting requests are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from radixbench.engine.cache import PrefixCache
from radixbench.engine.config import EngineConfig
from radixbench.engine.request import Req

Policy = Callable[[Iterable[Req]], list[Req]]


def fcfs(waiting: Iterable[Req]) -> list[Req]:
    """By arrival."""
    return list(waiting)


def longest_prefix_match(cache: PrefixCache, queue_limit: int) -> Policy:
    """Longest cached prefix first, by arrival among equals.

    Above ``queue_limit`` waiting requests matching each costs more than it gains: by arrival then. With a
    cache that matches nothing all are equal, so it is by arrival too.
    """

    def order(waiting: Iterable[Req]) -> list[Req]:
        requests = list(waiting)
        if len(requests) > queue_limit:
            return requests
        return sorted(requests, key=cache.probe, reverse=True)

    return order


def policy_of(config: EngineConfig, cache: PrefixCache) -> Policy:
    """The policy a configuration names."""
    if config.schedule_policy == "lpm":
        return longest_prefix_match(cache, config.lpm_queue_limit)
    return fcfs
