"""A prompt of several chunks is one prompt, and its own earlier chunks are no reuse."""

from __future__ import annotations

import pytest

from tests.metrics.log_summary.records import arguments, codes, decode, note, prefill, summarise

OLD = {"cache_hit_rate_pct": 0.0}


def test_fault_56_a_later_chunk_logs_nothing_cached() -> None:
    """Chunks of 8192, 8192 and 3616 new tokens with 4096, 0 and 0 cached are one prompt of 24,096 tokens, 4096 of them cached."""
    summary = summarise([prefill(8192, 4096), prefill(8192, at=1), prefill(3616, at=2)])
    found = summary.prefill
    assert (found.prompts, found.continuations, found.new_seq) == (1, 2, 3)
    assert found.new_tokens is not None
    assert found.cached_tokens == 4096
    assert found.new_tokens + found.cached_tokens == 24_096
    assert "chunk-continuation-counted-as-hit" not in codes(summary)


def test_fault_55_old_servers_log_earlier_chunks_as_hits() -> None:
    """One prompt of 20,000 tokens with 0, 8192 and 16,384 'cached' has reused nothing, and the note says why."""
    log = [prefill(8192, 0, **OLD), prefill(8192, 8192, at=1, **OLD), prefill(3616, 16_384, at=2, **OLD)]
    summary = summarise(log)
    assert (summary.prefill.cached_tokens, summary.prefill.new_tokens) == (0, 20_000)
    assert (summary.prefill.hit_rate, summary.prefill.prompts) == (0.0, 1)
    assert sum(window.cached_tokens for window in summary.windows) == 0
    assert "counted as hit (old server" in note(summary, "chunk-continuation-counted-as-hit")
    assert "24,576 such tokens" in note(summary, "chunk-continuation-counted-as-hit")


def test_an_old_servers_real_hits_stay() -> None:
    """Only the prompt's own chunks are taken off: 512 tokens reused before its first chunk stay reused."""
    log = [prefill(8192, 512, **OLD), prefill(8192, 8704, at=1, **OLD), prefill(100, 16_896, at=2, **OLD)]
    assert summarise(log).prefill.cached_tokens == 512


def test_an_old_servers_shared_prefix_is_no_chunk() -> None:
    """A warm prefix of 4096 tokens is reused exactly, again and again: those are hits, for no budget was filled."""
    log = [
        prefill(4096, 0, **OLD),
        *(prefill(128, 4096, at=n, **OLD) for n in range(1, 9)),
        prefill(5000, 0, at=9, **OLD),
    ]
    assert summarise(log).prefill.cached_tokens == 8 * 4096


@pytest.mark.parametrize("budget", [2048, 8192, 16_384])
def test_a_stated_budget_needs_no_second_sign(budget: int) -> None:
    """With chunked_prefill_size in the arguments a single filled line is enough."""
    summary = summarise([arguments(chunked_prefill_size=budget), prefill(budget), prefill(17, at=1)])
    assert (summary.prefill.prompts, summary.prefill.continuations) == (1, 1)
    assert "chunk-budget-inferred" not in codes(summary)


def test_an_inferred_budget_is_told() -> None:
    """Without arguments the largest token count that comes again is taken, and the note says so."""
    summary = summarise([prefill(8192), prefill(8192, at=1), prefill(3616, at=2)])
    assert "up to 8,192 new tokens" in note(summary, "chunk-budget-inferred")


def test_a_filled_line_may_miss_the_budget_by_a_token_for_each_prompt() -> None:
    """8191 tokens of two prompts and 8190 of three fill a budget of 8192 (sgl-project/sglang#6921)."""
    log = [
        arguments(chunked_prefill_size=8192),
        prefill(8191, new_seq=2), prefill(8190, new_seq=3, at=1), prefill(8189, new_seq=2, at=2), prefill(10, at=3),
    ]  # fmt: skip
    assert summarise(log).prefill.continuations == 2


def test_pending_tokens_settle_it() -> None:
    """Nothing pending: a full line is complete. Tokens pending and nobody waiting: the prompt goes on, whatever the budget."""
    complete = [prefill(8192, at=n, pending_token=0) for n in range(4)]
    assert summarise(complete).prefill.continuations == 0
    pending = [46_401, 38_209, 30_017, 0]
    goes_on = [prefill(8192 - 64, at=n, pending_token=left) for n, left in enumerate(pending)]
    assert summarise(goes_on).prefill.continuations == 3


def test_a_queue_that_empties_by_whole_prompts_has_no_chunk() -> None:
    """Eight prompts of 1024 tokens fill 8192 exactly: as many leave the queue as the next line holds, so none goes on."""
    log = [
        prefill(8192, at=n, new_seq=8, queue_req=92 - 8 * n, pending_token=(92 - 8 * n) * 1024)
        for n in range(11)
    ]
    assert summarise([arguments(chunked_prefill_size=8192), *log]).prefill.continuations == 0


def test_equal_lines_of_a_usual_chunk_size_are_unclear() -> None:
    """Twenty lines of 4096 tokens are as many prompts or the chunks of longer ones, whatever isn't stated."""
    summary = summarise([prefill(4096, at=n) for n in range(20)])
    assert (summary.prefill.prompts, summary.prefill.continuations) == (None, None)
    assert "19 lines with exactly one chunk (4,096 new tokens)" in note(summary, "chunks-unclear")
    assert "chunk-budget-inferred" not in codes(summary)


@pytest.mark.parametrize("length", [1000, 2000, 3000])
def test_an_unusual_size_is_no_budget(length: int) -> None:
    """Nobody chunks by 3000 tokens: equal lines are equal prompts, with a smaller one after them or not."""
    log = [prefill(length, at=n) for n in range(20)]
    assert summarise(log).prefill.prompts == 20
    assert summarise([*log, prefill(100, at=20)]).prefill.prompts == 21


def test_a_server_of_early_2025_prints_continuations_bare() -> None:
    """0.4.1 to 0.4.3 print a cumulative rate but nothing cached for later chunks: all that is printed as cached was reused."""
    log = [arguments(chunked_prefill_size=8192)]
    for n, (rest, seqs, cached) in enumerate([(3000, 1, 0), (1000, 1, 0), (3000, 2, 9000), (500, 1, 8192)]):
        log.append(prefill(8192, at=2 * n, queue_req=1, **OLD))
        log.append(prefill(rest, cached, at=2 * n + 1, new_seq=seqs, **OLD))
    summary = summarise(log)
    assert summary.prefill.cached_tokens == 17_192
    assert sum(window.cached_tokens for window in summary.windows) == 17_192
    assert "chunk-continuation-counted-as-hit" not in codes(summary)


def test_an_old_server_has_only_exact_chunks_taken_off() -> None:
    """A line of two sequences doesn't say what is whose, and a hit that is no chunk's length is a hit."""
    log = [arguments(chunked_prefill_size=8192)]
    for n, (seqs, cached) in enumerate([(1, 8192), (2, 9000), (1, 8000)]):
        log += [prefill(8192, at=2 * n, **OLD), prefill(3000, cached, at=2 * n + 1, new_seq=seqs, **OLD)]
    assert summarise(log).prefill.cached_tokens == 17_000


def test_fewer_running_requests_than_before_mean_a_complete_prompt() -> None:
    """A closed loop of 16 requests of 1024 tokens: a chunk would go on at once, so after the loop's end nothing does."""
    log = [arguments(chunked_prefill_size=8192)]
    for n in range(3):
        log.append(prefill(8192, at=10 * n, new_seq=8, queue_req=8))
        log.append(prefill(8192, at=10 * n + 1, new_seq=8, running_req=8))
    summary = summarise(log)
    assert (summary.prefill.prompts, summary.prefill.continuations) == (48, 0)


def test_a_decode_line_with_all_sequences_means_complete_prompts() -> None:
    """Eight were running, eight came: sixteen decode, so none of them is half done; fifteen leave it open."""
    for running, continuations in ((16, 0), (15, 1)):
        log = [
            arguments(chunked_prefill_size=8192), prefill(8192, new_seq=8, running_req=8), decode(running, at=1),
            prefill(900, new_seq=2, running_req=15, at=2),
        ]  # fmt: skip
        assert summarise(log).prefill.continuations == continuations


def test_equal_lines_of_equal_shares_are_unclear() -> None:
    """Eight sequences in 8192 tokens, again and again, with nothing else to tell: no number of prompts is invented."""
    log = [prefill(8192, at=n, new_seq=8, running_req=..., queue_req=...) for n in range(6)]
    end = prefill(300, at=6, running_req=..., queue_req=...)
    for lines in (log, [*log, end]):
        for start in ([], [arguments(chunked_prefill_size=8192)]):
            summary = summarise([*start, *lines])
            assert (summary.prefill.prompts, summary.prefill.continuations) == (None, None)
            assert "chunks-unclear" in codes(summary)


def test_running_requests_tell_which_prompts_are_complete() -> None:
    """All four prompts of a full line are running when the next line comes: none of them goes on."""
    log = [
        arguments(chunked_prefill_size=4096),
        prefill(4096, new_seq=4, running_req=2),
        prefill(4096, at=1, new_seq=4, running_req=6),
    ]
    log += [prefill(4096, at=2, new_seq=3, running_req=9), prefill(50, at=3, running_req=11)]
    assert summarise(log).prefill.continuations == 2


def test_lines_of_exactly_one_chunk_stay_unclear() -> None:
    """Prompts as long as a chunk, one at a time, look like chunks of longer ones: prompts are unknown, the hit rate isn't."""
    summary = summarise([arguments(chunked_prefill_size=4096), *(prefill(4096, 100, at=n) for n in range(5))])
    assert (summary.prefill.prompts, summary.prefill.continuations) == (None, None)
    assert "prompts unknown" in (summary.prefill.reason or "")
    assert "4 lines with exactly one chunk (4,096 new tokens)" in note(summary, "chunks-unclear")
    assert summary.prefill.hit_rate == pytest.approx(100 / 4196)


def test_decoding_ends_a_prompt() -> None:
    """A decode line after a full line on an otherwise idle server: that prompt was complete."""
    log = [arguments(chunked_prefill_size=4096)]
    for n in range(5):
        log += [prefill(4096, at=2 * n), decode(at=2 * n + 1)]
    assert summarise(log).prefill.continuations == 0


def test_chunking_off_has_no_continuation() -> None:
    """chunked_prefill_size=-1: lines of equal size are prompts of equal size."""
    log = [arguments(chunked_prefill_size=-1), prefill(8192), prefill(8192, at=1), prefill(100, at=2)]
    assert summarise(log).prefill.continuations == 0


def test_a_restart_may_change_the_budget() -> None:
    """Continuations under the first budget stay counted when the second is stated."""
    log = [
        arguments(chunked_prefill_size=2048), prefill(2048), prefill(55, at=1),
        arguments(at=50, chunked_prefill_size=8192), prefill(2048, at=60), prefill(55, at=61), prefill(8192, at=62), prefill(55, at=63),
    ]  # fmt: skip
    assert summarise(log).prefill.continuations == 2


def test_longer_prompts_than_the_largest_line_mean_no_budget() -> None:
    """A largest count seen once is no limit: lines go above it, so nothing below it was cut off by it."""
    log = [prefill(8192), prefill(8192, at=1), prefill(100, at=2), prefill(30_000, at=3), prefill(55, at=4)]
    assert summarise(log).prefill.continuations == 0
