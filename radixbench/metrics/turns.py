"""Hits turn by turn, and whether a prompt continues what was said before.

A history that was decoded and encoded anew, or rendered by a template that changes its last turn, parts
from the tokens the server computed: from that position on nothing can hit, whatever the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from radixbench.capture.model import PromptTree, Run
from radixbench.metrics.figure import TurnAccount
from radixbench.metrics.prefixes import tree_depths
from radixbench.metrics.reuse import Reuse, prompt_only_reuse
from radixbench.records import RequestRecord
from radixbench.units import Tokens

CountedRow = tuple[RequestRecord, int | None, Reuse]
"""A counted request, its cached tokens, and what it could have found."""

Totals = tuple[int | None, int | None, int, int]
"""Prompt tokens, cached tokens, expected low and high."""


def turn_accounts(
    run: Run, rows: Sequence[CountedRow], page_size: Tokens, total: Callable[[Sequence[CountedRow]], Totals]
) -> tuple[TurnAccount, ...]:
    """One account for each turn number of a run that has several."""
    by_turn: dict[int, list[CountedRow]] = {}
    for row in rows:
        by_turn.setdefault(row[0].turn, []).append(row)
    if len(by_turn) < 2:
        return ()
    prompt_only = prompt_only_reuse(run, page_size)
    continued = _Continuation(run)
    accounts = []
    for turn in sorted(by_turn):
        of_turn = by_turn[turn]
        places = [place for request, _, _ in of_turn if (place := continued.parts_at(request)) is not None]
        unlike = [tokens for tokens, matches in places if not matches]
        accounts.append(
            TurnAccount(
                turn,
                len(of_turn),
                *total(of_turn),
                cached_prompt_only=sum(prompt_only[request.prompt] for request, _, _ in of_turn),
                compared=len(places),
                matched=len(places) - len(unlike),
                first_difference=min(unlike, default=None),
            )
        )
    return tuple(accounts)


class _Continuation:
    """Compares a prompt with prompt and answer of the turn before it, by their nodes in the tree."""

    def __init__(self, run: Run) -> None:
        self._tree = run.prompts
        self._depths = tree_depths(run.prompts)
        self._prompts = {(one.conversation, one.turn): one.prompt for one in run.requests}

    def parts_at(self, request: RequestRecord) -> tuple[Tokens, bool] | None:
        """How many leading tokens agree, and whether that is all of the turn before; ``None`` if unknown."""
        before = self._prompts.get((request.conversation, request.turn - 1))
        if before is None:
            return None
        said, asked = self._tree.sequences[before], self._tree.prompts[request.prompt]
        if said is None or asked is None:
            return None
        common = _common(self._tree, self._depths, said, asked)
        return common, common == self._depths[said]


def _common(tree: PromptTree, depths: Sequence[Tokens], one: int, other: int) -> Tokens:
    a: int | None = one
    b: int | None = other
    while a != b:  # a parent's number is below its child's, so the greater of the two can climb
        if b is None or (a is not None and a > b):
            a = None if a is None else tree.nodes[a].parent
        else:
            b = tree.nodes[b].parent
    return 0 if a is None else depths[a]
