"""Duplicates in a cold set."""

from __future__ import annotations

import numpy as np
import pytest

from radixbench.errors import UsageError
from radixbench.workloads.build import build
from radixbench.workloads.chats import Chat, chats
from radixbench.workloads.conversation import Conversation, Message, Turn, Workload
from radixbench.workloads.distinct import duplicates, refuse_duplicates
from tests.workloads.judge import sizes, source


def asking(*prompts: tuple[int, ...], kind: str = "unique") -> Workload:
    return Workload(
        kind,
        tuple(
            Conversation(index, 0, (Turn(prompt=index, user_ids=ids, output_len=1),))
            for index, ids in enumerate(prompts)
        ),
    )


def test_equal_prompts_are_counted_whatever_holds_their_ids() -> None:
    """Each but the first of equals; scripted ids and whole ids alike, and the order of ids matters."""
    assert duplicates(asking((1, 2), (2, 1), (1, 2), (1, 2), (3,))) == 2
    whole = Turn(prompt=1, user_ids=(), output_len=1, whole_ids=np.array([1, 2]).tolist())
    mixed = Workload("unique", (*asking((1, 2)).conversations, Conversation(1, 0, (whole,))))
    assert duplicates(mixed) == 1


def test_turns_that_wait_for_an_answer_are_no_prompts_yet() -> None:
    """Two users may well say the same after different answers."""
    wanted = sizes(turns=3, history="live")
    workload = build("multi-turn", wanted, seed=0, tokens=source("multi-turn", wanted))
    assert duplicates(workload) == 0
    recorded = build(
        "multi-turn", sizes(turns=3, history="recorded"), seed=0, tokens=source("multi-turn", wanted)
    )
    assert duplicates(recorded) == 0


def test_repeats_on_purpose_are_allowed() -> None:
    """One prompt sampled many times, and chats that were recorded twice."""
    sampled = build("sampling", sizes(), seed=0, tokens=source("sampling"))
    assert duplicates(sampled) == 9
    refuse_duplicates(sampled)
    twice = Chat("a", (Message("user", "x"), Message("assistant", "y")))
    talk = chats((twice, twice), history="retokenized", render=lambda _: (1,), output_len=1, seed=0)
    assert duplicates(talk) == 1
    refuse_duplicates(talk)


def test_a_cold_set_with_repeats_is_refused_with_a_remedy() -> None:
    """Too many questions of one token for a tiny vocabulary."""
    wanted = sizes(shared=4, groups=1, prompts_per_group=40, question_len=1)
    workload = build("shared-prefix", wanted, seed=0, tokens=source("shared-prefix", wanted, vocab=16))
    with pytest.raises(UsageError, match=r"cold set has 27 duplicates .*ask longer questions"):
        refuse_duplicates(workload)
