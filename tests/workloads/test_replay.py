"""Traces: prompts made of the blocks they name, when they are read."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.errors import UsageError
from radixbench.workloads.conversation import Workload
from radixbench.workloads.replay import TraceRequest, families, replay
from radixbench.workloads.tokens import TokenSource
from tests.workloads.judge import common, prompts, reuse

TRACE = """
{"timestamp": 0, "input_length": 1100, "output_length": 5, "hash_ids": [0, 1, 2]}
{"timestamp": 0, "input_length": 1536, "output_length": 9, "hash_ids": [0, 3, 4]}
{"timestamp": 3000, "input_length": 1700, "output_length": 2, "hash_ids": [0, 1, 5, 6]}
{"timestamp": 3000, "input_length": 655, "output_length": 1, "hash_ids": [7, 8]}
{"timestamp": 6000, "input_length": 1536, "output_length": 9, "hash_ids": [0, 3, 4]}
{"timestamp": 6001, "input_length": 2060, "output_length": 4, "hash_ids": [0, 1, 5, 9, 10]}
{"timestamp": 9000, "input_length": 512, "output_length": 4, "hash_ids": [11]}
{"timestamp": 9000, "input_length": 30, "output_length": 4, "hash_ids": [12]}
"""


def rows(text: str = TRACE) -> list[TraceRequest]:
    return [
        TraceRequest(
            at_s=row["timestamp"] / 1000,
            input_len=row["input_length"],
            output_len=row["output_length"],
            hash_ids=tuple(row["hash_ids"]),
        )
        for row in map(json.loads, text.split("\n")[1:-1])
    ]


def source(requests: list[TraceRequest], cell: int = 0, vocab: int = 8192) -> TokenSource:
    return TokenSource.of(vocab, excluded=(0, 1, 2), cell=cell, families=families(requests))


def played(requests: list[TraceRequest], seed: int = 0, cell: int = 0, block_size: int = 512) -> Workload:
    return replay(requests, block_size=block_size, tokens=source(requests, cell), seed=seed)


def known_blocks(requests: list[TraceRequest]) -> list[int]:
    """The leading blocks of each request that an earlier one had: the definition of a trace's reuse."""
    seen: set[int] = set()
    counts = []
    for request in requests:
        known = next(
            (n for n, block in enumerate(request.hash_ids) if block not in seen), len(request.hash_ids)
        )
        counts.append(known)
        seen.update(request.hash_ids)
    return counts


@pytest.mark.parametrize("page", [1, 16, 512])
def test_an_unlimited_cache_finds_the_leading_known_blocks(page: int) -> None:
    """As many tokens as the known blocks have, but never the prompt's last one, in whole pages."""
    requests = rows()
    assert known_blocks(requests) == [0, 1, 2, 0, 3, 3, 0, 0]
    expected = [
        min(known * 512, request.input_len - 1) // page * page
        for known, request in zip(known_blocks(requests), requests, strict=True)
    ]
    assert reuse(played(requests), page) == expected


def test_a_request_keeps_its_time_and_its_lengths() -> None:
    """Due when the trace says, as long as it says; the last block may be partial."""
    workload = played(rows())
    assert [c.due_s for c in workload.conversations] == [0, 0, 3, 3, 6, 6.001, 9, 9]
    assert [len(c.turns[0].whole_ids or ()) for c in workload.conversations] == [r.input_len for r in rows()]
    assert [c.turns[0].output_len for c in workload.conversations] == [r.output_len for r in rows()]
    assert [c.group for c in workload.conversations] == [0, 0, 0, 1, 0, 0, 2, 3]
    assert (workload.kind, workload.prefixes) == ("trace", ())


def test_requests_start_in_order_of_time() -> None:
    """A trace whose lines aren't sorted is."""
    late, early = TraceRequest(5.0, 10, 1, (1,)), TraceRequest(1.0, 10, 1, (2,))
    assert [c.due_s for c in played([late, early]).conversations] == [1.0, 5.0]


def test_a_block_is_fixed_by_cell_seed_and_hash_id() -> None:
    """Whichever requests are around it, a block has the same ids; another cell or seed gives others."""
    requests = rows()
    whole = prompts(played(requests))
    alone = prompts(replay(requests[5:6], block_size=512, tokens=source(requests), seed=0))
    assert alone[0] == whole[5]
    starts = {prompts(played(requests, seed, cell))[0][:16] for seed in range(3) for cell in range(3)}
    assert len(starts) == 9


def test_prompts_are_read_like_any_sequence_and_not_kept() -> None:
    """By index, slice, iteration or numpy, the same ids; nothing but the trace's own numbers is stored."""
    (prompt,) = (c.turns[0].whole_ids for c in played(rows()[2:3]).conversations)
    assert prompt is not None
    ids = tuple(prompt)
    assert len(prompt) == len(ids) == 1700
    assert [prompt[at] for at in (0, 511, 512, 1699, -1)] == [ids[at] for at in (0, 511, 512, 1699, -1)]
    assert prompt[500:1030] == ids[500:1030]
    assert np.asarray(prompt).tolist() == list(ids)
    assert np.asarray(prompt, dtype="<i8").dtype == np.int64
    with pytest.raises(IndexError):
        prompt[1700]
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(prompt, copy=False)


def test_small_blocks_share_as_exactly() -> None:
    """Blocks of 16 tokens: the hits of a larger page are those of its whole blocks only."""
    requests = [
        TraceRequest(0.0, 70, 1, (1, 2, 3, 4, 5)),
        TraceRequest(1.0, 64, 1, (1, 2, 3, 6)),
        TraceRequest(2.0, 64, 1, (1, 2, 3, 6)),
    ]
    assert reuse(played(requests, block_size=16)) == [0, 48, 63]
    assert reuse(played(requests, block_size=16), 64) == [0, 0, 0]
    assert reuse(played(requests, block_size=16), 32) == [0, 32, 32]


@given(
    paths=st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=5), min_size=1, max_size=12),
    block_size=st.integers(2, 6),
    far=st.sampled_from([0, 2**63, -(2**40)]),
    seed=st.integers(0, 3),
)
@settings(max_examples=60, deadline=None)
def test_requests_share_the_blocks_they_name_and_no_more(
    paths: list[list[int]], block_size: int, far: int, seed: int
) -> None:
    """Whatever tree the ids form, two prompts have exactly their common leading blocks in common."""
    numbers: dict[tuple[int, ...], int] = {}
    requests = []
    for at, path in enumerate(paths):
        ids = tuple(far + numbers.setdefault(tuple(path[: n + 1]), len(numbers)) for n in range(len(path)))
        requests.append(TraceRequest(float(at), len(ids) * block_size, 1, ids))
    asked = prompts(played(requests, seed, block_size=block_size))
    for a, one in zip(asked, requests, strict=True):
        for b, other in zip(asked, requests, strict=True):
            assert common(a, b) == common(one.hash_ids, other.hash_ids) * block_size


def test_no_two_runs_of_a_trace_begin_alike() -> None:
    """Over cells and seeds, and in one run over the blocks that open prompts, all first tokens differ."""
    requests = rows()
    assert families(requests) == 4
    firsts = [
        first
        for cell in range(3)
        for seed in range(3)
        for first in {prompt[0] for prompt in prompts(played(requests, seed, cell))}
    ]
    assert len(set(firsts)) == len(firsts) == 9 * 4


def test_a_sampled_trace_has_seeds() -> None:
    """Temperature applies to traces too."""
    requests = rows()
    workload = replay(requests, block_size=512, tokens=source(requests), seed=0, temperature=1.0)
    assert len({c.turns[0].seed for c in workload.conversations}) == 8


@pytest.mark.parametrize(
    "broken",
    [
        TraceRequest(0.0, 20, 1, (1, 2)),
        TraceRequest(0.0, 600, 1, (1,)),
        TraceRequest(0.0, 0, 1, ()),
        TraceRequest(0.0, 20, 0, (1,)),
        TraceRequest(-1.0, 20, 1, (1,)),
        TraceRequest(float("nan"), 20, 1, (1,)),
    ],
)
def test_a_request_that_doesnt_add_up_is_refused_by_number(broken: TraceRequest) -> None:
    """Blocks and length must agree, and something must be asked for at some time."""
    requests = [*rows(), broken]
    with pytest.raises(UsageError, match="request 9 of the trace"):
        replay(requests, block_size=512, tokens=source(requests), seed=0)


def test_a_trace_of_nothing_is_refused() -> None:
    """No requests, or blocks of no tokens, make no workload."""
    assert families([]) == 1
    for requests, size in (([], 512), (rows(), 0)):
        with pytest.raises(UsageError, match="can't be replayed"):
            replay(requests, block_size=size, tokens=source(rows()), seed=0)
