"""Text that stays short."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from radixbench.report.blocks import Block, within

LINES = st.lists(st.text("ab", max_size=8), max_size=8).map(tuple)
BLOCKS = st.lists(st.builds(Block, LINES, LINES, LINES), max_size=5)


@given(BLOCKS, st.integers(0, 200))
def test_never_longer_than_the_limit(blocks, limit):
    """Whatever the blocks."""
    assert sum(len(line) + 1 for line in within(blocks, limit)) <= limit


@given(BLOCKS)
def test_with_room_for_all_nothing_is_lost(blocks):
    """Every line in its order; a block without rows isn't there."""
    expected = [line for b in blocks if b.rows for line in (*b.head, *b.rows, *b.tail)]
    assert within(blocks, 10_000) == expected


def test_rows_that_are_left_out_are_counted():
    """The head and the tail stay, so that a table stays one."""
    block = Block(("head",), tuple("x" * 9 for _ in range(20)), ("tail",))
    kept = within([block], 100)
    assert kept == ["head", *["x" * 9] * 5, "", "… and 15 more lines: see the report", "tail"]
