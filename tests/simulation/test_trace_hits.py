"""Hash-id traces: the short cuts find what the engine's tree finds token by token, and what arithmetic says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.simulation.hit_row import HitRow
from radixbench.simulation.hits import Ask, CacheSize, token_hits
from radixbench.simulation.trace_hits import trace_hits
from radixbench.workloads.replay import TraceRequest


def request(tokens: int, *ids: int) -> TraceRequest:
    return TraceRequest(at_s=0.0, input_len=tokens, output_len=1, hash_ids=ids)


def asks(requests: Sequence[TraceRequest], block: int) -> list[Ask]:
    """Every token made: unlike all others but those of the same block and place."""
    made = []
    for one in requests:
        ids = [hash_id * block + place for hash_id in one.hash_ids for place in range(block)][: one.input_len]
        made.append(Ask(np.asarray(ids, dtype=np.int32).tobytes(), one.input_len))
    return made


@st.composite
def traces(draw: st.DrawFn) -> tuple[list[TraceRequest], int]:
    """Paths down a small tree of blocks, some ending in a partial block of a size fixed by its id."""
    block = draw(st.sampled_from([1, 2, 3, 4, 6, 8]))
    made = []
    for _ in range(draw(st.integers(1, 12))):
        path = draw(st.lists(st.integers(0, 1), min_size=0, max_size=5))
        ids, name = [], 1
        for branch in path:
            name = 2 * name + branch
            ids.append(name)
        tail = draw(st.integers(0, block - 1)) if ids or block > 1 else 0
        if tail:
            made.append(request(len(ids) * block + tail, *ids, 1000 * (name + 1) + tail))
        elif ids:
            made.append(request(len(ids) * block, *ids))
    return made, block


SIZES = st.builds(
    CacheSize,
    page_size=st.integers(1, 9),
    capacity=st.none() | st.integers(9, 60),
)


@given(traces(), st.lists(SIZES, min_size=1, max_size=4))
def test_a_trace_finds_what_its_tokens_find(
    trace: tuple[list[TraceRequest], int], sizes: list[CacheSize]
) -> None:
    """Unlimited or with a capacity, for any page size beside any block size: the same hits and evictions."""
    requests, block = trace
    found = trace_hits(requests, block_size=block, sizes=sizes)
    expected = token_hits(asks(requests, block), sizes)

    def figures(row: HitRow) -> tuple[int, ...]:
        return (
            row.page_size,
            row.requests,
            row.skipped_requests,
            row.prompt_tokens,
            row.cached_tokens,
            row.evicted_tokens,
        )

    assert [figures(row) for row in found] == [figures(row) for row in expected]


@given(traces())
def test_leading_known_blocks_are_what_is_found(trace: tuple[list[TraceRequest], int]) -> None:
    """Without a tree at all: blocks from the start on that some request before had in the same place."""
    requests, block = trace
    known: set[tuple[int, ...]] = set()
    blocks = tokens = 0
    for one in requests:
        prefixes = [one.hash_ids[: end + 1] for end in range(len(one.hash_ids))]
        leading = next((at for at, prefix in enumerate(prefixes) if prefix not in known), len(prefixes))
        blocks += leading
        tokens += min(leading * block, one.input_len - 1)
        known.update(prefixes)
    (row,) = trace_hits(requests, block_size=block, sizes=[CacheSize(1)])
    assert (row.cached_blocks, row.cached_tokens) == (blocks, tokens)
    assert row.blocks == sum(len(one.hash_ids) for one in requests)


def test_the_last_token_is_always_computed() -> None:
    """A prompt sent twice: all but one token cached, and of whole blocks all."""
    (row,) = trace_hits([request(655, 1, 2)] * 2, block_size=512, sizes=[CacheSize(1)])
    assert (row.cached_tokens, row.cached_blocks, row.blocks) == (654, 2, 4)
    assert row.block_hit_rate == 0.5
    assert row.hit_rate == pytest.approx(654 / 1310)
    assert row.reuse_rate == pytest.approx(654 / 1308)


def test_pages_larger_than_blocks_round_down() -> None:
    """Three shared blocks of 16 are no whole page of 64; five are one page."""
    requests = [request(96, 1, 2, 3, 4, 5, 6), request(64, 1, 2, 3, 9), request(96, 1, 2, 3, 4, 5, 8)]
    (row,) = trace_hits(requests, block_size=16, sizes=[CacheSize(64)])
    assert row.cached_tokens == 64


def test_an_empty_trace_has_no_rate() -> None:
    """Nothing over nothing is unknown, not 0."""
    (row,) = trace_hits([], block_size=16, sizes=[CacheSize(1)])
    assert (row.requests, row.hit_rate, row.block_hit_rate) == (0, None, None)
