"""What summarising a run leaves: figures by metric name, and the account of its cached tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from radixbench.capture.model import CellValue
from radixbench.records import Mode


@dataclass(frozen=True, slots=True)
class RunFigure:
    """One metric of one run; ``value`` is ``None`` exactly when ``reason`` says why. ``n_values`` went into it."""

    metric: str
    value: float | None
    n_values: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why tokens that were shared weren't found cached; tokens, summed over the counted requests.

    The sum is exactly ``CacheAccount.sharable`` minus the cached tokens that are possible.

    ``first_arrival``: nobody had sent them before, or none but requests that failed without a token. ``concurrent``:
    sent before, but perhaps still being computed: what is missing within the range. ``page_remainder``: lost to whole
    pages. ``eviction``: surely cached once and gone, where evidence shows that room was short. ``unexplained``: the
    rest, which somebody must explain.
    """

    first_arrival: int = 0
    concurrent: int = 0
    page_remainder: int = 0
    eviction: int = 0
    unexplained: int = 0

    @property
    def total(self) -> int:
        """All causes together."""
        return self.first_arrival + self.concurrent + self.page_remainder + self.eviction + self.unexplained


@dataclass(frozen=True, slots=True)
class Race:
    """Requests in flight together that share a prefix of ``tokens`` nobody had computed before.

    ``computed`` of them computed it, the first to be sent included; ``None`` where the server doesn't tell.
    """

    tokens: int
    requests: int
    computed: int | None


@dataclass(frozen=True, slots=True)
class Pressure:
    """Whether the cache had room: ``None`` is what nobody says.

    ``working_set`` is what an unlimited cache would hold at the end of the run, in whole pages; ``pool_tokens`` what the
    server has room for. ``evicted_tokens`` were dropped, ``retractions`` requests sent back to the queue (or
    preempted). ``peak_usage`` is the highest ratio of a pool, of tokens or of a hybrid model's state, a log told.
    """

    working_set: int
    pool_tokens: int | None = None
    evicted_tokens: int | None = None
    retractions: int | None = None
    peak_usage: float | None = None

    @property
    def exceeds_pool(self) -> bool:
        """No cache of this size could hold what the run asked."""
        return self.pool_tokens is not None and self.working_set > self.pool_tokens


@dataclass(frozen=True, slots=True)
class TurnAccount:
    """One turn number of a run with turns: sums over its conversations.

    ``cached_prompt_only`` is what an unlimited cache would give that keeps prompts but forgets answers.
    ``matched`` of ``compared`` prompts continue prompt and answer of the turn before token by token;
    ``first_difference`` is the smallest position, in tokens, at which one of the others parts from them.
    """

    turn: int
    requests: int
    prompt_tokens: int | None
    cached_tokens: int | None
    expected_low: int
    expected_high: int
    cached_prompt_only: int = 0
    compared: int = 0
    matched: int = 0
    first_difference: int | None = None

    @property
    def met(self) -> Literal["prompt and answer", "prompt only", "neither"] | None:
        """Which level the hits of this turn reach; ``None`` where they are unknown or both levels are the same."""
        if self.cached_tokens is None or self.cached_prompt_only >= self.expected_low:
            return None
        if self.cached_tokens >= self.expected_low:
            return "prompt and answer"
        return "prompt only" if self.cached_tokens >= self.cached_prompt_only else "neither"


@dataclass(frozen=True, slots=True)
class CacheAccount:
    """Tokens of one run: asked, reused by the server's word, and what an unlimited cache would have reused.

    ``expected_low`` to ``expected_high`` is a range where requests in flight together race for a prefix.
    ``sharable`` tokens are shared with any other request of the run, first arrivals included: what a cache that
    held everything beforehand would give. ``efficiency`` is the possible cached tokens / ``expected_high``, ``None``
    where either is unknown or 0, as ``shortfall`` is. ``first_arrivals`` requests were the first with some shared
    prefix, ``raced`` were sent while it was still computed, ``races`` tells them prefix by prefix. ``unknown`` counted
    answers say nothing of cached tokens; ``impossible`` ones say more than their prompt has or than any order of
    the requests allows. ``excess`` are the tokens beyond the latter, which stay out of efficiency and shortfall but not
    out of ``cached_tokens``: they betray a cache that held something from before the run.
    ``upper_bound_only``: the working set exceeds the pool, so that the expectation is no promise.
    """

    prompt_tokens: int | None
    cached_tokens: int | None
    expected_low: int
    expected_high: int
    page_size: int
    turns: tuple[TurnAccount, ...] = ()
    sharable: int = 0
    efficiency: float | None = None
    shortfall: Shortfall | None = None
    first_arrivals: int = 0
    raced: int = 0
    unknown: int = 0
    impossible: int = 0
    upper_bound_only: bool = False
    excess: int = 0
    races: tuple[Race, ...] = ()
    pressure: Pressure | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """One witness of a run's cached tokens; ``None`` is what it doesn't know. ``scope`` says what it covers.

    ``cached_low`` is the lower end of an expectation whose upper end is ``cached_tokens``.
    """

    name: str
    prompt_tokens: int | None
    cached_tokens: int | None
    scope: str
    cached_low: int | None = None


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Client usage, server counters, log lines and the expectation, side by side and never added up.

    ``disagreements`` say in one sentence each which witnesses contradict one another, by how much. Those of the
    client with the expectation alone are in ``beyond`` (more than possible) or ``missing`` as well.
    """

    sources: tuple[Source, ...]
    disagreements: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunSummary:
    """All figures of one run by metric name.

    ``completed`` requests ended well, ``answered`` of them brought tokens with possible stamps.
    ``excluded`` counts, by cause, what stayed out of the figures.
    """

    cell: dict[str, CellValue]
    seed: int
    mode: Mode
    order: int
    requested: int
    completed: int
    figures: dict[str, RunFigure]
    cache: CacheAccount
    answered: int = 0
    excluded: dict[str, int] = field(default_factory=dict)
    reconciliation: Reconciliation | None = None
