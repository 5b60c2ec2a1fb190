"""The cumulative rate of old servers, to the printed digit, and when it contradicts the counts."""

from __future__ import annotations

from radixbench.logs.record import LogRecord
from radixbench.metrics.log_summary.accumulator import LogAccumulator
from radixbench.metrics.log_summary.model import LogSummary
from radixbench.metrics.log_summary.running_rate import RunningRate
from tests.metrics.log_summary.records import (
    arguments,
    codes,
    counts_of,
    event,
    label,
    note,
    prefill,
    summarise,
)

FIXTURE = (
    (2062, 0, 0.00), (8192, 291, 2.76), (8192, 2753, 14.16), (8192, 897, 12.89), (8192, 523, 11.36), (8192, 632, 10.59), (8192, 1832, 11.92),
)  # fmt: skip
"""Consecutive lines of sgl-project/sglang#1612: new, cached, printed rate in percent."""


def _lines(rates: tuple[tuple[int, int, float], ...], start: int = 0) -> list[LogRecord]:
    return [
        prefill(new, cached, at=start + n, cache_hit_rate_pct=rate)
        for n, (new, cached, rate) in enumerate(rates)
    ]


def test_reproduces_the_printed_sequence() -> None:
    """Each printed value of a real log is our running sum over the lines so far."""
    rate = RunningRate()
    rate.add(0, 0, 0.00)
    assert rate.percent is None
    for new, cached, printed in FIXTURE:
        rate.add(new, cached, printed)
        assert rate.percent == printed
    assert (rate.differing, rate.begins_later) == (0, False)
    assert "printed-hit-rate-differs" not in codes(summarise(_lines(FIXTURE)))


def test_a_contradiction_is_told_with_both_numbers() -> None:
    """Once both count from the same moment, a printed rate that isn't the sum is wrong."""
    wrong = (*FIXTURE, (8192, 8192, 3.00))
    told = note(summarise(_lines(wrong)), "printed-hit-rate-differs")
    assert "1 of 7 lines" in told
    assert "3.00 %" in told
    assert "20.29 %" in told


def test_a_rate_of_zero_beside_cached_tokens() -> None:
    """0.00 % in lines with cached tokens (sgl-project/sglang#2255): hedged, for the server may have counted long before the log."""
    lines = ((2048, 921, 0.00), (2048, 833, 0.00))
    told = note(summarise(_lines(lines)), "printed-hit-rate-differs")
    assert "0.00 % in 2 lines" in told
    assert "or the printed rate is wrong" in told


def test_a_log_that_begins_later_is_no_contradiction() -> None:
    """The rate of a server that has served for long differs from that of the log, and rightly so."""
    lines = ((3997, 3361, 54.26), (4000, 3000, 54.20))
    assert "no contradiction" in note(summarise(_lines(lines)), "printed-hit-rate-differs")


def test_a_first_line_without_a_hit_proves_nothing() -> None:
    """0.00 % on both sides may be chance: a later difference is no contradiction then."""
    lines = ((4000, 0, 0.00), (4000, 4000, 0.40))
    assert "no contradiction" in note(summarise(_lines(lines)), "printed-hit-rate-differs")


def test_a_flush_begins_anew() -> None:
    """After a flush the server's count and ours start at 0 together."""
    log = [*_lines(FIXTURE), event("flush", at=20), *_lines(((100, 0, 0.00), (50, 50, 25.00)), 30)]
    assert "printed-hit-rate-differs" not in codes(summarise(log))
    log += _lines(((100, 0, 30.00),), 40)
    assert "30.00 %" in note(summarise(log), "printed-hit-rate-differs")


def test_two_flushes_by_one_rank_are_two() -> None:
    """However close together: the server's count begins anew at each."""
    first = _lines(((100, 0, 0.00), (50, 50, 25.00)), 21)
    log = [event("flush", at=20), *first, event("flush", at=23), *_lines(((50, 50, 50.00),), 24)]
    summary = summarise(log)
    assert "printed-hit-rate-differs" not in codes(summary)
    assert "flushed twice" in note(summary, "flushed")


def test_a_cut_line_leaves_nothing_to_check_until_the_next_flush() -> None:
    """The server counted its tokens, our sum doesn't."""
    cut = prefill(..., ..., at=10, truncated=True)
    log = [*_lines(FIXTURE), cut, *_lines(((100, 0, 30.00),), 11)]
    assert "printed-hit-rate-differs" not in codes(summarise(log))
    log += [event("flush", at=20), *_lines(((100, 0, 30.00),), 21)]
    assert "in 1 of" in note(summarise(log), "printed-hit-rate-differs")


def _part(records: list[LogRecord]) -> LogSummary:
    """The summary of a log's part."""
    accumulator = LogAccumulator(from_start=False)
    for record in records:
        accumulator.add(record)
    return accumulator.summary(file="server.log", lines=counts_of(records), label=label)


def test_a_part_of_a_log_is_no_contradiction() -> None:
    """The server counts more than the part, even where its first rates happen to agree; a start before the part proves nothing either."""
    lines = _lines(((500, 19_500, 97.50), (1200, 76_000, 80.11)), 10)
    for before in ([], [arguments(at=None)], [arguments(at=None), event("ready", at=None)]):
        summary = _part([*before, *lines, *_lines(((100, 100, 0.00),), 20)])
        assert "printed-hit-rate-differs" not in codes(summary)
        assert summary.events == ()


def test_a_start_or_flush_within_the_part_is_checked_from() -> None:
    """From there on both count the same."""
    for begin in (event("flush", at=1), arguments(at=1)):
        lines = [*_lines(((500, 19_500, 46.42),)), begin, *_lines(((100, 0, 30.00),), 2)]
        assert "30.00 %" in note(_part(lines), "printed-hit-rate-differs")
