"""Field faults of figures: what a run must say of itself when its numbers would lie."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from radixbench.capture.model import Run
from radixbench.compare.comparison import compare
from radixbench.compare.document import to_document
from radixbench.compare.single import single_caveats
from radixbench.findings.levels import levels
from radixbench.findings.namespaces import crossing_findings, crossings
from radixbench.findings.turns import dead_branches, dropped
from radixbench.metrics.figure import TurnAccount
from radixbench.metrics.gpu_count import gpu_count
from radixbench.metrics.latency import itl, tpot
from radixbench.metrics.registry import METRICS
from radixbench.metrics.summary import summarise
from radixbench.records import LogTotals, ServerCounters
from radixbench.stats.sample import Absent
from tests.builders import (
    failed_request,
    make_capture,
    make_request,
    make_run,
    make_sweep,
    ns,
    prompt_ids,
)
from tests.faults.finding import codes, found, found_in_capture


def figure(run: Run, name: str) -> float | None:
    """One figure of a run."""
    return summarise(run).figures[name].value


def test_fault_7_one_request_of_a_cold_run_was_warm() -> None:
    """19 first tokens near 4 s and one after 0.06 s, all prompts of 21,000 tokens: that request is named."""
    requests = [
        make_request(i, send_s=5.0 * i, ttft_s=0.06 if i == 7 else 4.0 + 0.01 * i, prompt_tokens=21_000)
        for i in range(20)
    ]
    prompts = [prompt_ids(0, i, shared=0, question=800) for i in range(20)]
    told = found(make_run(requests, prompts=prompts), "suspected-hit")
    assert told.text.startswith(
        "suspected hit in cold run: 1 request (7): first token of request 7 after 60.0 ms"
    )


def test_fault_20_an_answer_of_reasoning_alone_has_a_ttft() -> None:
    """The output length ran out while thinking: TTFT is set, content is 0, nothing is null or crashes."""
    run = make_run(
        [make_request(0, ttft_s=0.4, output=8, content_chars=0, reasoning_chars=40, blank_chars=7)]
    )
    assert figure(run, "ttft_p50") == pytest.approx(0.4)
    assert run.requests[0].content_chars == 0
    assert summarise(run).answered == 1


def test_fault_22_an_answer_held_back_has_no_inference_speed() -> None:
    """100 tokens in one event after 5 s: TTFT is 5 s, there is no decode rate, and throughput is 20 tokens/s."""
    run = make_run([make_request(0, ttft_s=5.0, output=100, chunk=100)])
    assert figure(run, "ttft_p50") == pytest.approx(5.0)
    assert figure(run, "tpot_p50") is None
    assert figure(run, "output_throughput") == pytest.approx(20.0)


def test_fault_23_a_run_without_tokens_has_no_throughput() -> None:
    """No division by zero: throughput is n/a with a reason, in the capture's figures and in the document."""
    run = make_run([make_request(i, output=0) for i in range(5)])
    throughput = summarise(run).figures["output_throughput"]
    assert (throughput.value, throughput.n_values) == (None, 0)
    assert throughput.reason == "none of 5 requests counts: 5 completed without a token"
    assert found(run, "incomplete").text == "0 of 5 requests answered"


def test_fault_26_thinking_ate_the_answers() -> None:
    """Most answers end by length without content: the settings that mend it are named."""
    requests = [
        make_request(i, content_chars=0 if i < 6 else 12, reasoning_chars=80, blank_chars=9)
        for i in range(10)
    ]
    told = found(make_run(requests), "empty-at-limit")
    assert told.text.startswith("6 of 10 answers end by length without any content")
    assert "--output-len" in told.remedy
    assert "enable_thinking" in told.remedy
    half = [replace(one, content_chars=0 if one.prompt < 5 else 12) for one in requests]
    assert "empty-at-limit" not in codes(make_run(half))


def test_fault_28_empty_answers_are_no_zeros() -> None:
    """60 of 100 answers are empty: percentiles are over the other 40, and the 60 are told."""
    requests = [make_request(i, ttft_s=0.2 if i < 40 else 0.0, output=4 if i < 40 else 0) for i in range(100)]
    run = make_run(requests)
    ttft = summarise(run).figures["ttft_p50"]
    assert (ttft.value, ttft.n_values) == (pytest.approx(0.2), 40)
    told = found_in_capture(make_capture([run]), "values-left-out")
    assert "60 completed without a token" in told.text


def test_fault_31_an_answer_in_one_batch_has_no_decode_rate() -> None:
    """All tokens in the first event: n/a, never a rate near 0."""
    run = make_run([make_request(i, output=16, chunk=16) for i in range(4)])
    assert tpot(run.requests[0]) is None
    assert figure(run, "tpot_p50") is None
    assert found(run, "one-event-answers").text.startswith("4 of 4 answers came in one event")


def test_fault_32_gaps_are_per_token_or_labelled() -> None:
    """10 chunks of 4 tokens, 40 ms apart: 10 ms where events tell their tokens, else labelled per chunk."""
    told = make_run([make_request(0, output=40, chunk=4, gap_s=0.04)])
    assert figure(told, "itl_p50") == pytest.approx(0.010)
    assert "itl-per-chunk" not in codes(told)
    silent = make_run([make_request(0, output=10, gap_s=0.04, output_tokens=40, output_ids=None)])
    label = found(silent, "itl-per-chunk")
    assert label.text.startswith("ITL is per chunk in 1 of 1 answer")
    assert label.metrics == {"itl_p50"}


def test_fault_34_a_gap_that_contradicts_the_throughput() -> None:
    """Speculation: events of one counted token 8.7 ms apart, but the usage tells 2.56 tokens each. It says why."""
    run = make_run([make_request(0, output=100, gap_s=0.0087, output_tokens=256, output_ids=None)])
    text = found(run, "itl-contradicts-throughput").text
    assert "mean gap is 8.7 ms" in text
    assert "3.4 ms per token" in text
    assert "chunks hold several tokens" in text
    honest = make_run([make_request(0, output=100, chunk=4, gap_s=0.04)])
    assert "itl-contradicts-throughput" not in codes(honest)


def test_fault_35_a_peak_is_never_below_the_mean() -> None:
    """Events of unknown size: the usage is spread over them, so that the best second beats the mean."""
    requests = [
        make_request(i, send_s=0.3 * i, output=40, gap_s=0.05, output_tokens=160, output_ids=None)
        for i in range(8)
    ]
    run = make_run(requests)
    peak, mean = figure(run, "peak_output_throughput"), figure(run, "output_throughput")
    assert peak is not None
    assert mean is not None
    assert peak >= mean
    assert "peak-below-mean" not in codes(run)


def test_fault_38_every_number_has_its_formula() -> None:
    """Two throughputs of the same run have two names and two formulas."""
    formulas = [metric.formula for metric in METRICS.values()]
    assert len(set(formulas)) == len(formulas)
    assert "from the first send to the last token" in METRICS["output_throughput"].formula
    assert "first finish" in METRICS["steady_output_throughput"].formula


def test_fault_43_fewer_tokens_than_asked_are_told() -> None:
    """Throughput counts the tokens that came; that fewer came than were asked for is said with both numbers."""
    requests = [make_request(i, output=96, requested_tokens=128, finish_reason="stop") for i in range(10)]
    run = make_run(requests)
    assert found(run, "early-stops").text.startswith(
        "960 of 1,280 requested tokens were generated: 10 answers"
    )


def test_fault_44_a_shrinking_batch_has_a_steady_part() -> None:
    """Four start at once, one after the other stops early: the steady part ends with the first finish."""
    requests = [make_request(i, ttft_s=0.5, output=101 + 100 * i, gap_s=0.01) for i in range(4)]
    run = make_run(requests)
    steady, mean = figure(run, "steady_output_throughput"), figure(run, "output_throughput")
    assert steady == pytest.approx(400.0)
    assert mean == pytest.approx((101 + 201 + 301 + 401) / 4.5)


def test_fault_47_prefill_speed_is_tokens_over_time() -> None:
    """Two prompts of 1,000 tokens computed within one second: 2,000 tokens/s, whatever the batch."""
    run = make_run([make_request(i, ttft_s=1.0, output=1, prompt_tokens=1000) for i in range(2)])
    assert figure(run, "prefill_throughput") == pytest.approx(2000.0)
    assert METRICS["prefill_throughput"].unit == "tokens/s"


@pytest.mark.parametrize(
    ("args", "gpus"),
    [
        ({"tp_size": 1, "dp_size": 4}, 4),
        ({"tp_size": 2, "dp_size": 2, "pp_size": 2}, 8),
        ({"tensor_parallel_size": 4, "data_parallel_size": 2}, 8),
        ({"tp_size": 8, "dp_size": 8, "enable_dp_attention": True}, 8),
        ({}, 1),
    ],
)
def test_fault_50_data_parallel_ranks_are_gpus_too(args: dict[str, int | bool], gpus: int) -> None:
    """Tensor × pipeline × data parallel; attention data parallelism splits tensor ranks and adds none."""
    run = make_run(
        [make_request(0, output=11, ttft_s=1.0, gap_s=0.1)], args=args, identity={"device": "cuda"}
    )
    assert gpu_count(run) == gpus
    assert figure(run, "output_throughput_per_gpu") == pytest.approx(5.5 / gpus)
    assert isinstance(gpu_count(make_run([make_request(0)], args=args)), Absent)


def test_fault_52_missing_requests_refuse_a_comparison() -> None:
    """437 of 1,024 requests are missing: completed and expected are told, and nothing is concluded."""
    on, off = make_sweep()
    thinned = tuple(replace(run, requested=1024, requests=run.requests[:7]) for run in on.runs)
    comparison = compare(replace(on, runs=thinned), off)
    told = next(caveat for caveat in comparison.caveats if caveat.code == "incomplete")
    assert "7 of 1,024 requests answered" in told.text
    assert comparison.a.completed == 21
    assert comparison.a.requests == 3072
    assert {row.verdict for row in comparison.changes} <= {"undecided", None}
    assert "fewer than 99 %" in (comparison.changes[0].reason or "")


def test_fault_53_decode_time_starts_at_the_first_token() -> None:
    """Neither prompt nor waiting is part of it: 10 s to the first token don't change TPOT."""
    for ttft_s in (0.1, 10.0):
        request = make_request(0, ttft_s=ttft_s, output=11, gap_s=0.02)
        assert tpot(request) == pytest.approx(0.02)
        assert itl(request) == pytest.approx([0.02] * 10)


@pytest.mark.parametrize(
    ("engine", "flag"),
    [
        ("sglang", "start it with --enable-cache-report"),
        ("vllm", "start it with --enable-prompt-tokens-details"),
    ],
)
def test_fault_64_hits_of_a_server_that_does_not_report(engine: str, flag: str) -> None:
    """No cached tokens in any answer, but a repeat's first token fell from 3.15 to 0.10 s: the flag is named."""
    prompts = [prompt_ids(0, i, shared=4000, question=8) for i in range(4)]
    requests = [
        make_request(i, send_s=10.0 * i, ttft_s=0.10 if i else 3.15, prompt_tokens=4008, cached=None)
        for i in range(4)
    ]
    run = make_run(requests, prompts=prompts)
    run = replace(run, server=replace(run.server, engine=engine))
    told = found(run, "unreported-hits")
    assert told.text.startswith(f"cache probably hit; server does not report ({flag})")
    assert figure(run, "hit_rate") is None
    slow = replace(
        run,
        requests=tuple(
            replace(one, chunk_ns=(one.send_ns + ns(3.0),), chunk_tokens=(4,)) for one in requests
        ),
    )
    assert "unreported-hits" not in codes(slow)
    assert flag in found(slow, "cached-unknown").remedy


def test_fault_68_hits_of_preempted_requests_on_random_prompts() -> None:
    """Prompts that share nothing, 32 % hits, and preemptions: they are named as the cause; without hits nothing is."""
    requests = [make_request(i, prompt_tokens=100, cached=32) for i in range(10)]
    prompts = [prompt_ids(0, i, shared=0, question=100) for i in range(10)]
    run = make_run(requests, prompts=prompts, counters=ServerCounters("/metrics", preemptions=12))
    told = found(run, "preempted-hits")
    assert told.text.startswith(
        "hit rate 32 % (client usage) on prompts that share nothing, with 12 preemptions"
    )
    quiet = replace(run, requests=tuple(replace(one, cached_tokens=0) for one in requests))
    assert "preempted-hits" not in codes(quiet)
    assert "12 requests retracted or preempted" in found(quiet, "retractions").text


def test_fault_70_more_hits_than_the_workload_allows() -> None:
    """96 % measured where 85 % is all there is: the maximum is named, and the run is set aside."""
    prompts = [prompt_ids(0, i, shared=85, question=15) for i in range(20)]
    requests = [
        make_request(i, send_s=float(i), prompt_tokens=100, cached=96 if i else 85) for i in range(20)
    ]
    run = make_run(requests, prompts=prompts)
    told = found(run, "cold-not-cold")
    assert told.text.startswith("measured hit rate 95 %, above the theoretical maximum 81 %")
    assert told.text.endswith("the run is set aside")
    assert "above-maximum" not in codes(run)
    assert found(run, "sources-disagree").severity == "info"
    probed = replace(run, protocol=replace(run.protocol, probe_cached_tokens=7))
    assert found(probed, "above-maximum").text.startswith(
        "measured hit rate 95 %, above the theoretical maximum"
    )


def turn(number: int, cached: int, *, prompt: int = 1000, low: int = 900, **more: int) -> TurnAccount:
    """A round of ten requests."""
    return TurnAccount(number, 10, prompt, cached, low, low, **more)


def test_fault_94_dead_branches_fill_the_pool() -> None:
    """Usage grows from turn to turn while hits don't: stripped reasoning stays behind and is never found."""
    turns = [turn(n, 300, prompt=1000 + 500 * n, low=300) for n in range(5)]
    (told,) = dead_branches(turns, [0.2, 0.3, 0.4, 0.5, 0.6])
    assert told.text.startswith("usage grew from 20 % of the pool in round 1 to 60 % in round 5")
    assert not list(dead_branches(turns, [0.2] * 5))
    growing = [turn(n, 300 + 500 * n, prompt=1000 + 500 * n) for n in range(5)]
    assert not list(dead_branches(growing, [0.2, 0.3, 0.4, 0.5, 0.6]))


def test_fault_97_a_cache_that_crosses_adapters_is_wrong() -> None:
    """The same prompt under two adapters: what the first put there the second must not find."""
    prompt = prompt_ids(0, 0, shared=100, question=28)
    requests = [
        make_request(i, send_s=float(i), prompt_tokens=128, cached=cached, output_ids=None)
        for i, cached in enumerate((0, 127, 127, 0))
    ]
    run = make_run(requests, prompts=[prompt] * 4)
    adapters = {0: "poet", 1: "poet", 2: "lawyer", 3: "lawyer"}
    assert [(one.prompt, one.cached, one.own) for one in crossings(run, adapters)] == [(2, 127, 0)]
    (told,) = crossing_findings(run, adapters)
    assert told.text.startswith("WRONG: cache crossed adapters: 1 request (2)")
    assert not crossings(run, dict.fromkeys(range(4), "poet"))
    unlike = [prompt_ids(0, i, shared=0, question=128) for i in range(4)]
    assert not crossings(make_run(requests, prompts=unlike), adapters), "hits that no adapter can explain"


def test_fault_107_percentiles_of_nothing() -> None:
    """Zero successes: no figure, no NaN, no traceback; in the summary, the findings and the document."""
    for requests in ([], [failed_request(0)], [make_request(0, output=0)]):
        run = make_run(requests, requested=1)
        for one in summarise(run).figures.values():
            assert one.value is None or math.isfinite(one.value)
            assert (one.value is None) == (one.reason is not None)
        assert "incomplete" in codes(run)
        capture = make_capture([run])
        assert single_caveats(capture)
        text = str(to_document(compare(capture, capture)))
        assert "nan" not in text.split()
        assert "inf" not in text.split()


def test_fault_112_json_that_never_ends() -> None:
    """More than 20 % of the JSON answers end by length: a warning, without their text; others aren't JSON."""
    requests = [
        make_request(i, json_like=True, finish_reason="length" if i < 3 else "stop") for i in range(10)
    ]
    assert found(make_run(requests), "unfinished-json").text.startswith(
        "3 of 10 JSON answers (30 %) end by length"
    )
    for other in (False, None):
        prose = [replace(one, json_like=other) for one in requests]
        assert "unfinished-json" not in codes(make_run(prose))


def test_fault_113_whitespace_up_to_the_limit() -> None:
    """An answer of more than 90 % whitespace is flagged with its request."""
    requests = [
        make_request(i, content_chars=100, reasoning_chars=0, blank_chars=95 if i == 3 else 20)
        for i in range(5)
    ]
    assert found(make_run(requests), "blank-answers").text.startswith(
        "1 answer (3) of more than 90 % whitespace"
    )


def at_concurrency(level: int, cached: int, order: int) -> Run:
    """A run of 100 prompts of 100 tokens at one concurrency, with a pool hardly used."""
    prompts = [prompt_ids(0, i, shared=80, question=20) for i in range(20)]
    requests = [
        make_request(i, send_s=float(i), prompt_tokens=100, cached=cached if i else 0) for i in range(20)
    ]
    log = LogTotals("sglang", 20, 20, peak_token_usage=0.1 * level)
    cell = {"shared_tokens": 80, "max_concurrency": level}
    return make_run(requests, cell=cell, order=order, prompts=prompts, log=log)


def test_fault_115_a_hit_rate_that_falls_with_concurrency() -> None:
    """75 % at 1, 7 % at 4, with less than half of the pool in use: both levels and the peak usage are told."""
    capture = make_capture([at_concurrency(1, 79, 0), at_concurrency(4, 7, 1)])
    told = found_in_capture(capture, "fell-with-concurrency")
    assert "the hit rate fell with concurrency: 75 % at 1, 6.7 % at 4" in told.text
    assert "peak usage of the pool 40 %" in told.text
    assert told.place == "80 shared tokens"
    ((found_levels),) = levels(capture, [summarise(run) for run in capture.runs]).values()
    assert [(one.concurrency, one.peak_usage) for one in found_levels] == [(1, 0.1), (4, 0.4)]
    steady = make_capture([at_concurrency(1, 79, 0), at_concurrency(4, 75, 1)])
    assert "fell-with-concurrency" not in {caveat.code for caveat in single_caveats(steady)}
    rising = make_capture([at_concurrency(1, 7, 0), at_concurrency(4, 79, 1)])
    assert "fell-with-concurrency" not in {caveat.code for caveat in single_caveats(rising)}


def test_fault_116_a_round_that_drops_is_named() -> None:
    """Hits rise to 80 % over the rounds and then drop by more than 10 points: flagged with the round."""
    rising = [turn(n, cached) for n, cached in enumerate((0, 400, 600, 800, 790, 650, 300))]
    (told,) = dropped(rising)
    assert told.text.startswith("the hit rate fell from 80 % in round 4 to 65 % in round 6")
    assert not list(dropped(rising[:5]))
    expected = [turn(0, 800, low=800), turn(1, 300, low=300)]
    assert not list(dropped(expected))


def test_fault_118_the_state_pool_is_full_first() -> None:
    """A hybrid model: states used to 1.00 while tokens stand at 0.14; below 0.99 nothing is said."""
    full = LogTotals("sglang", 3, 9, peak_token_usage=0.14, peak_state_usage=1.0)
    told = found(make_run([make_request(0)], log=full), "state-pool-full")
    assert "usage 1.00 while the KV pool was never used above 0.14" in told.text
    half = replace(full, peak_state_usage=0.5)
    assert "state-pool-full" not in codes(make_run([make_request(0)], log=half))
