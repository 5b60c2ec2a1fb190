"""Prompts as they were sent, by the content hashes of their tokens."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.capture.model import Capture
from radixbench.compare.comparison import compare
from radixbench.compare.sent import parted
from tests.builders import make_capture, make_request, make_run, make_sweep

TOKENS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6).map(tuple), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(TOKENS, TOKENS)
def test_only_prompts_that_differ_are_called_so(a: list, b: list) -> None:
    """However the trees are split, equal prompts never count; of those that do every one differs."""
    n = min(len(a), len(b))
    one, other = (make_run([make_request(i) for i in range(n)], prompts=prompts[:n]) for prompts in (a, b))
    found = parted(one, other, "live")
    assert found.compared == n
    assert found.others <= sum(x != y for x, y in zip(a, b, strict=False))
    assert found.others >= sum(len(x) != len(y) for x, y in zip(a, b, strict=False))
    assert parted(one, one, "live").others == 0


def talks(answer: int, history: str) -> Capture:
    """Three seeds of a conversation of two turns, whose second prompt holds the first's answer."""
    prompts = [(1, 2, 3), (1, 2, 3, answer, 9)]
    runs = []
    for seed in range(3):
        requests = [make_request(turn, turn=turn, conversation=0, send_s=float(turn)) for turn in (0, 1)]
        runs.append(make_run(requests, prompts=prompts, seed=seed, order=seed))
    capture = make_capture(runs)
    workload = replace(capture.scenario.workload, history=history)
    return replace(capture, scenario=replace(capture.scenario, workload=workload))


@pytest.mark.parametrize("history", ["live", "retokenized"])
def test_answers_in_a_live_history_are_listed(history: str) -> None:
    """The script is the same, later turns hold other answers: allowed, listed and said."""
    comparison = compare(talks(5, history), talks(6, history))
    (listed,) = [one for one in comparison.differences if one.field == "answers in the history"]
    assert (listed.a, listed.b, listed.where) == ("6 prompts", "3 of them with other tokens", "3 of 3 pairs")
    assert comparison.eligible
    (told,) = [one for one in comparison.caveats if one.code == "prompts-parted"]
    assert told.remedy.startswith("--history recorded")
    assert "settings-differ" not in {one.code for one in comparison.caveats}


def test_other_tokens_of_an_equal_script_forbid_a_verdict() -> None:
    """Where no answer explains it, both sides didn't send what the script says."""
    comparison = compare(talks(5, "recorded"), talks(6, "recorded"))
    (forbids,) = [one for one in comparison.differences if one.forbids]
    assert (forbids.field, forbids.where) == ("prompts as sent", "3 of 3 pairs")
    assert "prompts as sent of 3 of 3 pairs" in (comparison.changes[0].reason or "")


def test_equal_prompts_are_no_difference() -> None:
    """Both arms of a sweep sent the same."""
    fields = {one.field for one in compare(*make_sweep()).differences}
    assert fields == {"mode"}
