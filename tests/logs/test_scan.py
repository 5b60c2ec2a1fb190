"""All dialects together: every line is counted once, and says the same whatever stands around it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.logs.line import format_step
from radixbench.logs.record import LogRecord
from radixbench.logs.scan import LogScan
from radixbench.logs.timeline import Timeline
from radixbench.records import StepRecord
from tests.logs.vocabulary import samples

PREFILL = (
    "[2026-10-01 12:00:00 TP0] Prefill batch, #new-seq: 2, #new-token: {new}, #cached-token: 4096, token usage: 0.10, "
    "#running-req: 3, #queue-req: 5, #pending-token: 900, cuda graph: False, input throughput (token/s): 123.45"
)
DECODE = (
    "[2026-10-01 12:00:01 TP0] Decode batch, #running-req: {running}, #token: 600, token usage: 0.01, cuda graph: True, "
    "gen throughput (token/s): 120.50, #queue-req: 0"
)
LINES = [
    *(
        line
        for name in ("sglang", "vllm", "llamacpp")
        for one in samples(name)
        for line in one["line"].split("\n")
    ),
    PREFILL.format(new=12),
    DECODE.format(running=7),
    PREFILL.format(new=12)[:120],
    '[2026-10-01 12:00:00] INFO:     127.0.0.1:34567 - "POST /v1/completions HTTP/1.1" 200 OK',
    "[23:59:59 TP0] Decode batch. #running-req: 1, #token: 60, token usage: 0.00, gen throughput (token/s): 80.00, #queue-req: 0",
    "[00:00:01 TP0] Decode batch. #running-req: 1, #token: 60, token usage: 0.00, gen throughput (token/s): 80.00, #queue-req: 0",
    "",
]


def scan(lines: list[str], block: int = 1000) -> tuple[list[LogRecord], Counter[str]]:
    """The records and the kinds of a log that is read in blocks of so many lines."""
    one = LogScan(Timeline())
    records = [record for at in range(0, len(lines), block) for record in one.feed(lines[at : at + block])]
    records += one.finish()
    assert sum(one.counts.by_kind.values()) == one.counts.read == len(lines)
    return records, +one.counts.by_kind


def bulk(lines: list[str]) -> list[LogRecord]:
    """The records by way of columns, in the order of their lines."""
    one = LogScan(Timeline())
    records: list[LogRecord] = []
    for item in one.feed_bulk(lines):
        records += [item] if isinstance(item, LogRecord) else [r for rows in item for r in rows.records()]
    return sorted([*records, *one.finish()], key=lambda record: record.line_no)


@given(st.lists(st.sampled_from(LINES), max_size=30), st.integers(1, 7))
def test_blocks_change_nothing(lines: list[str], block: int) -> None:
    """Records and counts of a log don't depend on where its blocks end."""
    whole, kinds = scan(lines)
    parts, their_kinds = scan(lines, block)
    assert sorted(map(repr, parts)) == sorted(map(repr, whole))
    assert their_kinds == kinds


@given(st.lists(st.sampled_from(LINES), max_size=30))
def test_bulk_says_what_records_say(lines: list[str]) -> None:
    """Columns are another form of the same records, moments included."""
    assert sorted(map(repr, bulk(lines))) == sorted(map(repr, scan(lines)[0]))


@given(st.lists(st.one_of(st.sampled_from(LINES), st.text(max_size=60)), max_size=20))
def test_every_line_is_counted_once(lines: list[str]) -> None:
    """Whatever stands in a log, the kinds add up to the lines read."""
    scan([line.replace("\n", " ") for line in lines])


def test_a_cut_line_after_good_ones_disturbs_neither() -> None:
    """The statement that waits for its rest doesn't take the lines before it along."""
    lines = [PREFILL.format(new=n) for n in range(10)]
    lines += [PREFILL.format(new=5)[:130], DECODE.format(running=3), PREFILL.format(new=11)]
    records, kinds = scan(lines)
    assert kinds == {"prefill": 12, "decode": 1}
    assert [record.line_no for record in records] == list(range(1, 14))


def test_digits_of_other_scripts_are_no_numbers() -> None:
    """A known shape with one Arabic digit is read piece by piece and is damaged there."""
    lines = [DECODE.format(running=n) for n in range(1, 40)]
    lines.append(DECODE.format(running="٣"))
    *_, odd = scan(lines)[0]
    assert odd.values["truncated"] is True
    assert "running_req" not in odd.values


def test_undated_lines_are_placed_in_their_order() -> None:
    """Prefill and decode lines over two midnights: each moment follows the one before."""
    clock = [f"{hour % 24:02}:30:00" for hour in range(20, 70, 5)]
    lines = [
        f"[{stamp} TP0] " + (DECODE.format(running=1) if i % 2 else PREFILL.format(new=1)).partition("] ")[2]
        for i, stamp in enumerate(clock)
    ]
    moments = [record.at_s or 0.0 for record in bulk(lines)]
    assert [later - earlier for earlier, later in pairwise(moments)] == [5 * 3600.0] * 9


def test_two_of_our_steps_on_one_line_keep_their_own_integers() -> None:
    """Each statement brings its own exact record."""

    def step(number: int) -> str:
        counts: dict[str, Any] = {
            "new_seq": 0, "new_tokens": 1, "cached_tokens": 0, "running_req": 1, "queue_req": 0, "pending_tokens": 0,
            "held_tokens": 9, "used_slots": 9, "pool_slots": 64,
        }  # fmt: skip
        record = StepRecord(
            phase="decode", step=number, start_ns=number, end_ns=number + 1, host_ns=0, **counts
        )
        return "[2026-10-01 12:00:00] " + format_step(record, throughput=1.0)

    records, _ = scan([step(1) + step(2)])
    assert [record.exact.step for record in records if isinstance(record.exact, StepRecord)] == [1, 2]


def test_a_line_of_two_servers_reads_the_same_alone() -> None:
    """Another dialect's words on a line that speaks of a batch are found whatever its neighbours are."""
    glued = (
        "Prefill rank batch went wrong INFO 09-04 14:11:27 [loggers.py:123] Engine 000: Avg prompt throughput: 0.0 tokens/s, "
        "Avg generation throughput: 247.5 tokens/s, Running: 11 reqs, Waiting: 0 reqs, GPU KV cache usage: 4.1%"
    )
    alone = scan([glued])[1]
    assert scan([glued, samples("vllm")[0]["line"]])[1] - scan([samples("vllm")[0]["line"]])[1] == alone


def test_hisparse_pools_are_no_damage() -> None:
    """``cpu token usage`` is a label of its own, not half of two."""
    line = DECODE.format(running=1).replace(
        "#token: 600, token usage: 0.01",
        "#gpu token: 60, gpu token usage: 0.10, #cpu token: 90, cpu token usage: 0.20",
    )
    for record in scan([line, line])[0]:
        assert "truncated" not in record.values
        assert record.extra["cpu token usage"] == 0.2


@pytest.mark.timeout(30)  # a quadratic pattern takes minutes
@pytest.mark.parametrize("filling", [" ", ",", "a", "a: ", "[", "e2e-ns: 1, ", "a-"])
def test_hostile_lines_end(filling: str) -> None:
    """Half a megabyte behind a scheduler's words costs no more than reading it."""
    long = filling * (500_000 // len(filling))
    kinds = scan(
        [DECODE.format(running=1) + long, "ReqTimeStats(rid=a): e2e-ns: 1, " + long, "Prefill batch, " + long]
    )[1]
    assert kinds["decode"] == 1
