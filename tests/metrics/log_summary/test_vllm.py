"""vLLM's periodic lines: rates over intervals, a hit rate of its own window, no cached tokens."""

from __future__ import annotations

import pytest

from radixbench.logs.record import Rank
from tests.metrics.log_summary.records import codes, event, note, stats, summarise, vllm

VERSION = {"0.13.0": "input", "0.16.0": "computed"}


def _version(text: str) -> object:
    return event("version", dialect="vllm", extra={"version": text})


def test_cached_tokens_are_unknown() -> None:
    """Never 0: the lines print none."""
    found = summarise([stats(100.0, 50.0)]).prefill
    assert (found.cached_tokens, found.new_tokens, found.hit_rate) == (None, None, None)
    assert "print no cached tokens" in (found.reason or "")


def test_output_is_rates_times_intervals() -> None:
    """Lines ten seconds apart at 100 and 300 token/s: 200; an idle line in between is no time at work."""
    log = [stats(0.0, rate, at=10 * n) for n, rate in enumerate((100.0, 300.0, 0.0, 0.0, 100.0, 300.0))]
    summary = summarise(log)
    assert summary.throughput.output == pytest.approx(200.0)
    assert summary.throughput.busy_s == 40.0
    assert summary.decode.idle_lines == 2


def test_a_gap_is_no_longer_interval() -> None:
    """After an hour of silence a line still covers ten seconds."""
    log = [stats(0.0, 100.0, at=at) for at in (0, 10, 20, 3620, 3630)]
    summary = summarise(log)
    assert (summary.throughput.busy_s, summary.throughput.output) == (50.0, pytest.approx(100.0))


def test_short_bursts_have_short_intervals() -> None:
    """Two lines every five minutes: the interval is the ten seconds between the two, not the silence."""
    log = [stats(0.0, 100.0, at=300 * n + second) for n in range(6) for second in (0, 10)]
    assert summarise(log).throughput.busy_s == 120.0


def test_an_interval_of_nearly_nothing_weighs_nearly_nothing() -> None:
    """A rate over an instant (31,393.7 token/s for 9 requests) hardly counts."""
    log = [stats(0.0, 100.0, at=10 * n) for n in range(5)] + [stats(0.0, 31_393.7, at=40)]
    assert summarise(log).throughput.output == pytest.approx(100.0)


def test_lines_without_times_stand_for_equal_intervals() -> None:
    """The basis says so."""
    found = summarise([stats(0.0, 100.0, at=None), stats(0.0, 300.0, at=None)]).throughput
    assert (found.output, found.busy_s) == (pytest.approx(200.0), None)
    assert "equal intervals" in (found.basis or "")


def test_engines_add_up_and_aggregates_do_not() -> None:
    """Two engines of 100 token/s are 200; the line over both is not added to them."""
    log = []
    for n in range(4):
        log += [
            stats(0.0, 100.0, at=10 * n, engine=engine, prefix_hit_pct=10.0 + engine) for engine in (0, 1)
        ]
        log.append(stats(0.0, 200.0, at=10 * n, engine=None, extra={"aggregated": 2}))
    summary = summarise(log)
    assert summary.throughput.output == pytest.approx(200.0)
    assert [rank.rank for rank in summary.ranks] == ["engine 0", "engine 1"]
    assert [window.what.rpartition(", ")[2] for window in summary.server_windows] == ["engine 0", "engine 1"]
    assert "not added" in note(summary, "aggregated-lines")


def test_engines_that_take_turns_do_not_add_up() -> None:
    """One engine at 100 token/s, then the other: 100 over the time of both; without times their paces are added."""
    log = [stats(50.0, 100.0, at=10 * n, engine=n // 10) for n in range(20)]
    found = summarise(log).throughput
    assert (found.output, found.busy_s) == (pytest.approx(100.0), 200.0)
    assert "(50.0 token/s over the same time)" in (found.reason or "")
    assert "share of the 200.0 s in which any was at work" in (found.basis or "")
    timeless = summarise([record._replace(at_s=None) for record in log]).throughput
    assert (timeless.output, timeless.busy_s) == (pytest.approx(200.0), None)
    assert "the engines' paces added" in (timeless.basis or "")


def test_aggregates_alone_are_all_there_is() -> None:
    """Where no engine prints lines of its own the lines over all engines have the figures."""
    summary = summarise(
        [stats(0.0, 200.0, at=10 * n, engine=None, extra={"aggregated": 2}) for n in range(3)]
    )
    assert summary.throughput.output == pytest.approx(200.0)
    assert "the only ones with figures" in note(summary, "aggregated-lines")


def test_fault_71_the_servers_rate_is_a_window_of_its_own() -> None:
    """Shown apart: last, lowest and highest; an idle line repeats the last one and is no news."""
    log = [stats(9.0, 50.0, at=10 * n, prefix_hit_pct=pct) for n, pct in enumerate((20.0, 60.0, 40.0))]
    log.append(stats(at=30, prefix_hit_pct=99.0))
    summary = summarise(log, 10.0)
    (window,) = summary.server_windows
    assert (window.last, window.low, window.high) == (0.4, 0.2, 0.6)
    assert summary.prefill.hit_rate is None
    assert "server-window" in codes(summary)
    assert [row.server_hit_rate for row in summary.windows] == [0.2, 0.6, 0.4, None]


def test_fault_83_hits_under_the_cpus_label() -> None:
    """On V0's CPU backend GPU 0 % and CPU 90 % means 90 %."""
    log = [
        stats(13.7, 13.5, engine=None),
        vllm("prefix_cache", prefix_hit_gpu_pct=0.0, prefix_hit_cpu_pct=90.0),
    ]
    (window,) = summarise(log).server_windows
    assert window.last == 0.9
    assert "CPU" in window.what


def test_fault_83_prompts_shorter_than_a_block() -> None:
    """A rate that never rises above 0 has a hint at blocks."""
    summary = summarise([stats(9.0, 50.0, at=10 * n, prefix_hit_pct=0.0) for n in range(3)])
    assert "shorter than one block" in note(summary, "never-hit")
    assert "never-hit" not in codes(
        summarise([stats(9.0, 50.0, at=10 * n, prefix_hit_pct=1.0) for n in range(3)])
    )


@pytest.mark.parametrize("version", ["0.13.0", "0.16.0"])
def test_prompt_throughput_by_version(version: str) -> None:
    """Up to 0.13 it counts cached tokens (input), from 0.16 it doesn't (computed)."""
    found = summarise([_version(version), *(stats(80.0, 50.0, at=10 * n) for n in range(3))])
    figures = {"input": found.throughput.input, "computed": found.throughput.computed}
    assert figures.pop(VERSION[version]) == pytest.approx(80.0)
    assert list(figures.values()) == [None]


@pytest.mark.parametrize("first", [[], ["0.14.1"]])
def test_prompt_throughput_of_an_unknown_version(first: list[str]) -> None:
    """Without a version, or between the two, it is neither; the reason gives the number and why."""
    found = summarise([*map(_version, first), *(stats(80.0, 50.0, at=10 * n) for n in range(3))])
    assert (found.throughput.input, found.throughput.computed) == (None, None)
    assert "80.0 token/s" in (found.throughput.reason or "")
    assert "prompt-throughput-meaning" in codes(found)


def test_fault_68_preempted_requests_count_as_hits() -> None:
    """Preemptions, or a full cache, warn of an inflated rate; a version that mended it doesn't."""
    full = [stats(9.0, 50.0, at=10 * n, prefix_hit_pct=32.2, gpu_kv_usage_pct=99.5) for n in range(3)]
    assert "99.5 % full" in note(summarise(full), "preemption-inflates")
    counted = [stats(9.0, 50.0, prefix_hit_pct=32.2, extra={"preemptions": 4})]
    assert "4 preemptions" in note(summarise(counted), "preemption-inflates")
    assert "preemption-inflates" not in codes(summarise([_version("0.12.0"), *full]))
    assert "preemption-inflates" not in codes(summarise([stats(9.0, 50.0, prefix_hit_pct=32.2)]))


def test_cut_lines_are_counted_not_summed() -> None:
    """A line without rates has no figures."""
    summary = summarise(
        [stats(9.0, 50.0), stats(0.0, 0.0, at=10, gen_throughput=..., running_req=..., truncated=True)]
    )
    assert summary.throughput.output == pytest.approx(50.0)
    assert "1 line is cut" in note(summary, "truncated-lines")


def test_speculation_weighs_drafts() -> None:
    """V1 prints each interval, V0 counts since its start so that only its last line holds."""
    v1 = [
        stats(0.0, 50.0), vllm("spec", accepted_tokens=90, drafted_tokens=100, draft_acceptance_pct=90.0, mean_acceptance_len=4.0),
        vllm("spec", accepted_tokens=150, drafted_tokens=300, draft_acceptance_pct=50.0, mean_acceptance_len=2.0),
    ]  # fmt: skip
    found = summarise(v1).decode
    assert (found.accept_rate, found.accept_len) == (pytest.approx(0.6), pytest.approx(2.5))
    v0 = [
        stats(0.0, 50.0),
        *(
            vllm("spec", drafted_tokens=n, emitted_tokens=n, draft_acceptance_pct=pct)
            for n, pct in ((10, 10.0), (20, 64.2))
        ),
    ]
    assert summarise(v0).decode.accept_rate == pytest.approx(0.642)


def test_pressure_of_all_engines() -> None:
    """Queue and pool as printed, the CPU's pool only if it holds anything."""
    log = [
        stats(9.0, 50.0, gpu_kv_usage_pct=82.0, cpu_kv_usage_pct=0.0, queue_req=6),
        stats(9.0, 50.0, at=10, queue_req=0, cpu_kv_usage_pct=0.0),
    ]
    found = summarise(log).pressure
    assert found.pools == {"gpu": 0.82}
    assert (found.queue_mean, found.queue_max, found.queued_share) == (3.0, 6, 0.5)


def test_swapped_blocks_have_a_pool_of_their_own() -> None:
    """V0 swaps to the CPU; on a CPU backend the CPU's pool is the KV cache."""
    swapped = summarise([stats(9.0, 50.0, cpu_kv_usage_pct=12.0)]).pressure
    assert swapped.pools == {"gpu": 0.05, "cpu": 0.12}
    alone = summarise([stats(9.0, 50.0, gpu_kv_usage_pct=..., cpu_kv_usage_pct=98.0)]).pressure
    assert (alone.pools, alone.full_share) == ({"cpu": 0.98}, 1.0)


def test_cache_off_by_its_settings() -> None:
    """enable_prefix_caching=False is told."""
    log = [
        event("engine_config", dialect="vllm", extra={"version": "0.6.3", "enable_prefix_caching": False}),
        stats(9.0, 50.0, engine=None),
    ]
    summary = summarise(log)
    assert "enable_prefix_caching=False" in note(summary, "cache-disabled")
    assert summary.server == {"version": "0.6.3", "enable_prefix_caching": False}


def test_several_servers_of_vllm() -> None:
    """Two pods are two rows."""
    log = [stats(9.0, 50.0, at=at)._replace(rank=Rank(pod)) for at in (0, 10) for pod in ("a", "b")]
    summary = summarise(log)
    assert [rank.rank for rank in summary.ranks] == ["a", "b"]
    assert "several-sources" in codes(summary)


def test_notes_speak_of_the_engine_that_wrote_the_log() -> None:
    """V0 counts since its start, V1 the last thousand requests; a log that has the start holds the first of them."""
    v0 = [
        stats(9.0, 50.0, engine=None),
        vllm("prefix_cache", prefix_hit_gpu_pct=12.34, prefix_hit_cpu_pct=0.0),
    ]
    told = summarise(v0)
    assert "since the server's start" in note(told, "server-window")
    assert "1000" not in note(told, "server-window")
    assert "the engine V0 counts all prompt tokens" in note(told, "prompt-throughput-meaning")
    v1 = [stats(9.0, 50.0, prefix_hit_pct=20.0)]
    later = note(summarise(v1), "server-window")
    assert "last 1000 requests" in later
    assert "V0" not in later
    assert "until its 1000th request" not in later
    assert "until its 1000th request" in note(summarise([_version("0.11.0"), *v1]), "server-window")
