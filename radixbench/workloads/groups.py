"""How prompts fall on groups: equally, or by Zipf's law.

Zipf's law is met by quotas, not by drawing: the group of rank r gets its share of all prompts, rounded so
that the total stays. Every seed then has the same counts, and differs in their order alone; what an
unlimited cache finds doesn't change from seed to seed by luck.
"""

from __future__ import annotations

import math

from radixbench.errors import UsageError
from radixbench.workloads.sizes import Sizes


def quotas(sizes: Sizes) -> tuple[int, ...]:
    """The number of prompts of each group; their sum is ``sizes.total``.

    With Zipf's law group r - 1 has a share proportional to r ** -``zipf_exponent``; a group may go empty.
    """
    if sizes.distribution == "uniform":
        return (sizes.prompts_per_group,) * sizes.groups
    exponent = sizes.zipf_exponent
    if not (math.isfinite(exponent) and exponent >= 0):
        raise UsageError(f"a Zipf exponent of {exponent} orders no groups", remedy="give 0 or more")
    weights = [float(rank) ** -exponent for rank in range(1, sizes.groups + 1)]
    shares = [sizes.total * weight / math.fsum(weights) for weight in weights]
    counts = [math.floor(share) for share in shares]
    by_remainder = sorted(range(sizes.groups), key=lambda group: (counts[group] - shares[group], group))
    for group in by_remainder[: sizes.total - sum(counts)]:
        counts[group] += 1
    return tuple(counts)


def members(counts: tuple[int, ...]) -> list[int]:
    """The group of each prompt, in order: ``(2, 1)`` gives ``[0, 0, 1]``."""
    return [group for group, count in enumerate(counts) for _ in range(count)]
