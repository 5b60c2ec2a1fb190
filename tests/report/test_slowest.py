"""The slowest requests, each with its own time per token."""

from __future__ import annotations

from dataclasses import replace

from radixbench.report.slowest import slowest_section
from tests.builders import failed_request, gpu_samples, make_capture, make_request, make_run
from tests.report.evidence import measured, side_of


def table(section):
    """The table's rows as dicts."""
    _, grid = section.grids[0]
    return [dict(zip(grid.header, row, strict=True)) for row in grid.rows]


def test_a_request_tells_its_own_pace():
    """TTFT, TPOT and E2EL of one request, with its lengths: E2EL is TTFT and a TPOT for each further token."""
    slow = make_request(3, ttft_s=0.25, gap_s=0.02, output=6, prompt_tokens=1200, cached=1024)
    runs = [make_run([make_request(0), slow], seed=2)]
    section = slowest_section([side_of(make_capture(runs), name="A")])
    assert table(section)[0] == {
        "arm": "A",
        "cell": "0 shared tokens",
        "seed": "2",
        "request": "3",
        "TTFT": "250 ms",
        "TPOT": "20.0 ms",
        "E2EL": "350 ms",
        "prompt": "1,200",
        "cached": "1,024",
        "answer": "6",
    }
    assert section.says[0].text == "A: the 2 that took longest of 2 answered requests, by E2EL."


def test_the_slowest_of_each_arm_come_first():
    """Five of each arm over all its runs, in falling order of E2EL; ties stay in the order they were sent."""
    requests = [make_request(i, ttft_s=0.1 * (1 + i % 4)) for i in range(12)]
    runs = [make_run(requests), make_run([make_request(0, ttft_s=9.0)], seed=1)]
    capture = make_capture(runs)
    rows = table(slowest_section([side_of(capture, name="A"), side_of(capture, slot="b", name="B")]))
    assert [row["arm"] for row in rows] == ["A"] * 5 + ["B"] * 5
    assert [(row["seed"], row["request"]) for row in rows[:5]] == [
        ("1", "0"),
        ("0", "3"),
        ("0", "7"),
        ("0", "11"),
        ("0", "2"),
    ]


def test_what_is_unknown_is_a_dash():
    """One token has no pace, and a silent server no cached tokens; what failed has no row."""
    requests = [make_request(0, output=1, cached=None), failed_request(1)]
    (row,) = table(slowest_section([side_of(make_capture([make_run(requests)]))]))
    assert (row["TPOT"], row["cached"], row["answer"]) == ("–", "–", "1")


def test_nothing_answered_has_no_section():
    """A capture of failures only, and one without runs."""
    capture = make_capture([make_run([failed_request(0)])])
    assert slowest_section([side_of(capture), side_of(replace(capture, runs=()))]) is None
    assert len(slowest_section([side_of(one) for one in measured()]).grids[0][1].rows) == 10


def test_a_throttled_card_shows_in_the_requests_it_slowed():
    """The share of each request's own time, between its send and its end; a dash where nothing was read then."""
    requests = [make_request(0, send_s=0.0, ttft_s=0.9), make_request(1, send_s=1.0, ttft_s=0.5)]
    held = tuple(replace(one, event_reasons=0x20 if one.at_ns < 10**9 else 0) for one in gpu_samples())
    rows = table(slowest_section([side_of(make_capture([make_run(requests, gpu=held)]))]))
    assert [(row["request"], row["throttled"]) for row in rows] == [("0", "100 %"), ("1", "0 %")]
    late = (replace(held[0], at_ns=10**12),)
    without = table(slowest_section([side_of(make_capture([make_run(requests, gpu=late)]))]))
    assert "throttled" not in without[0]
