"""Which requests something happens to."""

from __future__ import annotations

import pytest

from radixbench.errors import UsageError
from radixbench.mock.which import ALL, NEVER, Which, draw, parse_which


def chosen(which: Which, upto: int, *, seed: int = 0, what: str = "x") -> list[int]:
    return [number for number in range(1, upto + 1) if which.holds(number, seed=seed, what=what)]


def test_every_third_is_counted_from_one() -> None:
    """1/3 hits requests 3, 6, 9."""
    assert chosen(parse_which("1/3", "--x"), 10) == [3, 6, 9]


def test_the_first_few() -> None:
    """first:2 hits requests 1 and 2."""
    assert chosen(parse_which("first:2", "--x"), 5) == [1, 2]


def test_all_and_never() -> None:
    """all hits each, never none; a share of 1 is all."""
    assert chosen(parse_which("all", "--x"), 3) == chosen(parse_which("1", "--x"), 3) == [1, 2, 3]
    assert chosen(parse_which("never", "--x"), 3) == chosen(parse_which("0", "--x"), 3) == []


def test_a_share_is_drawn_by_seed_and_fault() -> None:
    """The same seed draws the same requests, about as many as asked; another seed or fault draws others."""
    share = parse_which("0.3", "--x")
    found = chosen(share, 2000)
    assert found == chosen(share, 2000)
    assert 500 < len(found) < 700
    assert found != chosen(share, 2000, seed=1)
    assert found != chosen(share, 2000, what="y")


@pytest.mark.parametrize("text", ["all", "never", "1/7", "first:3", "0.25"])
def test_it_reads_back_what_it_prints(text: str) -> None:
    """A choice printed is the choice parsed."""
    assert str(parse_which(text, "--x")) == text
    assert (str(ALL), str(NEVER)) == ("all", "never")


@pytest.mark.parametrize("text", ["", "1/0", "1/x", "first:0", "first:", "2", "-0.1", "nan", "often"])
def test_nonsense_is_refused_with_its_flag(text: str) -> None:
    """A wrong choice names the flag and what would be right."""
    with pytest.raises(UsageError, match=r"--fail holds .*; give all, never, 1/N"):
        parse_which(text, "--fail")


def test_draws_are_spread() -> None:
    """Draws lie between 0 and 1 and differ."""
    values = [draw(f"{number}") for number in range(100)]
    assert all(0 <= value < 1 for value in values)
    assert len(set(values)) == 100
