"""Every kind by name: seeded, distinct over kinds, cells and seeds, and refused in words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.errors import UsageError
from radixbench.workloads.build import KINDS, Sizes, build, families
from radixbench.workloads.distinct import duplicates, refuse_duplicates
from radixbench.workloads.tokens import RESERVE, TokenSource
from radixbench.workloads.warmup import probe, probe_extension, warmup
from tests.workloads.judge import SIZES, prompts, sizes, source


def test_every_kind_can_be_built() -> None:
    """Each has its name, its prompts in order and a digest that only its own seed gives."""
    for kind in KINDS:
        digests = {
            build(kind, SIZES, seed=seed, tokens=source(kind, cell=cell)).digest
            for seed in range(2)
            for cell in range(2)
        }
        again = build(kind, SIZES, seed=1, tokens=source(kind, cell=1))
        assert (again.kind, len(digests)) == (kind, 4)
        assert again.digest in digests
        numbers = [turn.prompt for conversation in again.conversations for turn in conversation.turns]
        assert numbers == list(range(again.request_count))


def test_unknown_kinds_and_turns_without_turns_are_refused() -> None:
    """The remedy names what there is; turns default to one."""
    with pytest.raises(UsageError, match=r"choose shared-prefix, multi-turn, .* or unique"):
        build("shared_prefix", SIZES, seed=0, tokens=source())
    with pytest.raises(UsageError, match="there is no workload"):
        families("trace", SIZES)
    for kind in KINDS:
        if kind not in {"multi-turn", "agent"}:
            assert build(kind, sizes(turns=1), seed=0, tokens=source(kind)).request_count == 12
            with pytest.raises(UsageError, match="use multi-turn"):
                build(kind, sizes(turns=2), seed=0, tokens=source(kind))


@pytest.mark.parametrize("name", ["groups", "prompts_per_group", "question_len", "output_len"])
def test_empty_workloads_are_refused(name: str) -> None:
    """A size of 0 says which one it is."""
    with pytest.raises(UsageError, match="of 0 make no workload"):
        sizes(**{name: 0})


@pytest.mark.parametrize(
    "broken", [{"shared": -1}, {"think_time_s": -0.5}, {"think_time_s": float("nan")}, {"temperature": -1.0}]
)
def test_sizes_below_nothing_are_refused(broken: dict[str, object]) -> None:
    """Sharing fewer than no tokens, or waiting less than no time, has no meaning."""
    with pytest.raises(UsageError, match="give 0 or more"):
        sizes(**broken)


def test_a_law_that_orders_nothing_is_refused() -> None:
    """An exponent below 0, or none at all, is no Zipf's law."""
    for exponent in (-1.0, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="orders no groups"):
            build(
                "shared-prefix",
                sizes(distribution="zipf", zipf_exponent=exponent),
                seed=0,
                tokens=source(),
            )


LENGTHS = st.integers(0, 9)


@st.composite
def any_sizes(draw: st.DrawFn) -> Sizes:
    """Sizes a sweep might have, small."""
    return sizes(
        shared=draw(LENGTHS),
        groups=draw(st.integers(1, 3)),
        prompts_per_group=draw(st.integers(1, 4)),
        question_len=draw(st.integers(2, 5)),
        tools_len=draw(LENGTHS),
        example_len=draw(st.integers(1, 4)),
        document_order=draw(st.sampled_from(["ordered", "scrambled"])),
        distribution=draw(st.sampled_from(["uniform", "zipf"])),
        fanout=draw(st.integers(1, 3)),
        depth=draw(st.integers(1, 4)),
        history=draw(st.sampled_from(["live", "recorded"])),
    )


@given(kind=st.sampled_from(KINDS), wanted=any_sizes(), cells=st.integers(1, 3), seeds=st.integers(1, 3))
@settings(max_examples=80, deadline=None)
def test_no_two_cells_or_seeds_share_a_first_page(kind: str, wanted: Sizes, cells: int, seeds: int) -> None:
    """Whatever the kind and its sizes, not one first token is met in two runs, warm-up and probe included."""
    owners: dict[int, tuple[int, int]] = {}
    for cell in range(cells):
        tokens = source(kind, wanted, cell)
        for seed in range(seeds):
            workload = build(kind, wanted, seed=seed, tokens=tokens)
            measured = {prompt[0] for prompt in prompts(workload)}
            assert {prefix[0] for prefix in workload.prefixes} <= measured
            around = warmup(count=RESERVE - 1, prompt_len=6, output_len=1, seed=seed, tokens=tokens)
            outside = {prompt[0] for prompt in prompts(around)}
            outside.add(probe(prompt_len=6, seed=seed, tokens=tokens)[0])
            assert len(outside) == RESERVE
            assert not measured & outside
            for first in measured | outside:
                assert owners.setdefault(first, (cell, seed)) == (cell, seed)


@given(kind=st.sampled_from(KINDS), wanted=any_sizes())
@settings(max_examples=40, deadline=None)
def test_only_sampling_repeats_a_prompt(kind: str, wanted: Sizes) -> None:
    """No made-up kind has equal prompts, but the one that asks again on purpose."""
    workload = build(kind, wanted, seed=0, tokens=source(kind, wanted))
    refuse_duplicates(workload)
    if kind != "sampling":
        assert duplicates(workload) == 0


def test_the_families_of_the_largest_cell_do_for_all() -> None:
    """A sweep over groups makes its sources for the largest number, and no two cells begin alike."""
    cells = [sizes(groups=groups) for groups in (1, 4, 2)]
    number = max(families("rag", cell) for cell in cells)
    assert number == 4 * 5
    firsts: list[int] = []
    for at, cell in enumerate(cells):
        tokens = TokenSource.of(8192, cell=at, families=number)
        firsts += {prompt[0] for prompt in prompts(build("rag", cell, seed=0, tokens=tokens))}
    assert len(set(firsts)) == len(firsts)


def test_warm_up_keeps_within_its_reserve() -> None:
    """As many prompts as asked for with the lengths asked for; more than the reserve holds are refused."""
    warm = warmup(count=RESERVE - 1, prompt_len=12, output_len=3, seed=0, tokens=source())
    assert warm.request_count == RESERVE - 1
    assert {len(c.turns[0].user_ids) for c in warm.conversations} == {12}
    assert warmup(count=0, prompt_len=12, output_len=3, seed=0, tokens=source()).request_count == 0
    for count, length in ((RESERVE, 12), (1, 0)):
        with pytest.raises(UsageError):
            warmup(count=count, prompt_len=length, output_len=3, seed=0, tokens=source())


def test_a_probe_has_an_extension() -> None:
    """The extension is the probe and some tokens more; an empty one of either is refused."""
    short = probe(prompt_len=40, seed=2, tokens=source())
    longer = probe_extension(prompt_len=40, more=16, seed=2, tokens=source())
    assert longer[:40] == short
    assert len(longer) == 56
    with pytest.raises(UsageError):
        probe(prompt_len=0, seed=0, tokens=source())
    with pytest.raises(UsageError):
        probe_extension(prompt_len=40, more=0, seed=0, tokens=source())
