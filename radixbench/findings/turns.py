"""How hits go from turn to turn of a run: a rate that drops, a history that parts, branches nobody asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from radixbench.capture.model import Run
from radixbench.findings.model import Finding
from radixbench.findings.words import percent
from radixbench.metrics.figure import RunSummary, TurnAccount
from radixbench.scenario.model import History

DROP = 0.10
_GREW = 0.10


def turn_findings(run: Run, summary: RunSummary, history: History = "live") -> Iterator[Finding]:
    """What the turns' accounts say; nothing of a run without turns. ``history`` is what later turns repeat."""
    turns = summary.cache.turns
    yield from dropped(turns)
    if history != "recorded":
        yield from _parted(turns, history)
    yield from dead_branches(turns, usage_by_turn(run))


def dropped(turns: Sequence[TurnAccount]) -> Iterator[Finding]:
    """The first round whose hit rate is more than 10 points below the best before, where the expectation isn't."""
    best: tuple[int, float, float] | None = None
    for one in turns:
        if not one.prompt_tokens or one.cached_tokens is None:
            continue
        rate = one.cached_tokens / one.prompt_tokens
        expected = one.expected_low / one.prompt_tokens
        if best is not None and best[1] - rate > DROP and (best[1] - rate) - (best[2] - expected) > DROP:
            yield Finding(
                "round-dropped",
                "warning",
                f"the hit rate fell from {percent(best[1])} in round {best[0] + 1} to {percent(rate)} in round"
                f" {one.turn + 1}, where an unlimited cache gives {percent(expected)}",
                "earlier rounds were evicted: raise --max-total-tokens, or keep fewer conversations at once",
            )
            return
        if best is None or rate > best[1]:
            best = one.turn, rate, expected


def recorded_findings(summaries: Iterable[RunSummary], history: History) -> Iterator[Finding]:
    """A recorded history parts from the answers because that is what was asked for: said once, of all runs."""
    turns = (one for summary in summaries for one in summary.cache.turns)
    if history == "recorded" and any(one.matched < one.compared for one in turns):
        yield Finding(
            "history-parts",
            "info",
            "as declared (history: recorded), later rounds repeat answers made beforehand, not those generated here: such an"
            " answer is computed when it is first repeated, and can only then be found",
            "--history live measures conversations that go on from the answers given",
        )


def _parted(turns: Sequence[TurnAccount], history: History) -> Iterator[Finding]:
    declared = history == "retokenized"
    why = (
        "; as declared (history: retokenized), answers come back as text and are encoded anew"
        if declared
        else ""
    )
    for one in turns:
        if one.matched < one.compared and one.first_difference is not None:
            yield Finding(
                "history-parts",
                "info",
                f"{one.compared - one.matched:,} of {one.compared:,} prompts of round {one.turn + 1} don't go on where the round"
                f" before ended: the earliest parts at token {one.first_difference:,}{why}",
                "what follows that token is never found: "
                + (
                    "--history live sends token ids back"
                    if declared
                    else "send token ids back, or keep the template's history as it was"
                ),
            )
            return


def usage_by_turn(run: Run) -> tuple[float, ...]:
    """The peak share of the pool in use while each turn was under way; () where no steps tell."""
    if not run.steps:
        return ()
    found = []
    for turn in sorted({request.turn for request in run.requests}):
        sent = [request for request in run.requests if request.turn == turn]
        start, end = min(one.send_ns for one in sent), max(one.end_ns for one in sent)
        inside = [
            step.used_slots / step.pool_slots
            for step in run.steps
            if start <= step.end_ns <= end and step.pool_slots
        ]
        if not inside:
            return ()
        found.append(max(inside))
    return tuple(found)


def dead_branches(turns: Sequence[TurnAccount], usage: Sequence[float]) -> Iterator[Finding]:
    """Usage grows from turn to turn while hits don't: what earlier turns left is kept, and never found.

    ``usage`` is the share of the pool in use at each of ``turns``, from the engine's steps or a log.
    """
    if len(usage) != len(turns) or len(turns) < 3:
        return
    later = [
        (one.cached_tokens / one.requests, one.prompt_tokens / one.requests)
        for one in turns[1:]
        if one.cached_tokens is not None and one.prompt_tokens
    ]
    if len(later) < len(turns) - 1:
        return
    grew = usage[-1] - usage[0] > _GREW and all(b >= a for a, b in pairwise(usage))
    hits_stayed = later[-1][0] <= later[0][0] * (1 + _GREW)
    prompts_grew = later[-1][1] > later[0][1] * (1 + _GREW)
    if grew and hits_stayed and prompts_grew:
        yield Finding(
            "dead-branches",
            "warning",
            f"usage grew from {percent(usage[0])} of the pool in round 1 to {percent(usage[-1])} in round {len(turns)}, while"
            f" cached tokens per request stayed at {later[-1][0]:,.0f}: what earlier rounds left is kept and never found"
            " again (reasoning stripped from the history does this)",
            "keep the history as it was generated, or have the server drop reasoning from its cache",
        )
