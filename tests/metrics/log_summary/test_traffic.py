"""Lines that are no users' traffic, stand twice, or share nothing but their first token."""

from __future__ import annotations

import pytest

from radixbench.logs.record import LogRecord
from tests.metrics.log_summary.records import arguments, codes, decode, event, note, prefill, summarise


def test_probes_are_told_from_a_twentieth_of_the_lines() -> None:
    """One-token prompts on an idle server: named with their share of lines and tokens, but only if it matters."""
    traffic = [prefill(1000, 500, at=n, running_req=2) for n in range(19)]
    assert "probe-lines" in codes(summarise([*traffic, prefill(1, at=20)]))
    told = note(summarise([*traffic, prefill(1, at=20)]), "probe-lines")
    assert "1 prefill line of 20 (5.0 %)" in told
    assert "probe-lines" not in codes(summarise([*traffic, *traffic, prefill(1, at=20)]))


@pytest.mark.parametrize(
    "line",
    [prefill(1, 4160), prefill(1, running_req=1), prefill(1, queue_req=1), prefill(1, new_seq=2), prefill(11), prefill(1, pending_token=9)],
)  # fmt: skip
def test_real_prompts_are_no_probes(line: LogRecord) -> None:
    """A repeated prompt computes one token too; a probe has no history, no company and no queue."""
    assert "probe-lines" not in codes(summarise([line] * 5))


def test_probes_of_a_server_that_rounds() -> None:
    """With pages of 64 a one-token prompt is printed as 64."""
    log = [arguments(page_size=64), *(prefill(64, at=30 * n) for n in range(4)), prefill(640, 6400, at=200)]
    told = note(summarise(log), "probe-lines")
    assert "4 prefill lines of 5" in told
    assert "at most 64 tokens" in told


def _pair(at: float, new: int, cached: int, usage: float) -> list[LogRecord]:
    return [
        prefill(new, cached, at=at, token_usage=usage, running_req=1, input_throughput=rate)
        for rate in (0.14, 9610.84)
    ]


def test_lines_that_stand_twice() -> None:
    """Equal but for the throughput (sgl-project/sglang#18570): the hit rate with and without, and no line dropped."""
    log = [
        *_pair(0, 300, 100, 0.1),
        *_pair(1, 100, 300, 0.2),
        prefill(599, 1, at=2, running_req=3, input_throughput=1.0),
    ]
    summary = summarise(log)
    assert summary.prefill.batches == 5
    told = note(summary, "duplicate-prefill-lines")
    assert "2 pairs" in told
    assert "is 42.2 % with all lines, 28.6 % with one of each pair" not in told
    assert f"{100 * 801 / 2200:.1f} % with all lines, {100 * 401 / 1400:.1f} % with one of each pair" in told


def test_few_or_explained_twins_are_no_defect() -> None:
    """A chance pair among many lines, lines of later versions, and full chunks are alike for other reasons."""
    many = [prefill(n + 20, at=n, running_req=1, input_throughput=float(n)) for n in range(20)]
    assert "duplicate-prefill-lines" not in codes(summarise([*many, *_pair(50, 300, 100, 0.1)]))
    later = [line._replace(values={**line.values, "pending_token": 0}) for line in _pair(0, 300, 100, 0.1)]
    assert "duplicate-prefill-lines" not in codes(summarise(later))
    assert "duplicate-prefill-lines" not in codes(
        summarise([*_pair(0, 2048, 0, 0.1), *_pair(1, 2048, 0, 0.1)])
    )


def test_a_workload_that_repeats_itself_is_no_defect() -> None:
    """Equal prompts print equal lines: three in a row, hardly a new token, or the same pair again and again prove nothing."""
    more = prefill(300, 100, token_usage=0.1, running_req=1, input_throughput=5.0)
    assert "duplicate-prefill-lines" not in codes(summarise([*_pair(0, 300, 100, 0.1), more]))
    repeats = [line for n in range(8) for line in _pair(n / 2, 1, 999, n / 10)]
    assert "duplicate-prefill-lines" not in codes(summarise(repeats))
    again = [*_pair(0, 300, 100, 0.1), prefill(599, 1, at=1), *_pair(2, 300, 100, 0.1)]
    assert note(summarise(again), "duplicate-prefill-lines").startswith("1 pair ")


def test_only_the_first_token_is_shared() -> None:
    """As many cached tokens as prompts, line after line (sgl-project/sglang#13023)."""
    log = [prefill(4096, 11, at=n, new_seq=11) for n in range(4)] + [prefill(4096, 32, at=5, new_seq=18)]
    assert "4 of 5 prefill lines" in note(summarise(log), "only-first-token-shared")
    assert "only-first-token-shared" not in codes(
        summarise([prefill(4096, 500, at=n, new_seq=11) for n in range(4)])
    )


def test_nothing_reused_is_told_with_what_may_be_why() -> None:
    """A hit rate of 0 over ten prompts or more names the possible reasons, unless the settings are the reason."""
    log = [prefill(100 + n, at=n) for n in range(12)] + [decode(at=12)]
    assert "which this log doesn't state" in note(summarise(log), "nothing-reused")
    stated = summarise([arguments(disable_radix_cache=False), *log])
    assert "doesn't state" not in note(stated, "nothing-reused")
    off = summarise([arguments(disable_radix_cache=True), *log])
    assert "nothing-reused" not in codes(off)
    assert "disable_radix_cache=True" in note(off, "cache-disabled")
    assert "nothing-reused" not in codes(summarise(log[:5]))


def test_a_warm_up_of_hardly_any_tokens_is_not_told() -> None:
    """Below a hundredth of the prompt tokens it changes no figure that a reader sees."""
    first = [arguments(page_size=1), prefill(9), event("ready", at=1)]
    assert "warm-up" in codes(summarise([*first, prefill(890, at=2)]))
    assert "warm-up" not in codes(summarise([*first, prefill(900, at=2)]))
