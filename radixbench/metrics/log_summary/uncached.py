"""Why the new tokens had to be computed, as far as the log tells: parts that add up to them.

Where every prompt has a line of its own, that line says how much of it was reused, and what was computed beyond it was computed
twice. Elsewhere only prefill lines of one sequence tell. What neither says stays untold.
"""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.metrics.log_summary.figures import Group
from radixbench.metrics.log_summary.model import UncachedPart
from radixbench.metrics.log_summary.quoting import Coverage

_OFF = "the server's arguments turn prefix caching off"
_EMPTY = "prefilled from a start or flush up to the first line that reused more than one token of each prompt"
_NO_HIT = "prompts that reused at most their first token, by their request lines"
_BEHIND = "what followed the reused beginning, in prompts that reused more, by their request lines"
_AGAIN = "prefilled beyond what the request lines count, with requests sent back to the queue: computed again"
_NO_HIT_LINES = "prefill lines of one sequence that reused at most its first token (a new prompt, a later chunk of a long one, or one sent back to the queue)"
_BEHIND_LINES = "prefill lines of one sequence that reused more: what followed the reused beginning"
_SEVERAL = "not told by the log: lines of several sequences don't say which of them reused what"
_UNKNOWN = "not told by the log: no line says what these prompts reused"
_BEYOND = "not told by the log: prefilled beyond what the request lines count (warm-up, rounding, or prompts without such a line)"


def uncached_parts(
    new_tokens: int | None, group: Group | None, coverage: Coverage, *, off: bool
) -> tuple[UncachedPart, ...]:
    """The parts that hold tokens; nothing where new tokens are unknown, or none were computed."""
    if not new_tokens:
        return ()
    if off:
        return (UncachedPart("cache-off", new_tokens, _OFF),)
    if coverage.complete:
        found = list(_by_requests(new_tokens, coverage))
    else:
        found = [] if group is None else list(_by_lines(group))
        rest = new_tokens - sum(part.tokens for part in found)
        found.append(UncachedPart("untold", rest, _UNKNOWN if group is None else _SEVERAL))
    return tuple(part for part in found if part.tokens)


def _by_requests(new_tokens: int, coverage: Coverage) -> Iterator[UncachedPart]:
    """``Coverage`` vouches that the request lines count no more than the batches do."""
    rest = new_tokens - coverage.uncached_tokens
    yield UncachedPart("no-hit", coverage.no_hit_tokens, _NO_HIT)
    yield UncachedPart("behind-the-hit", coverage.uncached_tokens - coverage.no_hit_tokens, _BEHIND)
    again = max(rest - coverage.warm_up_tokens, 0) if coverage.explains_rest else 0
    yield UncachedPart("computed-again", again, _AGAIN)
    yield UncachedPart("untold", rest - again, _BEYOND)


def _by_lines(group: Group) -> Iterator[UncachedPart]:
    reuse = [ledger.signs.reuse for ledger in group.ledgers]
    yield UncachedPart("empty-cache", sum(one.after_empty for one in reuse), _EMPTY)
    yield UncachedPart("no-hit", sum(one.no_hit for one in reuse), _NO_HIT_LINES)
    yield UncachedPart("behind-the-hit", sum(one.behind_hit for one in reuse), _BEHIND_LINES)
