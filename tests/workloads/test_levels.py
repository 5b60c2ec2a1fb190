"""Sharing on several levels: few-shot prompts, retrieval and trees."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from radixbench.errors import UsageError
from radixbench.workloads.build import build
from radixbench.workloads.conversation import Workload
from tests.workloads.judge import SIZES, common, first_arrivals, primed, prompts, reuse, sizes, source


def made(kind: str, seed: int = 0, **changes: object) -> Workload:
    wanted = sizes(**changes)
    return build(kind, wanted, seed=seed, tokens=source(kind, wanted))


@pytest.mark.parametrize(("shared", "page"), [(0, 1), (24, 1), (24, 16)])
def test_few_shot_shares_the_instruction_with_all_and_the_examples_within_a_group(
    shared: int, page: int
) -> None:
    """The very first prompt finds nothing, a group's first the instruction, every other the examples too."""
    workload = made("few-shot", shared=shared)
    firsts = first_arrivals(workload)
    all_of_it = (shared + 12) // page * page
    expected = [shared // page * page if first else all_of_it for first in firsts]
    expected[0] = 0
    assert reuse(workload, page) == expected
    assert primed(workload, page) == [all_of_it] * 12
    assert {len(prompt) for prompt in prompts(workload)} == {shared + 12 + 8}


def test_rag_in_store_order_shares_the_head_and_leading_documents() -> None:
    """A prompt finds the head, and of its documents as many as an earlier one began with."""
    workload = made("rag", groups=2, prompts_per_group=10, documents=4)
    head = 24 + 4
    earlier: list[tuple[int, ...]] = []
    for found, prompt in zip(reuse(workload), prompts(workload), strict=True):
        assert len(prompt) == head + 2 * 7 + 8
        documents = (found - head) // 7
        assert found == (head + 7 * documents if earlier else 0)
        assert found == max((common(prompt, other) for other in earlier), default=0)
        earlier.append(prompt)
    assert primed(workload) == [head] * 20
    assert sum(reuse(workload)) > 19 * head


@pytest.mark.parametrize(("shared", "tools"), [(24, 4), (0, 0), (0, 4), (24, None)])
def test_scrambled_documents_are_the_same_documents(shared: int, tools: int | None) -> None:
    """All of a store in every prompt: in order all of it is found, scrambled only where the order agrees."""
    plan = {"shared": shared, "tools_len": tools, "documents": 4, "documents_per_prompt": 4}
    ordered = made("rag", document_order="ordered", **plan)
    scrambled = made("rag", document_order="scrambled", **plan)
    head = shared + (tools or 0)
    expected = [head if first else head + 28 for first in first_arrivals(ordered)]
    assert reuse(ordered) == [0, *expected[1:]]
    assert sum(reuse(scrambled)) < sum(reuse(ordered))
    assert min(reuse(scrambled)[1:]) >= head
    for one, other in zip(prompts(ordered), prompts(scrambled), strict=True):
        assert sorted(one[4:]) == sorted(other[4:]) or not head
        assert len(one) == len(other)
    assert ordered.prefixes == (() if not head else (prompts(ordered)[0][:head],))


def test_more_documents_than_stored_are_refused() -> None:
    """A prompt can't cite what isn't there."""
    with pytest.raises(UsageError, match="6 of 5 documents"):
        made("rag", documents_per_prompt=6)


@pytest.mark.parametrize(
    ("depth", "fanout", "shared"), [(3, 2, 24), (3, 3, 25), (1, 4, 10), (4, 2, 2), (2, 2, 0)]
)
def test_a_tree_shares_the_levels_two_prompts_have_in_common(depth: int, fanout: int, shared: int) -> None:
    """Every overlap is that of whole levels, and the tree finds the longest of them in every prompt."""
    workload = made("tree", depth=depth, fanout=fanout, shared=shared, prompts_per_group=11)
    levels = {sum(shared // depth + (at < shared % depth) for at in range(to)) for to in range(depth + 1)}
    asked = prompts(workload)
    groups = [conversation.group for conversation in workload.conversations]
    overlaps = Counter()
    for (group, a), (other, b) in itertools.combinations(zip(groups, asked, strict=True), 2):
        assert common(a, b) in (levels if group == other else {0})
        overlaps[common(a, b)] += group == other
    assert set(overlaps) | {0} == levels
    best = [max((common(a, b) for b in asked[:at]), default=0) for at, a in enumerate(asked)]
    assert reuse(workload) == best
    assert primed(workload) == [shared] * 33
    assert {len(prompt) for prompt in asked} == {shared + 8}


def test_questions_are_spread_over_all_leaves() -> None:
    """Eight prompts on four leaves are two each; three on four leave one empty, not half of the tree."""
    assert len(made("tree", groups=1, prompts_per_group=8).prefixes) == 4
    few = made("tree", groups=1, prompts_per_group=3)
    assert len(few.prefixes) == 3
    assert len({prefix[:16] for prefix in few.prefixes}) == 2


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("few-shot", "examples"),
        ("few-shot", "example_len"),
        ("rag", "documents"),
        ("rag", "documents_per_prompt"),
        ("rag", "document_len"),
        ("tree", "depth"),
        ("tree", "fanout"),
        ("agent", "tool_result_len"),
    ],
)
def test_a_size_that_is_missing_is_named(kind: str, name: str) -> None:
    """What the kind needs and nobody decided is refused in words, as is none of it."""
    words = name.replace("_len", " length").replace("_", " ")
    for value, said in ((None, "nothing"), (0, "0")):
        wanted = sizes(turns=2 if kind == "agent" else None, **{name: value})
        with pytest.raises(UsageError, match=f"{words} of {said} make no workload"):
            build(kind, wanted, seed=0, tokens=source(vocab=64))
    assert getattr(SIZES, name) is not None
