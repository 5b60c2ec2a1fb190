"""Whatever the slots, a plan reads each row's slots once and no others."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from radixbench.engine.batch import Batch
from radixbench.model.plan import MIN_RUN, RowsPlan, plan_step
from tests.model.builders import entry


@st.composite
def tries(draw: st.DrawFn) -> list[list[int]]:
    """Slot sequences of a batch: a tree of runs and scattered slots, each row ending in a slot of its own."""
    fresh = iter(np.random.default_rng(draw(st.integers(0, 99))).permutation(20_000).tolist())
    bases = iter(range(20_000, 90_000, 1_000))

    def piece() -> list[int]:
        length = draw(st.sampled_from([0, 1, 5, MIN_RUN - 1, MIN_RUN, 200]))
        if draw(st.booleans()):
            base = next(bases)
            return list(range(base, base + length))
        return [next(fresh) for _ in range(length)]

    paths: list[list[int]] = [[]]
    rows = []
    for _ in range(draw(st.integers(1, 7))):
        path = draw(st.sampled_from(paths)) + piece() + piece()
        paths.append(path)
        rows.append([*path, next(fresh)])
    return rows


def _read(plan: RowsPlan, row: int) -> Counter[int]:
    slots: Counter[int] = Counter(plan.loose[row].tolist())
    for run in plan.runs:
        if run.first_row <= row < run.end_row:
            source = plan.gathered if run.gathered else np.arange(100_000)
            slots.update(source[run.start : run.start + run.length].tolist())
    return slots


@given(tries(), st.booleans())
def test_each_row_reads_its_slots_once(rows: list[list[int]], in_place: bool) -> None:
    """The runs, gathered or not, and loose slots of a row are exactly its slots."""
    batch = Batch("decode", tuple(entry([0] * len(row), row, cached=len(row) - 1) for row in rows))
    plan = plan_step(batch, in_place=in_place)
    assert plan.rows is not None
    assert sorted(plan.order) == list(range(len(rows)))
    for place, index in enumerate(plan.order):
        assert _read(plan.rows, place) == Counter(rows[index])
        assert plan.written[place] == rows[index][-1]


@given(tries())
def test_parts_of_a_row_are_distinct(rows: list[list[int]]) -> None:
    """No two runs of a row claim the same block, so that none overwrites another."""
    batch = Batch("decode", tuple(entry([0] * len(row), row, cached=len(row) - 1) for row in rows))
    plan = plan_step(batch, in_place=True).rows
    assert plan is not None
    for row in range(len(rows)):
        parts = [run.part for run in plan.runs if run.first_row <= row < run.end_row]
        assert len(parts) == len(set(parts))
        assert all(part < plan.parts for part in parts)


def test_a_shared_run_is_read_once() -> None:
    """Rows with the same prefix share one run over all of them."""
    rows = [[*range(500), 1000 + i] for i in range(8)]
    batch = Batch("decode", tuple(entry([0] * 501, row, cached=500) for row in rows))
    plan = plan_step(batch, in_place=True).rows
    assert plan is not None
    (run,) = plan.runs
    assert (run.first_row, run.end_row, run.start, run.length) == (0, 8, 0, 500)


def test_spans_follow_single_tokens() -> None:
    """One-token entries are packed first; wanted rows and entries stay matched."""
    batch = Batch(
        "prefill",
        (
            entry([1, 2, 3], [0, 1, 2]),
            entry([4] * 10, range(10, 20), cached=9),
            entry([5, 6], [30, 31], wants_token=False),
        ),
    )
    plan = plan_step(batch, in_place=True)
    assert plan.order == (1, 0, 2)
    assert plan.token_ids.tolist() == [4, 1, 2, 3, 5, 6]
    assert plan.positions.tolist() == [9, 0, 1, 2, 0, 1]
    assert (plan.wanted, plan.answered) == ((0, 3), (1, 0))
    assert [(span.first_row, span.end_row) for span in plan.spans] == [(1, 4), (4, 6)]
