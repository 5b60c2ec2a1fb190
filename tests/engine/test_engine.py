"""The engine's front door: what a request gets, what the cache makes of it, what the records say."""

from __future__ import annotations

import itertools

import pytest

from radixbench.engine.batch import Batch, SamplingParams
from radixbench.engine.engine import Engine, GenerationRequest
from radixbench.errors import RequestError, UsageError
from tests.engine.drive import Drive

PROMPT = list(range(100, 130))


def test_an_idle_engine_has_no_step() -> None:
    """Nothing to do is ``None``, and changes nothing."""
    drive = Drive()
    assert drive.engine.step() is None
    assert not drive.engine.has_work


def test_a_repeated_prompt_is_cached_but_for_its_last_token() -> None:
    """The same prompt again reuses all tokens but one, and gives the same answer."""
    drive = Drive()
    assert drive.ask("a", PROMPT) == drive.ask("b", PROMPT)
    assert drive.cached == {"a": 0, "b": 29}
    assert [(r.new_tokens, r.cached_tokens) for r in drive.records if r.phase == "prefill"] == [
        (30, 0),
        (1, 29),
    ]


@pytest.mark.parametrize(("page_size", "cached"), [(1, 29), (2, 28), (4, 28), (16, 16)])
def test_cached_tokens_are_whole_pages(page_size: int, cached: int) -> None:
    """A hit covers at most the prompt less one token, floored to pages."""
    drive = Drive(page_size=page_size)
    drive.ask("a", PROMPT)
    drive.ask("b", PROMPT)
    assert drive.cached["b"] == cached


def test_the_answer_is_cached_but_for_its_last_token() -> None:
    """A second turn reuses prompt and answer; the last answer token's KV was never computed."""
    drive = Drive()
    answer = drive.ask("a", PROMPT, max_tokens=5)
    drive.ask("b", [*PROMPT, *answer, 1, 2, 3])
    assert drive.cached["b"] == 30 + 5 - 1


def test_a_prompt_can_be_hit_while_its_request_still_decodes() -> None:
    """The prompt is in the tree right after its prefill."""
    drive = Drive()
    drive.add("a", PROMPT, max_tokens=20)
    drive.step()
    drive.add("b", [*PROMPT, 1])
    drive.run()
    assert drive.cached["b"] == 30


def test_twins_of_one_batch_both_compute_and_then_share() -> None:
    """Equal prompts in one batch both miss; the second's duplicates are freed and it reads the first's."""
    drive = Drive()
    drive.add("a", PROMPT, max_tokens=6)
    drive.add("b", PROMPT, max_tokens=6)
    drive.step()
    assert drive.records[0].new_tokens == 60
    assert drive.engine.stats().used_slots == 30
    drive.step()
    (_, _, first), (_, _, second) = drive.runner.entries[-1]
    assert first[:30] == second[:30]
    assert first[30:] != second[30:]
    drive.run()
    assert drive.outputs["a"] == drive.outputs["b"]
    assert drive.cached == {"a": 0, "b": 0}


def test_namespaces_keep_prefixes_apart() -> None:
    """Equal prompts in two namespaces don't share, in one they do."""
    drive = Drive()
    drive.ask("a", PROMPT, namespace="x")
    drive.ask("b", PROMPT, namespace="y")
    drive.ask("c", PROMPT, namespace="x")
    assert drive.cached == {"a": 0, "b": 0, "c": 29}


def test_the_cache_off_reuses_nothing_and_answers_the_same() -> None:
    """With the radix cache off nothing is kept and every output token is the same."""
    on, off = Drive(), Drive(radix_cache=False)
    for drive in (on, off):
        answer = drive.ask("a", PROMPT)
        drive.ask("b", [*PROMPT, *answer, 7])
    assert on.outputs == off.outputs
    assert off.cached == {"a": 0, "b": 0}
    assert off.engine.stats().free_slots == off.engine.stats().pool_slots


def test_long_prompts_are_computed_in_chunks() -> None:
    """A prompt over the chunk size takes several steps; later chunks report no cached tokens."""
    drive = Drive(chunked_prefill_size=16)
    drive.ask("a", range(40), max_tokens=1)
    assert [(r.new_seq, r.new_tokens, r.cached_tokens, r.pending_tokens) for r in drive.records] == [
        (1, 16, 0, 24),
        (1, 16, 0, 8),
        (1, 8, 0, 0),
    ]


def test_a_chunk_leaves_room_for_the_next_request() -> None:
    """The last chunk of one prompt and the beginning of the next share a step."""
    drive = Drive(chunked_prefill_size=16)
    drive.add("a", range(20), max_tokens=1)
    drive.add("b", range(100, 120), max_tokens=1)
    drive.run()
    assert [(r.new_seq, r.new_tokens) for r in drive.records] == [(1, 16), (2, 16), (1, 8)]


def test_chunks_enter_the_tree_one_by_one() -> None:
    """A later request hits the chunks an aborted one had computed, and no more."""
    drive = Drive(chunked_prefill_size=16)
    drive.add("a", range(40), max_tokens=1)
    drive.step()
    assert drive.engine.abort("a")
    drive.engine.audit()
    drive.ask("b", range(40), max_tokens=1)
    assert drive.cached["b"] == 16


def test_abort_frees_at_once_and_keeps_only_the_prompt() -> None:
    """An aborted request's output is not cached; its prompt, already in the tree, is."""
    drive = Drive()
    drive.add("a", PROMPT, max_tokens=20)
    for _ in range(5):
        drive.step()
    answer = drive.outputs["a"]
    assert drive.engine.abort("a")
    drive.engine.audit()
    assert drive.engine.stats().used_slots == 0
    assert not drive.engine.has_work
    assert not drive.engine.abort("a")
    drive.ask("b", [*PROMPT, *answer, 1])
    assert drive.cached["b"] == 30


def test_abort_of_a_waiting_request_forgets_it() -> None:
    """A request that never ran leaves the queue; the others go on."""
    drive = Drive()
    drive.add("a", PROMPT)
    drive.add("b", [1, 2])
    assert drive.engine.abort("a")
    drive.run()
    assert list(drive.outputs) == ["b"]


def test_finish_ends_a_request_as_a_success() -> None:
    """A stop string met outside ends a request early; prompt and answer are cached."""
    drive = Drive()
    drive.add("a", PROMPT, max_tokens=20)
    for _ in range(5):
        drive.step()
    record = drive.engine.finish("a")
    drive.engine.audit()
    assert record is not None
    assert (record.finish_reason, record.output_len) == ("stop", 5)
    assert drive.engine.finish("a") is None
    drive.ask("b", [*PROMPT, *drive.outputs["a"], 1])
    assert drive.cached["b"] == 34


def test_stop_tokens_end_a_request_unless_ignored() -> None:
    """A stop token id is the last token of an answer; with ``ignore_eos`` it is one like any other."""
    answer = Drive().ask("a", PROMPT, max_tokens=8)
    stop = frozenset({answer[2]})
    drive = Drive()
    assert drive.ask("b", PROMPT, max_tokens=8, stop_token_ids=stop) == answer[:3]
    assert drive.finished["b"].finish_reason == "stop"
    assert drive.ask("c", PROMPT, max_tokens=8, stop_token_ids=stop, ignore_eos=True) == answer
    assert drive.finished["c"].finish_reason == "length"


def test_flush_waits_for_nobody_and_empties_the_cache() -> None:
    """A flush is refused while a request is unfinished and granted right after its last token."""
    drive = Drive()
    drive.add("a", PROMPT, max_tokens=2)
    assert not drive.engine.flush()
    drive.step()
    assert not drive.engine.flush()
    result = drive.step()
    assert result is not None
    assert result.tokens[-1].finish_reason == "length"
    assert drive.engine.flush()
    drive.engine.audit()
    drive.ask("b", PROMPT)
    assert drive.cached["b"] == 0


@pytest.mark.parametrize(
    ("ids", "max_tokens", "words"),
    [
        (range(60), 41, ["101", "context of 100"]),
        (range(60), 10, ["70", "pool of 64"]),
        ([], 1, ["empty prompt"]),
        ([1], 0, ["0 output tokens"]),
    ],
)
def test_unservable_requests_are_refused_with_their_numbers(
    ids: range, max_tokens: int, words: list[str]
) -> None:
    """What could never be served is refused on arrival, and leaves no trace."""
    drive = Drive(pool=64, context_len=100)
    with pytest.raises(RequestError) as error:
        drive.add("a", ids, max_tokens)
    assert all(word in str(error.value) for word in words)
    assert not drive.engine.has_work


def test_a_request_id_is_unique_while_it_lives() -> None:
    """A second request under the id of a living one is refused; later the id is free again."""
    drive = Drive()
    drive.add("a", PROMPT)
    with pytest.raises(RequestError, match="already being served"):
        drive.add("a", PROMPT)
    drive.run()
    drive.engine.add(GenerationRequest("a", tuple(PROMPT), SamplingParams(max_tokens=1)))
    assert drive.engine.has_work


def test_a_request_as_long_as_the_pool_is_served() -> None:
    """Prompt and output may fill the pool to the last slot, whatever is cached."""
    drive = Drive(pool=64, page_size=4)
    drive.ask("a", range(50), max_tokens=4)
    assert len(drive.ask("b", range(500, 540), max_tokens=24)) == 24


def test_records_add_up() -> None:
    """Times, counts and totals of records and statistics agree with what was served."""
    drive = Drive()
    drive.clock.advance(1000)
    drive.add("a", PROMPT, max_tokens=3)
    drive.clock.advance(500)
    drive.run()
    finish, stats = drive.finished["a"], drive.engine.stats()
    prefill_ns, decode_ns = 1_000_000 + 30 * 20_000, 2_100_000
    assert [record.phase for record in drive.records] == ["prefill", "decode", "decode"]
    assert [record.step for record in drive.records] == [0, 1, 2]
    assert [record.host_ns for record in drive.records] == [0, 0, 0]
    assert [record.held_tokens for record in drive.records] == [30, 31, 32]
    assert [record.used_slots for record in drive.records] == [30, 31, 32]
    assert (finish.entry_ns, finish.queue_ns, finish.ttft_ns) == (1000, 500, 500 + prefill_ns)
    assert finish.e2e_ns == finish.queue_ns + finish.forward_ns == 500 + prefill_ns + 2 * decode_ns
    assert (finish.input_len, finish.output_len, finish.attempts) == (30, 3, 1)
    assert (stats.prompt_tokens_total, stats.generation_tokens_total, stats.requests_total) == (30, 3, 1)
    assert stats.step_ns_total == prefill_ns + 2 * decode_ns
    assert (stats.used_slots, stats.evictable_slots) == (0, 32)


class FaultyRunner:
    """Fails when told to, else computes."""

    def __init__(self, drive: Drive) -> None:
        self.inner = drive.runner
        self.fails = False

    def run(self, batch: Batch) -> list[int | None]:
        """As the inner runner, or not at all."""
        if self.fails:
            raise MemoryError("scripted")
        return self.inner.run(batch)


def test_a_failed_step_loses_nothing() -> None:
    """A runner that raises leaves every request in place; the steps are computed later all the same."""
    sound = Drive(chunked_prefill_size=16)
    drive = Drive(chunked_prefill_size=16)
    faulty = FaultyRunner(drive)
    drive.engine = Engine(drive.engine.config, faulty, drive.clock)
    for each in (sound, drive):
        each.add("a", range(40))
        each.add("b", range(20, 30))
    sound.run()
    while drive.engine.has_work:
        faulty.fails = True
        with pytest.raises(MemoryError):
            drive.step()
        drive.engine.audit()
        faulty.fails = False
        drive.step()
    assert drive.outputs == sound.outputs


def test_decoding_requests_read_long_runs() -> None:
    """Eight requests decoding together each keep prompt and answer in one run of slots."""
    drive = Drive(pool=4096)
    for index in range(8):
        drive.add(str(index), range(index * 100, index * 100 + 50), max_tokens=40)
    drive.run()
    last = drive.runner.entries[-1]
    assert len(last) == 8
    for _, _, slots in last:
        assert slots == list(range(slots[0], slots[0] + len(slots)))


def test_runs_stay_long_while_slots_are_short() -> None:
    """Decoding requests that live on evicted slots don't end up with one run per token."""
    drive = Drive(pool=1024)
    drive.ask("old", range(2000, 3000), max_tokens=8)
    for index in range(8):
        drive.add(str(index), range(index * 100, index * 100 + 20), max_tokens=60, ignore_eos=True)
    drive.run()
    assert drive.engine.stats().evicted_tokens_total > 0
    last = drive.runner.entries[-1]
    breaks = [sum(b - a != 1 for a, b in itertools.pairwise(slots)) for _, _, slots in last]
    assert len(breaks) == 8
    assert max(breaks) <= 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"page_size": 0},
        {"page_size": 32, "chunked_prefill_size": 16},
        {"pool": 8, "page_size": 16},
        {"max_running_requests": 0},
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, int]) -> None:
    """A configuration that could serve nothing is refused with the setting's name."""
    with pytest.raises(UsageError, match=r"at least 1|less than one page"):
        Drive(**wrong)


def test_out_of_range_ids_are_refused() -> None:
    """A token id that is no int32 is the request's fault."""
    with pytest.raises(RequestError, match="token ids"):
        Drive().add("a", [2**40])
