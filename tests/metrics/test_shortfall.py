"""Where shared tokens went: the causes add up, whatever the engine did, and each is told by its own sign."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.metrics.answers import sort_out
from radixbench.metrics.cache import cache_account
from radixbench.metrics.figure import CacheAccount, Pressure, Race, Shortfall
from radixbench.metrics.reuse import Reuse
from radixbench.metrics.shortfall import most_in_flight, split
from tests.builders import make_request, make_run, prompt_ids
from tests.metrics.played import Asked, Ids, play

PREFIXES = [tuple(range(10 * i, 10 * i + 9)) for i in range(3)]


@st.composite
def traffic(draw: st.DrawFn) -> list[Asked]:
    """Conversations behind three prefixes, cut anywhere, with follow-up turns and sends spread over steps."""
    asked: list[Asked] = []
    for conversation in range(draw(st.integers(1, 6))):
        prefix = draw(st.sampled_from(PREFIXES))[: draw(st.integers(1, 9))]
        question = tuple(draw(st.lists(st.integers(90, 92), max_size=5)))
        follows = None
        for turn in range(draw(st.integers(1, 3))):
            new = (*prefix, *question) if turn == 0 else (95 + turn, *question)
            asked.append(Asked(conversation, new, draw(st.integers(1, 4)), draw(st.integers(0, 12)), follows))
            follows = len(asked) - 1
    return asked


def account_of(
    asked: list[Asked], *, held: list[Ids] | None = None, **engine: int | str | None
) -> CacheAccount:
    """The account of a run the engine played."""
    return cache_account(sort_out(play(asked, held=held or [], **engine)))


@settings(deadline=None, derandomize=True, max_examples=120)
@given(
    asked=traffic(),
    page=st.integers(1, 4),
    pool=st.sampled_from([64, 96, 4096]),
    chunk=st.sampled_from([None, 8, 16]),
    policy=st.sampled_from(["fcfs", "lpm"]),
    primed=st.booleans(),
)
def test_causes_add_up_to_what_is_missing(
    asked: list[Asked], page: int, pool: int, chunk: int | None, policy: str, primed: bool
) -> None:
    """Races, orders, pages and small pools: all that is shared and wasn't found has a cause, and each is known."""
    account = account_of(
        asked,
        held=[PREFIXES[0]] if primed else [],
        pool=pool // page * page,
        page_size=page,
        chunked_prefill_size=chunk,
        schedule_policy=policy,
    )
    lost, room = account.shortfall, account.pressure
    assert lost is not None
    assert room is not None
    assert account.cached_tokens is not None
    assert lost.total == account.sharable - account.cached_tokens
    assert min(lost.first_arrival, lost.concurrent, lost.page_remainder, lost.eviction) >= 0
    assert (account.excess, account.impossible, lost.unexplained) == (0, 0, 0)
    if not room.evicted_tokens and not room.retractions:
        assert lost.eviction == 0
        assert account.expected_low <= account.cached_tokens
    if pool == 4096:
        assert not account.upper_bound_only
        assert lost.eviction == 0


def one_wave(cached: int | None = 0, **options: object) -> CacheAccount:
    """Eight requests of one group at once, 64 shared tokens each; ``cached`` tokens found by each but the first."""
    prompts = [prompt_ids(0, i, shared=64, question=8) for i in range(8)]
    requests = [make_request(i, prompt_tokens=72, cached=cached if i else 0) for i in range(8)]
    return cache_account(sort_out(make_run(requests, prompts=prompts, **options)))


def test_a_wave_that_raced() -> None:
    """All eight computed the prefix: one as the first, seven because it wasn't there yet."""
    account = one_wave()
    assert (account.expected_low, account.expected_high, account.sharable) == (0, 7 * 64, 8 * 64)
    assert account.shortfall == Shortfall(first_arrival=64, concurrent=7 * 64)
    assert account.races == (Race(64, 8, 8),)
    assert (account.first_arrivals, account.raced, account.efficiency) == (1, 7, 0.0)


def test_a_race_that_was_won() -> None:
    """Seven found what the first computed: nothing is missing but the first arrival."""
    account = one_wave(64)
    assert account.shortfall == Shortfall(first_arrival=64)
    assert account.races == (Race(64, 8, 1),)
    assert account.efficiency == 1.0


def test_a_silent_server_leaves_no_shortfall() -> None:
    """Unknown cached tokens are neither missing nor found."""
    account = one_wave(None)
    assert (account.cached_tokens, account.shortfall, account.efficiency) == (None, None, None)
    assert account.unknown == 7
    assert account.races == (Race(64, 8, None),)


def test_an_arm_without_cache_misses_nothing() -> None:
    """With the cache off on purpose nothing fell short."""
    account = one_wave(mode="off")
    assert (account.shortfall, account.efficiency, account.sharable) == (None, None, 8 * 64)


def test_whole_pages_cost_their_remainder() -> None:
    """64 shared tokens in pages of 48: 16 tokens of each hit are lost to the page."""
    prompts = [prompt_ids(0, i, shared=64, question=8) for i in range(3)]
    requests = [make_request(i, send_s=float(i), prompt_tokens=72, cached=48 if i else 0) for i in range(3)]
    account = cache_account(sort_out(make_run(requests, prompts=prompts, args={"page_size": 48})))
    assert account.shortfall == Shortfall(first_arrival=64, page_remainder=2 * 16)
    assert account.efficiency == 1.0


SURE = Reuse(low=60, high=60, unpaged=60, most=60, sharable=60)


def test_eviction_needs_evidence() -> None:
    """Without a sign of short room the missing tokens are unexplained."""
    assert split([(10, SURE)], Pressure(100), 1) == Shortfall(unexplained=50)


def test_signs_of_short_room() -> None:
    """A retraction, a full pool or a working set beyond the pool explains all."""
    for room in (Pressure(100, retractions=1), Pressure(100, peak_usage=0.99), Pressure(100, pool_tokens=64)):
        assert split([(10, SURE)], room, 1) == Shortfall(eviction=50)


def test_counted_evictions_explain_what_they_dropped() -> None:
    """20 evicted tokens explain 20 missing ones, or 20 for each of two requests that missed them together."""
    room = Pressure(100, evicted_tokens=20)
    assert split([(10, SURE)], room, 1) == Shortfall(eviction=20, unexplained=30)
    assert split([(10, SURE)], room, 2) == Shortfall(eviction=40, unexplained=10)


def test_hits_beyond_the_sending_order_are_not_charged_again() -> None:
    """A server that worked in another order found more than was sent before: those tokens fell short of nothing."""
    reuse = Reuse(low=0, high=16, unpaged=20, most=40, sharable=50)
    assert split([(32, reuse)], Pressure(0), 1) == Shortfall(first_arrival=18)


def test_what_only_failed_requests_had_sent_is_no_race() -> None:
    """Nobody computed it for sure and nobody is computing it: who comes next is the first to arrive."""
    lost = Reuse(low=0, high=32, unpaged=40, most=40, sharable=50, doubtful=32)
    assert split([(0, lost)], Pressure(0), 1) == Shortfall(first_arrival=10 + 32, page_remainder=8)
    partly = Reuse(low=0, high=32, unpaged=40, most=40, sharable=50, doubtful=16)
    assert split([(0, partly)], Pressure(0), 1) == Shortfall(
        first_arrival=10 + 16, concurrent=16, page_remainder=8
    )
    assert split([(32, lost)], Pressure(0), 1) == Shortfall(first_arrival=10, page_remainder=8)


def test_most_in_flight() -> None:
    """Requests that touch end to end don't overlap."""
    requests = [make_request(i, send_s=s, ttft_s=1.0, output=1) for i, s in enumerate((0.0, 0.5, 1.0, 3.0))]
    assert most_in_flight(requests) == 2
    assert most_in_flight([]) == 0
