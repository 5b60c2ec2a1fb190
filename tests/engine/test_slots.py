"""The slot pool: exact counts, whole pages, long runs, soft promises."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from radixbench.engine.slots import Room, Run, SlotPool


def run_slots(runs: list[Run]) -> list[int]:
    """All slots of some runs."""
    return [slot for start, stop in runs for slot in range(start, stop)]


def test_size_is_whole_pages() -> None:
    """A pool that isn't a multiple of the page loses the remainder."""
    assert SlotPool(10, page_size=4).size == 8


def test_decode_tokens_land_behind_their_prompt() -> None:
    """Requests that grow by turns each keep one run, thanks to the room promised behind them."""
    pool, rooms = SlotPool(1000), [Room() for _ in range(8)]
    ends = [pool.take(room, 32, ahead=64)[0].stop for room in rooms]
    for turn in range(64):
        assert [pool.take_page(room) for room in rooms] == [end + turn for end in ends]
    assert [pool.take_page(room) for room in rooms] == [None] * 8


def test_promises_are_soft() -> None:
    """Promised slots count as free and are recalled when someone needs them."""
    pool, room = SlotPool(100), Room()
    pool.take(room, 10, ahead=90)
    assert pool.free == 90
    assert sorted(run_slots(pool.take(Room(), 90))) == list(range(10, 100))
    assert pool.take_page(room) is None
    pool.check()


def test_freed_neighbours_merge() -> None:
    """Runs freed in any order become one extent again."""
    pool = SlotPool(64)
    held = [run_slots(pool.take(Room(), 8)) for _ in range(8)]
    for index in (3, 1, 2, 0, 7, 5, 6, 4):
        pool.give_back(np.asarray(held[index], dtype=np.int32))
    assert pool.take(Room(), 64) == [Run(0, 64)]


def test_a_run_continues_where_asked() -> None:
    """With ``after``, slots come from right behind it if enough are free there."""
    pool, room = SlotPool(100), Room()
    first = pool.take(room, 20, ahead=10)[0]
    pool.take(Room(), 20)
    pool.close(room)
    assert pool.take(Room(), 10, after=first.stop - 1) == [Run(20, 30)]


def test_a_short_extent_serves_what_no_long_one_can() -> None:
    """When no single extent is long enough the request gets several runs, and all of them."""
    pool = SlotPool(30)
    held = [run_slots(pool.take(Room(), 10)) for _ in range(3)]
    pool.give_back(np.asarray(held[0] + held[2], dtype=np.int32))
    assert sorted(run_slots(pool.take(Room(), 20))) == [*range(10), *range(20, 30)]
    assert pool.free == 0


class PoolMachine(RuleBasedStateMachine):
    """Whatever is taken, promised and given back, every slot has one owner."""

    @initialize(page_size=st.sampled_from([1, 2, 4]), size=st.integers(8, 80))
    def start(self, page_size: int, size: int) -> None:
        self.pool = SlotPool(size, page_size)
        self.held: list[tuple[Room, list[int]]] = []

    @rule(pages=st.integers(1, 8), ahead=st.integers(0, 20), data=st.data())
    def take(self, pages: int, ahead: int, data: st.DataObject) -> None:
        count = min(pages * self.pool.page_size, self.pool.free)
        index = data.draw(st.integers(0, len(self.held)))
        if index == len(self.held):
            self.held.append((Room(), []))
        room, slots = self.held[index]
        after = slots[-1] if slots else None
        slots.extend(run_slots(self.pool.take(room, count, ahead, after)))

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def grow(self, data: st.DataObject) -> None:
        room, slots = self.held[data.draw(st.integers(0, len(self.held) - 1))]
        start = self.pool.take_page(room)
        if start is not None:
            assert start == slots[-1] + 1
            slots.extend(range(start, start + self.pool.page_size))

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        room, slots = self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))
        self.pool.close(room)
        self.pool.give_back(np.asarray(slots, dtype=np.int32))

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def give_back_the_first_half(self, data: st.DataObject) -> None:
        _, slots = self.held[data.draw(st.integers(0, len(self.held) - 1))]
        pages = len(slots) // self.pool.page_size
        cut = pages // 2 * self.pool.page_size
        self.pool.give_back(np.asarray(slots[:cut], dtype=np.int32))
        del slots[:cut]

    @invariant()
    def every_slot_has_one_owner(self) -> None:
        self.pool.check()
        free = self.pool.free_slots().tolist()
        assert len(free) == self.pool.free
        assert sorted([*free, *(slot for _, slots in self.held for slot in slots)]) == list(
            range(self.pool.size)
        )

    @invariant()
    def pages_are_aligned(self) -> None:
        page = self.pool.page_size
        for _, slots in self.held:
            assert len(slots) % page == 0
            assert all(slot % page == index % page for index, slot in enumerate(slots))


PoolMachine.TestCase.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None, derandomize=True, database=None
)
TestPoolMachine = PoolMachine.TestCase
