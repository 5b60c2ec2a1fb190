"""A hit rate that fell, with time or with concurrency."""

from __future__ import annotations

from radixbench.logs.record import LogRecord
from radixbench.metrics.log_summary.trends import fall_over_time
from tests.metrics.log_summary.records import codes, event, note, prefill, summarise


def _round(number: int, hit_percent: int, *, running: int = 4) -> list[LogRecord]:
    return [
        prefill(1000 - 10 * hit_percent, 10 * hit_percent, at=60 * number + n, running_req=running)
        for n in range(4)
    ]


def test_fault_116_the_rate_drops_in_the_last_rounds() -> None:
    """It rises to 0.8 over the rounds and drops at the end: told with both rates as sums and their times."""
    log = [
        line
        for number, rate in enumerate((20, 40, 60, 80, 80, 80, 80, 55, 50))
        for line in _round(number, rate)
    ]
    told = note(summarise(log, 60.0), "hit-rate-fell")
    assert "80.0 % = 12,800 / 16,000 in the windows from +180s to +360s" in told
    assert "52.5 % = 4,200 / 8,000 from +420s to the end." in told


def test_one_odd_round_is_no_fall() -> None:
    """A dip that recovers, a fall of less than ten points, and a rate that rises are none."""
    for rates in ((80, 80, 80, 30, 80, 80), (80, 80, 80, 75, 72, 72), (20, 40, 60, 80)):
        log = [line for number, rate in enumerate(rates) for line in _round(number, rate)]
        assert "hit-rate-fell" not in codes(summarise(log, 60.0))


def test_a_flush_explains_a_fall() -> None:
    """The note says that the cache was flushed in between."""
    log = [line for number in range(4) for line in _round(number, 80)]
    log += [event("flush", at=240), *(line for number in range(5, 8) for line in _round(number, 10))]
    assert note(summarise(log, 60.0), "hit-rate-fell").endswith("to the end; in between: 1 flush.")
    log.append(event("retract", at=460, retracted_reqs=1))
    assert note(summarise(log, 60.0), "hit-rate-fell").endswith(
        "in between: 1 flush; after that: 1 retraction."
    )


def test_too_few_lines_are_no_trend() -> None:
    """Four lines say nothing about a trend."""
    assert "hit-rate-fell" not in codes(
        summarise(
            [
                prefill(100, 900),
                prefill(100, 900, at=60),
                prefill(900, 100, at=120),
                prefill(900, 100, at=180),
            ],
            60.0,
        )
    )
    assert fall_over_time(()) is None


def test_fault_115_the_rate_falls_with_concurrency() -> None:
    """75 % with one request at work, 7 % with five, while the pool is under 40 %: by level, and a note."""
    log = [prefill(250, 750, at=2 * n, token_usage=0.2) for n in range(10)]
    log += [prefill(930, 70, at=2 * n + 1, running_req=4, token_usage=0.4) for n in range(10)]
    summary = summarise(log)
    assert [(level.below, level.hit_rate) for level in summary.concurrency] == [(2, 0.75), (8, 0.07)]
    told = note(summary, "fell-with-concurrency")
    assert "75.0 % with fewer than 2 requests" in told
    assert "above 0.40" in told


def test_a_full_pool_explains_it_otherwise() -> None:
    """Where the pool was full the cause is room, not concurrency; nor is a cold start one."""
    full = [prefill(250, 750, at=2 * n) for n in range(10)]
    full += [prefill(930, 70, at=2 * n + 1, running_req=4, token_usage=0.95) for n in range(10)]
    assert "fell-with-concurrency" not in codes(summarise(full))
    cold = [prefill(1000), *(prefill(250, 750, at=n, running_req=4) for n in range(1, 20))]
    assert "fell-with-concurrency" not in codes(summarise(cold))
