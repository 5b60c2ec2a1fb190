"""Field faults of seeds, order and prefixes: runs that weren't cold, prefixes that weren't the same."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from radixbench.bench.identity import ServerFacts
from radixbench.bench.schedule import schedule
from radixbench.bench.traffic import Traffic
from radixbench.errors import UsageError
from radixbench.scenario.load import override
from radixbench.scenario.model import Scenario
from radixbench.scenario.resolve import resolve
from radixbench.workloads.build import KINDS, build, families
from radixbench.workloads.chats import Chat, chats
from radixbench.workloads.conversation import Conversation, Message, Turn, Workload
from radixbench.workloads.distinct import duplicates, refuse_duplicates
from radixbench.workloads.tokens import RESERVE, TokenSource
from radixbench.workloads.warmup import probe, warmup
from tests.workloads.judge import common, first_arrivals, prompts, reuse, sizes, source

ASSISTANT, THINK, THINK_END = 9000, 9001, 9002


def test_fault_2_no_two_cells_share_their_first_block() -> None:
    """A sweep of three cells with one seed: not one first token of any kind is met in two cells."""
    for kind in KINDS:
        met: dict[int, int] = {}
        for cell, shared in enumerate((0, 16, 64)):
            wanted = sizes(shared=shared)
            workload = build(kind, wanted, seed=0, tokens=source(kind, wanted, cell))
            for prompt in prompts(workload):
                assert met.setdefault(prompt[0], cell) == cell, kind


def test_fault_4_prompts_of_a_cold_run_differ_in_their_first_block() -> None:
    """Four workers share one seeded script, so every prompt is made once and no two begin alike."""
    wanted = sizes(groups=4, prompts_per_group=64)
    asked = prompts(build("unique", wanted, seed=0, tokens=source("unique", wanted)))
    shares = [asked[worker::4] for worker in range(4)]
    assert len({prompt[:1] for share in shares for prompt in share}) == 256
    assert sum(reuse(build("unique", wanted, seed=0, tokens=source("unique", wanted)))) == 0


def test_fault_5_duplicates_in_a_cold_set_are_refused() -> None:
    """One dummy prompt for all of a thousand requests: refused with their number."""
    dummy = Workload(
        "shared-prefix",
        tuple(
            Conversation(at, 0, (Turn(prompt=at, user_ids=(5, 6, 7), output_len=1),)) for at in range(1000)
        ),
    )
    with pytest.raises(UsageError, match="cold set has 999 duplicates"):
        refuse_duplicates(dummy)
    wanted = sizes(shared=0, groups=10, prompts_per_group=100)
    honest = build("shared-prefix", wanted, seed=0, tokens=source("shared-prefix", wanted))
    refuse_duplicates(honest)
    assert duplicates(honest) == 0


def test_fault_8_warm_up_never_equals_a_measured_prompt() -> None:
    """Neither warm-up nor probe begins like a measured prompt, in any kind."""
    for kind in KINDS:
        tokens = source(kind)
        measured = {prompt[0] for prompt in prompts(build(kind, sizes(), seed=0, tokens=tokens))}
        around = warmup(count=RESERVE - 1, prompt_len=32, output_len=1, seed=0, tokens=tokens)
        outside = {prompt[0] for prompt in prompts(around)}
        assert not measured & (outside | {probe(prompt_len=32, seed=0, tokens=tokens)[0]}), kind


def test_fault_14_prefixes_of_two_scenarios_differ_unless_asked_for() -> None:
    """The same seed in another scenario is another prefix; sources without a name have the same ones."""

    def prefixes(scenario: str) -> tuple[Sequence[int], ...]:
        tokens = TokenSource.of(8192, families=families("shared-prefix", sizes()), scenario=scenario)
        return build("shared-prefix", sizes(), seed=0, tokens=tokens).prefixes

    first, second = prefixes("chat"), prefixes("chat with long answers")
    assert all(common(a, b) == 0 for a in first for b in second)
    assert prefixes("chat") == first
    same = build("shared-prefix", sizes(), seed=0, tokens=source("shared-prefix", sizes())).prefixes
    longer = sizes(output_len=99)
    assert build("shared-prefix", longer, seed=0, tokens=source("shared-prefix", longer)).prefixes == same


@pytest.mark.parametrize("same", [False, True])
def test_fault_14_the_flag_same_prefix_asks_for_it(same: bool) -> None:
    """Two scenarios that differ in name and answer length begin alike only under ``--same-prefix``."""
    facts = ServerFacts("m", 8192, frozenset(), None, None, 1, "cpu", {})
    asked: list[list[Sequence[int]]] = []
    for name, output_len in (("chat", "8"), ("chat-long", "99")):
        scenario = override(
            Scenario(name=name), shared="64", output_len=output_len, prompts_per_group=2, same_prefix=same
        )
        scenario = resolve(scenario, on_cpu=True)
        asked.append(prompts(Traffic(scenario, None).asked(schedule(scenario)[0], facts).workload))
    first, second = asked
    if same:
        assert [tuple(one) for one in first] == [tuple(one) for one in second]
    else:
        assert all(common(a, b) == 0 for a in first for b in second)


def test_fault_46_the_expected_hit_rate_is_that_of_the_ids_sent() -> None:
    """A prefix of 4,096 tokens is 4,096 tokens, so 80 % is 80 % (less each group's first prompt)."""
    wanted = sizes(shared=4096, groups=1, prompts_per_group=25, question_len=1024)
    workload = build("shared-prefix", wanted, seed=0, tokens=source("shared-prefix", wanted))
    assert {len(prompt) for prompt in prompts(workload)} == {5120}
    assert sum(reuse(workload)) / (24 * 5120) == 0.8


def test_fault_88_prefix_and_question_are_joined_as_ids() -> None:
    """The boundary is at the same token in every prompt: exactly the asked length is common to a group."""
    workload = build("shared-prefix", sizes(shared=129), seed=1, tokens=source("shared-prefix", sizes()))
    assert reuse(workload) == [0 if first else 129 for first in first_arrivals(workload)]
    assert {len(prefix) for prefix in workload.prefixes} == {129}


def test_fault_89_text_encoded_anew_is_judged_by_the_ids_it_becomes() -> None:
    """Generated H|anzi against encoded Han|zi: the next prompt matches up to the first differing position."""
    asked = Chat(
        "hanzi",
        (
            Message("user", "say it"),
            Message("assistant", "Hanzi"),
            Message("user", "again"),
            Message("assistant", "Hanzi"),
        ),
    )
    encoded = {"say it": (10, 11), "again": (12,), "Hanzi": (21, 22)}
    generated = (20, 23)

    def render(messages: Sequence[Message]) -> tuple[int, ...]:
        ids: list[int] = []
        for message in messages:
            ids += [ASSISTANT if message.role == "assistant" else 1, *encoded[message.text]]
        return (*ids, ASSISTANT)

    workload = chats((asked,), history="retokenized", render=render, output_len=2, seed=0)
    first, second = workload.conversations[0].turns
    asked_first = render(first.messages)
    asked_second = render((*first.messages, Message("assistant", "Hanzi"), *second.messages))
    assert common(asked_first + generated, asked_second) == len(asked_first)


def thinking(*, every_turn: bool) -> tuple[Workload, list[tuple[int, ...]]]:
    """A chat of two answers under a template that opens the turn to be answered with a think block."""

    def render(messages: Sequence[Message]) -> tuple[int, ...]:
        ids: list[int] = []
        for message in messages:
            answer = message.role == "assistant"
            block = [THINK, THINK_END] if answer and every_turn else []
            ids += [ASSISTANT if answer else 1, *block, *map(ord, message.text)]
        return (*ids, ASSISTANT, THINK, THINK_END)

    long = "x" * 71_320
    chat = Chat(
        "think",
        (
            Message("user", long),
            Message("assistant", "yes"),
            Message("user", "and?"),
            Message("assistant", "no"),
        ),
    )
    workload = chats((chat,), history="recorded", render=render, output_len=2, seed=0)
    return workload, prompts(workload)


def test_fault_91_expected_hits_end_where_rendered_prompts_part() -> None:
    """Turn 2 shares what the template left of turn 1, not turn 1's length: all but the think block."""
    workload, (first, second) = thinking(every_turn=False)
    assert len(first) == 71_324
    assert reuse(workload) == [0, common(first, second)] == [0, 71_322]


def test_fault_92_a_think_block_in_the_last_turn_only_is_seen() -> None:
    """With the block in every turn all of turn 1 is found; with it in the last alone the block is not."""
    kept, (first, _) = thinking(every_turn=True)
    stripped, _ = thinking(every_turn=False)
    assert reuse(kept)[1] == len(first)
    assert reuse(stripped)[1] == len(first) - 2
