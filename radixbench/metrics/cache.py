"""Cached tokens: what the server says, and what it could have said at most.

Absent is unknown, not 0. A server that leaves the field out when it is 0 still names it for its hits:
missing beside hits of the same run means 0; missing everywhere means unknown, unless probes before the run
have shown that this is how the server says 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from radixbench.capture.model import Run
from radixbench.metrics.answers import Answers, once, prompt_length
from radixbench.metrics.definition import Measured
from radixbench.metrics.figure import CacheAccount
from radixbench.metrics.prefixes import tree_depths
from radixbench.metrics.pressure import pressure
from radixbench.metrics.reuse import expected_reuse
from radixbench.metrics.shortfall import most_in_flight, races, split
from radixbench.metrics.turns import CountedRow, Totals, turn_accounts
from radixbench.records import RequestRecord
from radixbench.stats.sample import Absent
from radixbench.units import Tokens


@once
def reported_cached(answers: Answers) -> tuple[int, ...] | Absent:
    """Cached tokens of each counted request, in order."""
    if not answers.counted:
        return Absent(answers.why_none)
    omits_zero = answers.run.protocol.omits_zero
    values = [_told(request, omits_zero=omits_zero) for request in answers.counted]
    known = [value for value in values if value is not None]
    if len(known) == len(values):
        return tuple(known)
    if not any(known):
        silent = len(values) - len(known)
        return Absent(
            f"the server doesn't report cached tokens ({silent} of {len(values)} answers without them)"
        )
    return tuple(0 if value is None else value for value in values)


def cached_tokens(answers: Answers) -> Measured:
    """Cached tokens of the run, summed."""
    cached = reported_cached(answers)
    if isinstance(cached, Absent):
        return Measured(cached, 0)
    return Measured(float(sum(cached)), len(cached))


def hit_rate(answers: Answers) -> Measured:
    """Cached over prompt tokens, both summed over the run."""
    cached = reported_cached(answers)
    if isinstance(cached, Absent):
        return Measured(cached, 0)
    prompt = sum(prompt_length(request) for request in answers.counted)
    return Measured(sum(cached) / prompt, len(cached))


def page_size(run: Run) -> int:
    """Tokens per page as the server states it; 1 where it doesn't."""
    stated = run.server.args.get("page_size")
    return stated if isinstance(stated, int) and not isinstance(stated, bool) and stated > 0 else 1


def cache_account(answers: Answers) -> CacheAccount:
    """The run's cached tokens beside the range an unlimited cache allows, in total and per turn."""
    run, page = answers.run, page_size(answers.run)
    reuse = expected_reuse(run, page)
    cached = reported_cached(answers)
    per_request = [None] * len(answers.counted) if isinstance(cached, Absent) else cached
    rows: list[CountedRow] = [
        (request, tokens, reuse[request.prompt])
        for request, tokens in zip(answers.counted, per_request, strict=True)
    ]
    prompt, known, low, high = _total(rows)
    room = pressure(run, page)
    possible = [(min(tokens, one.most), one) for _, tokens, one in rows if tokens is not None]
    told = run.mode == "on" and known is not None and all(one.known for _, _, one in rows)
    counted = sum(tokens for tokens, _ in possible)
    return CacheAccount(
        prompt_tokens=prompt,
        cached_tokens=known,
        expected_low=low,
        expected_high=high,
        page_size=page,
        turns=turn_accounts(run, rows, page, _total),
        sharable=sum(one.sharable for _, _, one in rows),
        efficiency=counted / high if told and high else None,
        shortfall=split(possible, room, most_in_flight(run.requests)) if told else None,
        first_arrivals=sum(one.first for _, _, one in rows),
        raced=sum(one.raced for _, _, one in rows),
        unknown=_unknown(answers),
        impossible=_impossible(answers, rows, page),
        upper_bound_only=room.exceeds_pool,
        excess=0 if known is None else known - counted,
        races=races(rows, tree_depths(run.prompts)),
        pressure=room,
    )


def _told(request: RequestRecord, *, omits_zero: bool) -> int | None:
    """Cached tokens of one answer; other counts without them are a 0 of a server that ``omits_zero``."""
    if request.cached_tokens is None and omits_zero and request.prompt_tokens is not None:
        return 0
    return request.cached_tokens


def _unknown(answers: Answers) -> int:
    omits_zero = answers.run.protocol.omits_zero
    return sum(_told(request, omits_zero=omits_zero) is None for request in answers.counted)


def _impossible(answers: Answers, rows: Sequence[CountedRow], page: Tokens) -> int:
    """Answers with more cached tokens than their prompt has, or than any order of requests allows.

    Servers that count whole pages round up: that much is no contradiction.
    """
    absurd = sum(_more_than_prompt(request) for request in answers.completed)
    return absurd + sum(
        tokens is not None and tokens > -(-one.most // page) * page for _, tokens, one in rows
    )


def _more_than_prompt(request: RequestRecord) -> bool:
    cached = request.cached_tokens
    return cached is not None and not 0 <= cached <= prompt_length(request)


def _total(rows: Sequence[CountedRow]) -> Totals:
    if not rows:
        return None, None, 0, 0
    known = [cached for _, cached, _ in rows if cached is not None]
    return (
        sum(prompt_length(request) for request, _, _ in rows),
        sum(known) if known else None,
        sum(one.low for _, _, one in rows),
        sum(one.high for _, _, one in rows),
    )
