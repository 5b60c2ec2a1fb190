"""Token ids: seeded, stable, and never sharing a first page by accident."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.errors import UsageError
from radixbench.workloads.tokens import RESERVE, TokenSource, begin, request_seeds


def source(
    vocab: int = 8192, cell: int = 0, families: int = 64, excluded: tuple[int, ...] = ()
) -> TokenSource:
    return TokenSource.of(vocab, excluded=excluded, cell=cell, families=families)


def test_draws_are_pinned() -> None:
    """The ids of a seed are part of what a capture means: they may not change with numpy or by a refactoring."""
    tokens = source(excluded=(0, 1, 2))
    assert tokens.draw("question", 0, 1, 4) == [[3517, 2642, 8191, 1844]]
    assert tokens.opening(0, 0) == [5441, 2475, 7445, 6846]
    assert tokens.shuffled("shuffle", 3, 5) == [0, 1, 3, 4, 2]


def test_excluded_ids_are_never_drawn() -> None:
    """Special tokens, and only they, are left out; those outside the vocabulary don't matter."""
    tokens = source(vocab=8, excluded=(0, 3, 7, 99, -1))
    drawn = np.array(tokens.draw("question", 0, 10, 200))
    assert set(drawn.ravel().tolist()) == {1, 2, 4, 5, 6}
    assert {tokens.opening(family, 1)[0] for family in range(64)} == {1, 2, 4, 5, 6}


@pytest.mark.parametrize(
    ("changed", "other"),
    [("cell", {"cell": 1}), ("seed", {"seed": 1}), ("purpose", {"purpose": "warm-up"})],
)
def test_draws_depend_on_cell_seed_and_purpose(changed: str, other: dict[str, object]) -> None:
    """Each of the three alone changes every run of ids; seed 0 is a seed like any other."""
    wanted: dict[str, object] = {"cell": 0, "seed": 0, "purpose": "question", **other}
    base = source().draw("question", 0, 1, 32)
    drawn = source(cell=int(str(wanted["cell"]))).draw(
        str(wanted["purpose"]), int(str(wanted["seed"])), 1, 32
    )
    assert drawn != base, changed


def test_no_two_families_share_their_first_token() -> None:
    """Over 3 cells and 4 seeds with 32 + 32 families each, reserve included, all first tokens differ."""
    firsts = []
    for cell in range(3):
        tokens = source(cell=cell, families=32)
        for seed in range(4):
            firsts += [tokens.opening(family, seed)[0] for family in range(32)]
            firsts += [tokens.reserved_opening(place, seed)[0] for place in range(RESERVE)]
    assert len(set(firsts)) == len(firsts) == 3 * 4 * 64


@given(
    vocab=st.integers(4, 40),
    places=st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 7)),
        min_size=2,
        max_size=30,
        unique=True,
    ),
)
def test_openings_stay_unique_beyond_the_vocabulary(vocab: int, places: list[tuple[int, int, int]]) -> None:
    """Where numbers exceed a tiny vocabulary the first four tokens together still differ for all."""
    openings = [
        tuple(source(vocab=vocab, cell=cell, families=8).opening(f, seed)) for cell, seed, f in places
    ]
    if vocab**4 > (66 * 40):
        assert len(set(openings)) == len(openings)


def test_distinct_ids_are_distinct_until_the_vocabulary_ends() -> None:
    """As many different ids as there are, then around again."""
    tokens = source(vocab=10)
    assert len(set(tokens.distinct("first/0", 0, 10))) == 10
    assert len(tokens.distinct("first/0", 0, 25)) == 25


@given(start=st.integers(0, 500), count=st.integers(0, 40), seed=st.integers(0, 3))
def test_a_run_can_be_read_from_anywhere(start: int, count: int, seed: int) -> None:
    """Ids from a place on are those that reading from the beginning gives there, and those ``draw`` gives."""
    tokens = source()
    whole = tokens.run("block", seed, start + count)
    assert tokens.run("block", seed, count, start=start).tolist() == whole[start:].tolist()
    assert tokens.draw("block", seed, 1, start + count) == [whole.tolist()]


@given(numbers=st.lists(st.integers(0, 99), min_size=2, unique=True), far=st.sampled_from([0, 10**30, -700]))
def test_labels_tell_numbers_apart(numbers: list[int], far: int) -> None:
    """Two ids name a number among as many as the vocabulary squared; neighbours differ in the first."""
    tokens = source(vocab=10)
    labels = [tuple(tokens.label(far + number)) for number in numbers]
    assert len(set(labels)) == len(numbers)
    assert tokens.label(far)[0] != tokens.label(far + 1)[0]


def test_scenarios_have_tokens_of_their_own() -> None:
    """A name changes order and draws; equal names give equal tokens, and no name is as it always was."""
    plain, named, again = (
        TokenSource.of(8192, families=64, scenario=name) for name in ("", "chat/0", "chat/0")
    )
    assert named.draw("question", 0, 1, 8) == again.draw("question", 0, 1, 8)
    assert named.draw("question", 0, 1, 8) != plain.draw("question", 0, 1, 8)
    assert named.opening(0, 0) == again.opening(0, 0) != plain.opening(0, 0)


def test_each_request_has_a_seed_that_servers_take() -> None:
    """Below 2**31, fixed by the run's seed, and all different."""
    seeds = request_seeds(3, 200)
    assert len(set(seeds)) == 200
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert request_seeds(3, 200) == seeds != request_seeds(4, 200)


def test_begin_keeps_the_length() -> None:
    """An opening replaces first tokens; a run shorter than it takes what fits."""
    assert begin([1, 2, 3, 4, 5], [9, 8]) == [9, 8, 3, 4, 5]
    assert begin([1], [9, 8]) == [9]


@pytest.mark.parametrize(
    "broken",
    [
        lambda: source(vocab=0),
        lambda: source(vocab=3, excluded=(0, 1)),
        lambda: source(cell=-1),
        lambda: source(families=0),
        lambda: source().opening(64, 0),
        lambda: source().opening(0, -1),
        lambda: source().reserved_opening(RESERVE, 0),
    ],
)
def test_impossible_sources_are_refused_in_words(broken: object) -> None:
    """A vocabulary with nothing to draw, or a place outside the plan, is the user's to mend."""
    with pytest.raises(UsageError):
        broken()  # type: ignore[operator]  # the parametrisation gives callables
