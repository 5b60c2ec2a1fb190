"""How much of what could be reused was reused."""

from __future__ import annotations

from radixbench.metrics.definition import Measured
from radixbench.metrics.figure import CacheAccount
from radixbench.stats.sample import Absent


def hit_efficiency(account: CacheAccount) -> Measured:
    """Possible cached tokens over the upper end of the expectation."""
    if account.efficiency is not None:
        return Measured(account.efficiency, 1)
    if account.prompt_tokens is None:
        return Measured(Absent("no request has possible token counts"), 0)
    if account.expected_high == 0:
        return Measured(Absent("nothing was to be reused"), 0)
    if account.cached_tokens is None:
        return Measured(Absent("the server doesn't report cached tokens"), 0)
    return Measured(Absent("the cache is off, or not every prompt is known by its token ids"), 0)
