"""What a cache of one size would have given: sums over all requests, and the rate they make."""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.units import Tokens

DEFINITION = (
    "hit rate = cached tokens / prompt tokens, summed over all requests; cached are a prompt's leading tokens that"
    " requests before it left in the cache, in whole pages, at most all but its last token; requests run one after"
    " the other in the order given; reuse rate = cached tokens / tokens that could have been cached, which is all but"
    " the last of each prompt"
)
BLOCK_DEFINITION = (
    "; of a trace, equal leading hash ids are equal tokens, answers are not kept, and the block hit rate is leading"
    " known blocks / blocks"
)


@dataclass(frozen=True, slots=True)
class HitRow:
    """One cache: page size and capacity in tokens (``None``: unlimited), and what it gave.

    ``skipped_requests`` are longer than the capacity and in no sum. The block figures are of traces only. ``seed``
    is ``None``: nothing is random.
    """

    cache: str
    page_size: int
    capacity_tokens: Tokens | None
    policy: str
    seed: int | None
    requests: int
    skipped_requests: int
    prompt_tokens: Tokens
    cached_tokens: Tokens
    computed_tokens: Tokens
    evicted_tokens: Tokens
    hit_rate: float | None
    reuse_rate: float | None
    blocks: int | None = None
    cached_blocks: int | None = None
    block_hit_rate: float | None = None


@dataclass(slots=True)
class HitSum:
    """Sums of one cache while requests go by; in tokens."""

    page_size: int
    capacity: Tokens | None
    requests: int = 0
    skipped: int = 0
    prompt_tokens: Tokens = 0
    cached_tokens: Tokens = 0
    evicted_tokens: Tokens = 0
    blocks: int = 0
    cached_blocks: int = 0

    def add(self, prompt_len: Tokens, cached: Tokens) -> None:
        """One request that was served."""
        self.requests += 1
        self.prompt_tokens += prompt_len
        self.cached_tokens += cached

    def row(self, *, with_blocks: bool = False) -> HitRow:
        """The sums as a result."""
        return HitRow(
            cache="radix",
            page_size=self.page_size,
            capacity_tokens=self.capacity,
            policy="lru",
            seed=None,
            requests=self.requests,
            skipped_requests=self.skipped,
            prompt_tokens=self.prompt_tokens,
            cached_tokens=self.cached_tokens,
            computed_tokens=self.prompt_tokens - self.cached_tokens,
            evicted_tokens=self.evicted_tokens,
            hit_rate=_rate(self.cached_tokens, self.prompt_tokens),
            reuse_rate=_rate(self.cached_tokens, self.prompt_tokens - self.requests),
            blocks=self.blocks if with_blocks else None,
            cached_blocks=self.cached_blocks if with_blocks else None,
            block_hit_rate=_rate(self.cached_blocks, self.blocks) if with_blocks else None,
        )


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None
