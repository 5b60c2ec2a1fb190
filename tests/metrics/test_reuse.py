"""Expected cached tokens against a naive oracle that compares every pair of prompts."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.capture.model import PrefixNode, PromptTree, Run
from radixbench.errors import CaptureError
from radixbench.metrics.reuse import expected_reuse, prompt_only_reuse
from radixbench.records import RequestRecord
from tests.builders import failed_request, make_request, make_run, prompt_ids

Ids = tuple[int, ...]


class Levels(NamedTuple):
    """Everything that is expected of one request."""

    low: int
    high: int
    unpaged: int
    most: int
    sharable: int
    prompt_only: int
    doubtful: int


def common(a: Ids, b: Ids) -> int:
    """Length of the common prefix."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def let_in(sent: list[RequestRecord]) -> list[tuple[int, RequestRecord]]:
    """With their places, the requests that weren't refused at once."""
    return [(place, one) for place, one in enumerate(sent) if one.http_status != 429]


def naive(prompts: list[Ids], requests: list[RequestRecord], held: list[Ids], page: int) -> dict[int, Levels]:
    """What the definitions say, pair by pair."""
    found = {}
    sent = sorted(requests, key=lambda r: r.send_ns)
    for place, one in enumerate(sent):
        prompt, most = prompts[one.prompt], len(prompts[one.prompt]) - 1
        beforehand = max((common(prompt, ids) for ids in held), default=0)
        low = high = answered = meanwhile = sharable = only_prompts = beforehand
        for before, other in let_in(sent):
            written = [(other.first_token_ns, prompts[other.prompt])]
            if before < place:
                only_prompts = max(only_prompts, common(prompt, prompts[other.prompt]))
            if other.output_ids is not None:
                written.append((other.end_ns, (prompts[other.prompt] + other.output_ids)[:-1]))
            for at, ids in written:
                same = common(prompt, ids)
                if before < place:
                    high = max(high, same)
                    answered = max(answered, same if other.status == "completed" else 0)
                if other is not one:
                    sharable = max(sharable, same)
                    if other.send_ns <= (one.end_ns if one.first_token_ns is None else one.first_token_ns):
                        meanwhile = max(meanwhile, same)
                if at is not None and at <= one.send_ns and other.status == "completed" and other is not one:
                    low = max(low, same)
        found[one.prompt] = Levels(
            low=min(low, high, most) // page * page,
            high=min(high, most) // page * page,
            unpaged=min(high, most),
            most=min(meanwhile, most),
            sharable=min(sharable, most),
            prompt_only=min(only_prompts, most) // page * page,
            doubtful=min(high, most) // page * page - min(answered, most) // page * page,
        )
    return found


def levels(run: Run, page: int) -> dict[int, Levels]:
    """What the walk over the tree finds."""
    only = prompt_only_reuse(run, page)
    return {
        number: Levels(one.low, one.high, one.unpaged, one.most, one.sharable, only[number], one.doubtful)
        for number, one in expected_reuse(run, page).items()
    }


def ends(run: Run, page: int, prompt: int) -> tuple[int, int]:
    """Both ends of one request's range."""
    one = expected_reuse(run, page)[prompt]
    return one.low, one.high


def failing(request: RequestRecord, http_status: int | None) -> RequestRecord:
    """The same request without a token."""
    return replace(
        request,
        status="failed",
        error="no",
        chunk_ns=(),
        chunk_tokens=(),
        output_ids=None,
        http_status=http_status,
    )


@st.composite
def traffic(draw: st.DrawFn) -> tuple[list[Ids], list[Ids], Run]:
    """Up to ten prompts over two tokens, so that they share much, with overlapping requests."""
    ids = st.lists(st.integers(0, 1), min_size=1, max_size=8).map(tuple)
    prompts = draw(st.lists(ids, min_size=1, max_size=10))
    requests = []
    for i, prompt in enumerate(prompts):
        answer = draw(st.lists(st.integers(0, 1), min_size=1, max_size=4).map(tuple))
        send = draw(st.integers(0, 30)) + i / 100
        first = draw(st.integers(0, 10))
        request = make_request(
            i,
            send_s=send,
            ttft_s=float(first),
            output=len(answer),
            gap_s=1.0,
            prompt_tokens=len(prompt),
            output_ids=answer,
        )
        fate = draw(st.sampled_from(["answered", "answered", "lost", "refused"]))
        requests.append(
            request if fate == "answered" else failing(request, 429 if fate == "refused" else None)
        )
    held = draw(st.lists(ids, max_size=3))
    return prompts, held, make_run(requests, prompts=prompts, held=held)


@settings(deadline=None, derandomize=True)
@given(traffic(), st.integers(1, 4))
def test_agrees_with_the_naive_oracle(drawn: tuple[list[Ids], list[Ids], Run], page: int) -> None:
    """Whatever the prompts, overlaps, pages and what was held: the walk over the tree finds what pairs say."""
    prompts, held, run = drawn
    assert levels(run, page) == naive(prompts, list(run.requests), held, page)


@settings(deadline=None, derandomize=True)
@given(traffic(), st.integers(1, 4))
def test_levels_are_in_order(drawn: tuple[list[Ids], list[Ids], Run], page: int) -> None:
    """Low, high, the same without pages, in any order, with everybody: each contains the one before."""
    for one in expected_reuse(drawn[2], page).values():
        assert 0 <= one.low <= one.high <= one.unpaged <= one.most <= one.sharable


def test_a_first_wave_races() -> None:
    """One group of 8 prompts all in flight at once: between none and seven of them reuse the prefix."""
    prompts = [prompt_ids(0, i, shared=64, question=8) for i in range(8)]
    run = make_run([make_request(i, prompt_tokens=72) for i in range(8)], prompts=prompts)
    found = expected_reuse(run, 1).values()
    assert sum(one.low for one in found) == 0
    assert sum(one.high for one in found) == 7 * 64
    assert [one.first for one in found] == [True] + [False] * 7
    assert [one.raced for one in found] == [False] + [True] * 7


def test_a_primed_prefix_is_there_from_the_beginning() -> None:
    """The same wave after priming: all eight reuse the prefix, however they race."""
    prompts = [prompt_ids(0, i, shared=64, question=8) for i in range(8)]
    requests = [make_request(i, prompt_tokens=72) for i in range(8)]
    run = make_run(requests, prompts=prompts, held=[prompts[0][:64]])
    found = expected_reuse(run, 16).values()
    assert sum(one.low for one in found) == sum(one.high for one in found) == 8 * 64
    assert not any(one.first or one.raced for one in found)


def test_the_last_token_of_a_prompt_is_always_computed() -> None:
    """The same prompt of 128 tokens again: 127 in single tokens, one page of 64 in pages."""
    ids = prompt_ids(0, 0, shared=0, question=128)
    run = make_run([make_request(0), make_request(1, send_s=9.0)], prompts=[ids, ids])
    assert ends(run, 1, 1) == (127, 127)
    assert ends(run, 64, 1) == (64, 64)


def test_failed_requests_help_only_at_most() -> None:
    """What a failed request left in the cache nobody knows, and it is no race: whoever comes after is the first."""
    ids = prompt_ids(0, 0, shared=0, question=10)
    run = make_run([failed_request(0), make_request(1, send_s=9.0)], prompts=[ids, ids])
    assert ends(run, 1, 1) == (0, 9)
    after = expected_reuse(run, 1)[1]
    assert (after.doubtful, after.first, after.raced) == (9, True, False)


@pytest.mark.parametrize(
    ("status", "left"), [(400, 0), (429, 0), (503, 0), (500, 9), (502, 9), (504, 9), (408, 9)]
)
def test_refused_requests_leave_nothing(status: int, left: int) -> None:
    """What was turned away at the door was never computed; a gateway's fault or a time limit leaves it open."""
    ids = prompt_ids(0, 0, shared=0, question=10)
    refused = replace(failed_request(0), http_status=status)
    run = make_run([refused, make_request(1, send_s=9.0)], prompts=[ids, ids])
    one = expected_reuse(run, 1)[1]
    assert (one.low, one.high, one.most, one.sharable) == (0, left, left, left)
    assert prompt_only_reuse(run, 1)[1] == left


def test_an_unknown_prompt_allows_anything() -> None:
    """Without its tokens a prompt may have been cached from nothing to all but its last token."""
    run = make_run([make_request(0, prompt_tokens=32)], prompts=[None])
    one = expected_reuse(run, 1)[0]
    assert (one.low, one.high, one.sharable, one.known) == (0, 31, 31, False)
    assert not one.raced
    assert prompt_only_reuse(run, 1) == {0: 0}


def test_long_conversations_cost_their_nodes() -> None:
    """Forty conversations of forty turns, each turn the whole talk so far: every turn but the first reuses all."""
    prompts: list[Ids] = []
    requests = []
    for talk in range(40):
        said: Ids = ()
        for turn in range(40):
            said = (*said, *(1000 * talk + 10 * turn + i for i in range(3)))
            at = turn * 10.0 + talk * 0.1
            requests.append(make_request(len(prompts), send_s=at, output=2, output_ids=(5, 6), turn=turn))
            prompts.append(said)
            said = (*said, 5, 6)
    found = expected_reuse(make_run(requests, prompts=prompts), 1)
    for request in requests:
        expected = 0 if request.turn == 0 else request.turn * 5 - 1
        assert (found[request.prompt].low, found[request.prompt].high) == (expected, expected)


def test_a_tree_out_of_order_is_refused() -> None:
    """A node before its parent, as in a damaged capture, is one clear line and no endless loop."""
    run = make_run([make_request(0)])
    crooked = PromptTree(nodes=(PrefixNode(parent=0, len=3, sha256=""),), prompts=(0,), sequences=(None,))
    with pytest.raises(CaptureError, match="node 0 stands before its parent 0"):
        expected_reuse(replace(run, prompts=crooked), 1)
