"""Cached tokens: what the server says, and what it could have said at most.

Absent is unknown, not 0. A server that leaves the field out when it is 0 still names it for its hits:
missing beside hits of the same run means 0; missing everywhere means unknown.
"""

from __future__ import annotations

from radixbench.capture.model import Run
from radixbench.metrics.answers import Answers, prompt_length
from radixbench.metrics.definition import Measured
from radixbench.metrics.figure import CacheAccount
from radixbench.metrics.reuse import Reuse, expected_reuse
from radixbench.records import RequestRecord
from radixbench.stats.sample import Absent


def reported_cached(answers: Answers) -> tuple[int, ...] | Absent:
    """Cached tokens of each counted request, in order."""
    if not answers.counted:
        return Absent(answers.why_none)
    values = [request.cached_tokens for request in answers.counted]
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
    page = page_size(answers.run)
    reuse = expected_reuse(answers.run, page)
    cached = reported_cached(answers)
    per_request = [None] * len(answers.counted) if isinstance(cached, Absent) else cached
    rows: list[_Row] = list(zip(answers.counted, per_request, strict=True))
    prompt, known, low, high = _total(rows, reuse)
    return CacheAccount(
        prompt_tokens=prompt,
        cached_tokens=known,
        expected_low=low,
        expected_high=high,
        page_size=page,
        turns=_per_turn(rows, reuse),
    )


_Row = tuple[RequestRecord, int | None]


def _per_turn(
    rows: list[_Row], reuse: dict[int, Reuse]
) -> tuple[tuple[int, int | None, int | None, int, int], ...]:
    turns = sorted({request.turn for request, _ in rows})
    if len(turns) < 2:
        return ()
    return tuple((turn, *_total([row for row in rows if row[0].turn == turn], reuse)) for turn in turns)


def _total(rows: list[_Row], reuse: dict[int, Reuse]) -> tuple[int | None, int | None, int, int]:
    if not rows:
        return None, None, 0, 0
    prompt = sum(prompt_length(request) for request, _ in rows)
    known = [cached for _, cached in rows if cached is not None]
    expected = [reuse[request.prompt] for request, _ in rows]
    low, high = sum(one.low for one in expected), sum(one.high for one in expected)
    return prompt, sum(known) if known else None, low, high
