"""The mock's cache, against a cache that remembers every prefix in a set."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from radixbench.mock.cache import CacheModel, Found
from radixbench.mock.settings import CacheSettings
from radixbench.mock.words import key_of_ids

Ids = list[int]


def serve(cache: CacheModel, prompt: Ids, answer: Ids | None = None, salt: str = "") -> Found:
    """One request from beginning to end."""
    lease = cache.admit(key_of_ids(prompt), salt)
    lease.prefilled()
    lease.finish(key_of_ids(answer or []))
    return lease.found


class Naive:
    """Every whole-page prefix that was ever computed."""

    def __init__(self, page: int) -> None:
        self.page = page
        self.known: set[tuple[str, tuple[int, ...]]] = set()

    def serve(self, prompt: Ids, answer: Ids, salt: str) -> int:
        limit = (len(prompt) - 1) // self.page * self.page
        found = 0
        while found < limit and (salt, tuple(prompt[: found + self.page])) in self.known:
            found += self.page
        whole = prompt + answer[:-1]
        for end in range(self.page, len(whole) + 1, self.page):
            self.known.add((salt, tuple(whole[:end])))
        return found


requests = st.lists(
    st.tuples(
        st.lists(st.integers(3, 5), min_size=1, max_size=12),
        st.lists(st.integers(3, 5), min_size=1, max_size=4),
        st.sampled_from(["", "a"]),
    ),
    max_size=20,
)


@given(requests, st.integers(1, 4))
def test_it_finds_what_was_ever_sent(asked: list[tuple[Ids, Ids, str]], page: int) -> None:
    """With room for all, a request finds its longest prefix of whole pages, salts apart, its last token never."""
    cache, naive = CacheModel(CacheSettings(page_size=page)), Naive(page)
    for prompt, answer, salt in asked:
        assert serve(cache, prompt, answer, salt).total == naive.serve(prompt, answer, salt)


@given(requests, st.integers(1, 3), st.integers(3, 12))
def test_it_never_holds_more_than_its_capacity(
    asked: list[tuple[Ids, Ids, str]], page: int, capacity: int
) -> None:
    """However requests overlap, cached tokens stay within the capacity and every lease ends."""
    cache = CacheModel(CacheSettings(page_size=page, capacity_tokens=capacity))
    leases = []
    for place, (prompt, answer, salt) in enumerate(asked):
        lease = cache.admit(key_of_ids(prompt), salt)
        lease.prefilled()
        leases.append((lease, answer))
        if place % 3 == 2:
            first, said = leases.pop(0)
            first.finish(key_of_ids(said))
        assert cache.held_tokens <= capacity
    for lease, answer in leases:
        lease.finish(key_of_ids(answer))
    assert cache.leases == 0
    assert cache.held_tokens <= capacity
    assert cache.flush()
    assert cache.held_tokens == 0


def test_two_that_come_together_both_miss() -> None:
    """A prompt is there for others only once its first token has left."""
    cache = CacheModel(CacheSettings())
    one, two = (cache.admit(key_of_ids([5, 6, 7, 8]), "") for _ in range(2))
    assert one.found.total == two.found.total == 0
    one.prefilled()
    assert cache.admit(key_of_ids([5, 6, 7, 8]), "").found.total == 3


def test_who_is_cut_off_leaves_the_prompt_but_no_answer() -> None:
    """Without a finish, only the prompt is found again."""
    cache = CacheModel(CacheSettings())
    lease = cache.admit(key_of_ids([5, 6]), "")
    lease.prefilled()
    lease.end()
    lease.end()
    assert serve(cache, [5, 6, 7, 8]).total == 2


def test_the_oldest_go_first() -> None:
    """Beyond the capacity the prompt that wasn't used for longest is forgotten."""
    cache = CacheModel(CacheSettings(capacity_tokens=8))
    first, second, third = ([start + place for place in range(4)] for start in (10, 20, 30))
    serve(cache, first)
    serve(cache, second)
    serve(cache, third)
    assert cache.evicted_tokens == 4
    assert serve(cache, [*third, 1]).total == 4
    assert serve(cache, [*first, 1]).total == 0


def test_a_flush_waits_for_nobody() -> None:
    """While a request is under way a flush does nothing and says so."""
    cache = CacheModel(CacheSettings())
    serve(cache, [5, 6, 7])
    lease = cache.admit(key_of_ids([5, 6, 7]), "")
    assert not cache.flush()
    lease.end()
    assert cache.flush()
    assert serve(cache, [5, 6, 7]).total == 0


def test_an_outer_tier_survives_a_plain_flush() -> None:
    """What only the outer tier still has is found there, until it is flushed too."""
    cache = CacheModel(CacheSettings(outer_tier=True))
    serve(cache, [5, 6, 7])
    assert cache.flush()
    assert serve(cache, [5, 6, 7]) == Found(device=0, outer=2)
    assert serve(cache, [5, 6, 7]) == Found(device=2, outer=0)
    assert cache.flush(outer=True)
    assert serve(cache, [5, 6, 7]) == Found(0, 0)


def test_a_salt_that_isnt_honoured() -> None:
    """Requests of different salts share what they should not."""
    cache = CacheModel(CacheSettings(honours_salt=False))
    serve(cache, [5, 6, 7], salt="a")
    assert serve(cache, [5, 6, 7], salt="b").total == 2


def test_a_cache_that_was_warm_before() -> None:
    """Prompts never sent are found in whole pages, until a flush."""
    cache = CacheModel(CacheSettings(page_size=4, prewarmed_tokens=10))
    assert serve(cache, list(range(10, 30))).total == 8
    assert serve(cache, [5, 6, 7]).total == 0
    cache.flush()
    assert serve(cache, list(range(40, 60))).total == 0


def test_a_cache_that_finds_repeats_only() -> None:
    """The same prompt again is found whole; what goes on after it, or merely begins like it, isn't."""
    cache = CacheModel(CacheSettings(finds="repeats"))
    found = [serve(cache, ids).total for ids in ([5, 6, 7], [5, 6, 7], [5, 6, 7, 8], [5, 6, 9], [5, 6, 7, 8])]
    assert found == [0, 2, 0, 0, 3]
    cache.flush()
    assert serve(cache, [5, 6, 7]).total == 0


def test_a_cache_that_finds_extensions_only() -> None:
    """What goes on or begins alike is found, the same prompt again never."""
    cache = CacheModel(CacheSettings(finds="extensions"))
    found = [serve(cache, ids).total for ids in ([5, 6, 7], [5, 6, 7], [5, 6, 7, 8], [5, 6, 9], [5, 6, 7, 8])]
    assert found == [0, 0, 3, 2, 0]


def test_switched_off_it_finds_nothing() -> None:
    """Without a cache a repeat finds nothing; neither does a request that asks for no reuse."""
    off = CacheModel(CacheSettings(enabled=False))
    serve(off, [5, 6, 7])
    assert serve(off, [5, 6, 7]).total == 0
    on = CacheModel(CacheSettings())
    serve(on, [5, 6, 7])
    assert on.admit(key_of_ids([5, 6, 7]), "", reuse=False).found.total == 0
