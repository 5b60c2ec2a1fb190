"""Random lives of an engine: whatever arrives, leaves or runs short, books and tokens are right."""

from __future__ import annotations

import functools
from typing import Literal

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.engine.drive import Drive


@functools.cache
def expected(ids: tuple[int, ...], max_tokens: int) -> list[int]:
    """What a request yields alone, without a cache, in a pool that is never short."""
    return Drive(pool=512, radix_cache=False).ask("alone", ids, max_tokens)


class EngineMachine(RuleBasedStateMachine):
    """Arrivals with shared prefixes, aborts, early ends and flushes in a pool that is too small.

    After every event each slot has one owner; every token is the one the request would have had alone.
    """

    @initialize(
        pool=st.sampled_from([96, 330]),
        page_size=st.sampled_from([1, 2, 4, 16]),
        chunk=st.sampled_from([16, 20, 48, 150, None]),
        policy=st.sampled_from(["fcfs", "lpm"]),
        conservativeness=st.sampled_from([0.01, 0.3, 1.0]),
        max_running=st.integers(1, 8),
        max_prefill=st.sampled_from([1, 24, 1000]),
        radix_cache=st.sampled_from([True, True, True, False]),
    )
    def start(
        self,
        pool: int,
        page_size: int,
        chunk: int | None,
        policy: Literal["fcfs", "lpm"],
        conservativeness: float,
        max_running: int,
        max_prefill: int,
        radix_cache: bool,
    ) -> None:
        self.drive = Drive(
            pool,
            page_size=page_size,
            chunked_prefill_size=chunk,
            schedule_policy=policy,
            schedule_conservativeness=conservativeness,
            max_running_requests=max_running,
            max_prefill_tokens=max_prefill,
            radix_cache=radix_cache,
        )
        self.asked: dict[str, tuple[tuple[int, ...], int]] = {}
        self.living: set[str] = set()

    @rule(
        stem=st.integers(0, 2),
        shared=st.integers(0, 40) | st.integers(0, 240),
        own=st.lists(st.integers(0, 1), min_size=1, max_size=8),
        max_tokens=st.integers(1, 40),
        ignore_eos=st.booleans(),
    )
    def arrive(self, stem: int, shared: int, own: list[int], max_tokens: int, ignore_eos: bool) -> None:
        shared = min(shared, self.drive.engine.config.max_total_tokens - 56)
        ids = (*range(stem * 300, stem * 300 + shared), *own)
        rid = str(len(self.asked))
        self.asked[rid] = (ids, max_tokens)
        self.living.add(rid)
        self.drive.add(rid, ids, max_tokens, ignore_eos=ignore_eos)

    @rule(times=st.integers(1, 8))
    def step(self, times: int) -> None:
        for _ in range(times):
            result = self.drive.step()
            if result is not None:
                self.living.difference_update(record.rid for record in result.finished)

    @precondition(lambda self: self.living)
    @rule(data=st.data(), success=st.booleans())
    def leave(self, data: st.DataObject, success: bool) -> None:
        rid = data.draw(st.sampled_from(sorted(self.living)))
        self.living.remove(rid)
        if success:
            record = self.drive.engine.finish(rid)
            assert record is not None
            assert record.output_len == len(self.drive.outputs.get(rid, []))
        else:
            assert self.drive.engine.abort(rid)

    @rule()
    def flush(self) -> None:
        assert self.drive.engine.flush() == (not self.living)

    @invariant()
    def books_are_right(self) -> None:
        self.drive.engine.audit()
        stats = self.drive.engine.stats()
        assert stats.used_slots + stats.evictable_slots + stats.free_slots == stats.pool_slots
        assert self.drive.engine.has_work == bool(self.living)

    @invariant()
    def tokens_are_right(self) -> None:
        for rid, output in self.drive.outputs.items():
            assert output == expected(*self.asked[rid])[: len(output)]

    def teardown(self) -> None:
        self.drive.run()
        for rid in self.living:
            assert self.drive.outputs[rid] == expected(*self.asked[rid])
            assert self.drive.finished[rid].output_len == self.asked[rid][1]
        assert self.drive.engine.stats().used_slots == 0
        assert self.drive.engine.flush()


EngineMachine.TestCase.settings = settings(
    max_examples=80, stateful_step_count=30, deadline=None, derandomize=True, database=None
)
TestEngineMachine = EngineMachine.TestCase
