"""llama.cpp's timings, stitched with what was said of each request's reuse before."""

from __future__ import annotations

import pytest

from radixbench.logs.record import LogRecord, Rank
from tests.metrics.log_summary.records import codes, event, note, slot, summarise


def _timing(
    task: int, prompt_n: int, *, slot_id: int = 0, prompt_ms: float = 100.0, at: float | None = None
) -> LogRecord:
    return slot(
        "timing_block", at=at, slot=slot_id, task=task, prompt_ms=prompt_ms, prompt_n=prompt_n,
        predicted_ms=1000.0, predicted_n=50, total_ms=prompt_ms + 1000.0,
    )  # fmt: skip


def test_reuse_and_timings_of_one_request() -> None:
    """kv cache rm [60, end), then 40 tokens timed: 60 of 100 reused."""
    summary = summarise([slot("kv_rm", slot=0, task=7, p0=60), _timing(7, 40)])
    found = summary.prefill
    assert (found.cached_tokens, found.new_tokens, found.hit_rate, found.prompts) == (60, 40, 0.6, 1)
    assert (summary.requests.n, summary.requests.prompt_tokens, summary.requests.output_tokens) == (
        1,
        100,
        50,
    )
    assert summary.throughput.output == pytest.approx(50.0)
    assert summary.throughput.computed == pytest.approx(400.0)
    assert summary.throughput.input == pytest.approx(1000.0)


def test_the_first_word_about_reuse_holds() -> None:
    """The same line comes again for each batch of a prompt, with its own tokens: 2048 is no reuse."""
    log = [slot("kv_rm", slot=0, task=7, p0=p0) for p0 in (0, 2048, 4096)]
    assert summarise([*log, _timing(7, 5000)]).prefill.cached_tokens == 0


@pytest.mark.parametrize(
    "said",
    [
        [slot("cached", slot=0, task=7, cached_n=60, p0=60)],
        [slot("new_prompt", slot=0, task=7, n_prompt_tokens=100)],
        [
            slot("new_prompt", slot=0, task=7, n_prompt_tokens=100),
            slot("cached", slot=0, task=7, cached_n=60, p0=60),
        ],
        [slot("prompt_split", slot=0, task=7, cached_n=60, to_process_n=40)],
    ],
)
def test_every_form_tells_the_same(said: list[LogRecord]) -> None:
    """Cached tokens from whichever line a version prints."""
    assert summarise([*said, _timing(7, 40)]).prefill.hit_rate == 0.6


def test_early_servers_name_no_slot_in_their_timings() -> None:
    """Slot 0 announces 510 tokens, then a timing without a slot has 510: they belong together (ggml-org/llama.cpp#5104)."""
    log = [
        slot("prompt_split", slot=1, cached_n=9, to_process_n=33), slot("prompt_split", slot=0, cached_n=90, to_process_n=510),
        slot("prompt_eval", prompt_ms=241.07, prompt_n=510),
    ]  # fmt: skip
    assert summarise(log).prefill.hit_rate == 0.15


def test_timings_line_by_line() -> None:
    """The newest form prints prompt, answer and total in three lines."""
    log = [
        slot("cached", slot=1, task=0, cached_n=21), slot("prompt_eval", slot=1, task=0, prompt_ms=311.21, prompt_n=21),
        slot("eval", slot=1, task=0, predicted_ms=2000.0, predicted_n=200), slot("total", slot=1, task=0, total_ms=2311.0),
        slot("draft", slot=1, task=0, draft_acceptance=0.645, accepted_n=334, drafted_n=518, mean_acceptance_len=2.92),
    ]  # fmt: skip
    summary = summarise(log)
    assert (summary.requests.n, summary.prefill.hit_rate, summary.throughput.output) == (
        1,
        0.5,
        pytest.approx(100.0),
    )
    assert (summary.decode.accept_rate, summary.decode.accept_len) == (0.645, 2.92)


def test_the_first_token_is_in_the_prompts_time() -> None:
    """Newer versions time 11 of 12 generated tokens, as the printed rate shows; older ones all of them."""
    for rate, tokens in ((32.91, 11), (35.9, 12)):
        log = [slot("eval", slot=1, task=0, predicted_ms=334.3, predicted_n=12, predicted_per_second=rate)]
        assert summarise(log).throughput.output == pytest.approx(tokens / 0.3343)


def test_reuse_follows_from_the_slot_at_its_release() -> None:
    """Without a word about reuse: 315 tokens in the slot, 1 computed, 12 generated of which the last isn't stored: 303 reused."""

    def request(task: int, computed: int, held: int, **more: object) -> list[LogRecord]:
        return [
            slot("prompt_eval", slot=1, task=task, prompt_ms=9.0, prompt_n=computed), slot("eval", slot=1, task=task, predicted_ms=9.0, predicted_n=12),
            slot("release", slot=1, task=task, **{"n_tokens": held, "truncated_context": False} | more),
        ]  # fmt: skip

    summary = summarise([*request(0, 304, 315), *request(13, 1, 315)])
    assert (summary.prefill.cached_tokens, summary.prefill.new_tokens, summary.requests.n) == (303, 305, 2)
    assert "2 requests reused" in note(summary, "cached-tokens-derived")
    assert "cached-tokens-unknown" not in codes(summary)
    for odd in (request(0, 304, 315, truncated_context=True), request(0, 304, 200), request(0, 304, 315)[:2]):
        unknown = summarise(odd)
        assert unknown.prefill.cached_tokens is None
        assert "1 of 1 request reused" in note(unknown, "cached-tokens-unknown")


def test_unknown_reuse_is_not_0() -> None:
    """Timings alone tell no reuse: left out of the hit rate and counted in a note."""
    summary = summarise([slot("kv_rm", slot=0, task=1, p0=50), _timing(1, 50), _timing(2, 900)])
    assert (summary.prefill.hit_rate, summary.prefill.new_tokens) == (0.5, 50)
    assert "1 of 2 requests" in note(summary, "cached-tokens-unknown")
    alone = summarise([slot("prompt_eval", prompt_ms=6518.0, prompt_n=281, program="main")])
    assert (alone.prefill.cached_tokens, alone.prefill.hit_rate) == (None, None)
    assert "cached tokens unknown" in (alone.prefill.reason or "")


def test_fault_49_a_prompt_cached_but_for_one_token() -> None:
    """1 token timed of 500: the hit rate counts, the rate over one token is n/a."""
    summary = summarise([slot("kv_rm", slot=0, task=1, p0=499), _timing(1, 1)])
    assert summary.prefill.hit_rate == 0.998
    assert summary.throughput.computed is None
    assert "cached but for its last token" in (summary.throughput.reason or "")
    assert "1 prompt is cached but for the last token" in note(summary, "fully-cached-prompts")


def test_latency_includes_no_waiting() -> None:
    """Timings begin when a slot takes the request, so they are no TTFT and no latency; prompt and answer times stand for themselves."""
    found = summarise([_timing(1, 50, prompt_ms=200.0)]).requests
    assert (found.ttft, found.e2e) == (None, None)
    assert "waiting" in (found.reason or "")
    assert found.prefill is not None
    assert found.prefill.p50 == pytest.approx(0.2)
    assert found.decode is not None
    assert found.decode.p50 == pytest.approx(1.0)


def test_whole_prompts_computed_again() -> None:
    """Sliding-window and recurrent models say why nothing was reused."""
    summary = summarise(
        [
            slot("full_reprocess", slot=0, task=533),
            slot("cached", slot=0, task=533, cached_n=0),
            _timing(533, 62),
        ]
    )
    assert note(summary, "full-reprocess").startswith("Once a whole prompt")
    assert [event.name for event in summary.events] == ["full_reprocess"]


def test_contexts_that_were_too_long() -> None:
    """A shifted or truncated context is told."""
    shifted = summarise([event("context_shift", dialect="llamacpp"), _timing(1, 50)])
    assert note(shifted, "context-shifted").startswith("Once a context was too long")
    truncated = summarise(
        [_timing(1, 50), slot("release", slot=0, task=1, n_tokens=9, truncated_context=True)]
    )
    assert "context-shifted" in codes(truncated)


def test_timed_requests_are_bounded() -> None:
    """Requests that are timed but never released stay unknown, and few of them are kept."""
    log = [
        line
        for task in range(5000)
        for line in (slot("prompt_eval", slot=0, task=task, prompt_ms=1.0, prompt_n=9),)
    ]
    assert "5,000 of 5,000 requests" in note(summarise(log), "cached-tokens-unknown")


def test_children_of_a_router_have_slots_of_their_own() -> None:
    """The same slot and task of another process is another request."""
    log = [slot("kv_rm", slot=0, task=1, p0=60, pid=11), slot("kv_rm", slot=0, task=1, p0=0, pid=12)]
    timing = _timing(1, 40)
    log += [timing._replace(values={**timing.values, "pid": pid}) for pid in (12, 11)]
    assert summarise(log).prefill.cached_tokens == 60


def test_work_lies_before_its_timing() -> None:
    """A timing is printed at the end of its request: the phase begins where the work did, and overlapping requests are one phase."""
    log = [
        _timing(1, 50, prompt_ms=9000.0, at=100),
        _timing(2, 50, prompt_ms=9000.0, at=105),
        _timing(3, 50, at=300),
    ]
    summary = summarise(log)
    busy = [(phase.label, phase.end_s - phase.start_s) for phase in summary.phases if phase.kind == "busy"]
    assert busy == [("+90s", 15.0), ("+298.9s", pytest.approx(1.1))]
    assert summary.throughput.busy_s == pytest.approx(16.1)


def test_open_requests_are_bounded() -> None:
    """A hundred thousand requests that never end take no more room than the last few thousand, whose reuse is still known."""
    log = [slot("kv_rm", slot=0, task=task, p0=10) for task in range(100_000)]
    summary = summarise([*log, _timing(99_999, 10), _timing(1, 10)])
    assert (summary.prefill.prompts, summary.prefill.hit_rate) == (1, 0.5)
    assert "1 of 2 requests" in note(summary, "cached-tokens-unknown")


def test_several_sources_do_not_mix() -> None:
    """Slot 0 of one pod is not slot 0 of another."""
    log = [slot("kv_rm", rank=Rank(pod), slot=0, task=1, p0=p0) for pod, p0 in (("a", 30), ("b", 0))]
    log.append(_timing(1, 10)._replace(rank=Rank("a")))
    assert summarise(log).prefill.hit_rate == 0.75
    assert "two-servers" not in codes(summarise(log))
