"""Agents, one prompt sampled many times, and prompts with nothing in common."""

from __future__ import annotations

from collections import Counter

import pytest

from radixbench.workloads.build import build
from radixbench.workloads.conversation import Workload
from tests.workloads.judge import first_arrivals, primed, prompts, reuse, sizes, source


def made(kind: str, seed: int = 0, **changes: object) -> Workload:
    wanted = sizes(**changes)
    return build(kind, wanted, seed=seed, tokens=source(kind, wanted))


@pytest.mark.parametrize("history", ["live", "recorded"])
def test_an_agent_finds_all_but_the_newest_result(history: str) -> None:
    """Step k finds the step before, answer included where the server gave it, and computes one tool result."""
    workload = made("agent", turns=4, history=history, think_time_s=0.2)
    found, asked = reuse(workload), prompts(workload)
    gained = 4 if history == "live" else 0
    for first, conversation in zip(first_arrivals(workload), workload.conversations, strict=True):
        lengths = [len(asked[turn.prompt]) for turn in conversation.turns]
        assert lengths == [28 + 8 + step * (5 + 9) for step in range(4)]
        assert [found[turn.prompt] for turn in conversation.turns] == [
            0 if first else 28,
            *(length + gained for length in lengths[:-1]),
        ]
        assert [turn.delay_s for turn in conversation.turns] == [0.0, 0.2, 0.2, 0.2]
    assert {primed(workload)[c.turns[0].prompt] for c in workload.conversations} == {28}


def test_an_agent_may_have_no_head() -> None:
    """Without system prompt and tools no two tasks share anything, and one turn is the plain case."""
    workload = made("agent", shared=0, tools_len=None)
    assert workload.request_count == 12
    assert (reuse(workload), workload.prefixes) == ([0] * 12, ())


@pytest.mark.parametrize("page", [1, 16])
def test_a_sampled_prompt_is_found_but_for_its_last_token(page: int) -> None:
    """All but the first of a prompt's requests find it, the last token apart, in whole pages."""
    workload = made("sampling", temperature=1.0)
    assert reuse(workload, page) == [0 if first else 31 // page * page for first in first_arrivals(workload)]
    assert primed(workload, page) == [31 // page * page] * 12
    assert sorted(Counter(prompts(workload)).values()) == [4, 4, 4]


def test_every_sampled_request_has_a_seed_of_its_own() -> None:
    """Temperature and seeds are those of the run; greedy requests carry none."""
    turns = [c.turns[0] for c in made("sampling", temperature=0.7).conversations]
    assert {turn.temperature for turn in turns} == {0.7}
    seeds = [turn.seed for turn in turns]
    assert len(set(seeds)) == 12
    assert all(seed is not None and 0 <= seed < 2**31 for seed in seeds)
    again = [c.turns[0].seed for c in made("sampling", temperature=0.7).conversations]
    other = [c.turns[0].seed for c in made("sampling", temperature=0.7, seed=1).conversations]
    assert again == seeds
    assert not set(other) & set(seeds)
    greedy = [c.turns[0] for c in made("sampling", temperature=0.0).conversations]
    assert {(turn.temperature, turn.seed) for turn in greedy} == {(0.0, None)}


def test_any_kind_can_be_sampled() -> None:
    """A chat at a temperature has a seed for every turn."""
    turns = [t for c in made("multi-turn", turns=3, temperature=1.0).conversations for t in c.turns]
    assert len({turn.seed for turn in turns}) == 36


def test_unique_prompts_share_nothing_and_are_as_long_as_shared_ones() -> None:
    """The case that loses: as many tokens as the shared-prefix cell, not one of them found."""
    workload = made("unique")
    assert reuse(workload) == [0] * 12
    assert {len(prompt) for prompt in prompts(workload)} == {32}
    assert workload.prefixes == ()
    assert len({prompt[0] for prompt in prompts(workload)}) == 12
