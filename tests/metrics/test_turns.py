"""Turn by turn: what prompt and answer, and the prompt alone, would have given, and where a history parts."""

from __future__ import annotations

import pytest

from radixbench.metrics.answers import sort_out
from radixbench.metrics.cache import cache_account
from radixbench.metrics.figure import TurnAccount
from tests.builders import make_request, make_run
from tests.metrics.played import Asked, play

FIRST = tuple(range(100, 120))
ANSWER = (7, 8, 9, 10)


def second_turn(asked: tuple[int, ...], cached: int | None = 23) -> TurnAccount:
    """Turn 1 of a conversation whose first turn was FIRST, answered with ANSWER."""
    requests = [
        make_request(0, prompt_tokens=20, output_ids=ANSWER, conversation=0),
        make_request(1, send_s=1.0, prompt_tokens=len(asked), cached=cached, conversation=0, turn=1),
    ]
    return cache_account(sort_out(make_run(requests, prompts=[FIRST, asked]))).turns[1]


def test_a_history_that_continues() -> None:
    """Prompt and answer come back token by token: 23 of 24 are cached, 20 by the prompt alone."""
    turn = second_turn((*FIRST, *ANSWER, *range(500, 510)))
    assert (turn.expected_low, turn.expected_high, turn.cached_prompt_only) == (23, 23, 20)
    assert (turn.compared, turn.matched, turn.first_difference) == (1, 1, None)


def test_a_history_that_parts_within_the_answer() -> None:
    """The answer was encoded anew and its second token differs: hits end there."""
    turn = second_turn((*FIRST, 7, 80, 9, 10, *range(500, 510)), cached=21)
    assert (turn.compared, turn.matched, turn.first_difference) == (1, 0, 21)
    assert turn.expected_high == 21


@pytest.mark.parametrize(
    ("cached", "met"),
    [(23, "prompt and answer"), (22, "prompt only"), (20, "prompt only"), (19, "neither"), (None, None)],
)
def test_which_level_was_met(cached: int | None, met: str | None) -> None:
    """A server that forgets answers reaches the lower level only."""
    assert second_turn((*FIRST, *ANSWER, 500), cached).met == met


def test_levels_that_are_one() -> None:
    """In the first turn there is no answer to forget, and nothing to tell."""
    run = play([Asked(0, FIRST), Asked(0, (1, 2), follows=0)])
    turns = cache_account(sort_out(run)).turns
    assert [turn.met for turn in turns] == [None, "prompt and answer"]
    assert (turns[0].compared, turns[1].compared, turns[1].matched) == (0, 1, 1)


def test_an_unknown_answer_is_not_compared() -> None:
    """Without the answer's ids nobody knows whether the history continues."""
    requests = [
        make_request(0, prompt_tokens=20, output_ids=None, conversation=0),
        make_request(1, send_s=1.0, prompt_tokens=24, cached=20, conversation=0, turn=1),
    ]
    run = make_run(requests, prompts=[FIRST, (*FIRST, *ANSWER)])
    turn = cache_account(sort_out(run)).turns[1]
    assert (turn.compared, turn.matched, turn.first_difference) == (0, 0, None)
