"""Lines added in bulk come to what they come to one by one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from radixbench.logs.record import LogRecord
from radixbench.logs.scan import LogScan
from radixbench.logs.timeline import Timeline
from radixbench.metrics.log_summary import accumulator as accumulators
from radixbench.metrics.log_summary.accumulator import LogAccumulator
from radixbench.metrics.log_summary.document import document

SHAPES = {
    "new": ("#pending-token: {pending}, cuda graph: False, input throughput (token/s): {rate:.2f}", "", "token usage: {usage:.2f}", "#token: {token}, token usage: {usage:.2f}"),
    "plain": ("", "", "token usage: {usage:.2f}", "#token: {token}, token usage: {usage:.2f}"),
    "twins": ("input throughput (token/s): {rate:.2f}, cuda graph: False", "", "token usage: {usage:.2f}", "#token: {token}, token usage: {usage:.2f}"),
    "hybrid": (
        "#pending-token: {pending}", "accept len: {accept:.2f}, accept rate: 0.50, ", "full token usage: {usage:.2f}, mamba usage: {side:.2f}",
        "#full token: {token}, full token usage: {usage:.2f}, mamba num: 3, mamba usage: {side:.2f}",
    ),
    "old": ("", "", "token usage: {usage:.2f}", "#token: {token}, token usage: {usage:.2f}"),
    "fork": ("#replay-token: 3", "", "token usage: {usage:.2f}", "#token: {token}, token usage: {usage:.2f}"),
}  # fmt: skip
"""For each kind of server: the end of its prefill lines, what stands before a decode rate, usage in prefill and in decode lines."""


def _lines(shape: str, seed: int, n: int, *, ranks: int, busy: bool) -> list[str]:
    """A log of ``n`` batch lines, with events and access lines among them."""
    chance = random.Random(seed)
    tail, speculation, prefill_usage, decode_usage = SHAPES[shape]
    lines = []
    at = 36_000
    for _ in range(n):
        at += chance.choice((0, 0, 0, 0, 1, 1, 2) if busy else (0, 1, 3, 12, 12, 90, -2))
        rank = "" if ranks == 1 else f" DP{chance.randrange(ranks)} TP0"
        stamp = f"[2026-10-01 {at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}{rank}]"
        values = {
            "pending": chance.choice((0, 0, 300, 9000)), "rate": chance.random() * 900, "usage": chance.random(), "side": chance.random(),
            "token": 64 * chance.randrange(1000), "accept": 1 + chance.random(),
        }  # fmt: skip
        running = chance.randrange(1, 200) if busy else chance.choice((0, 0, 1, 5))
        queue = chance.choice((0, 0, 3)) if busy else chance.choice((0, 0, 0, 1))
        if chance.random() < 0.5:
            new, cached = chance.choice((1, 64, 700, 2048, 2048, 2048)), 64 * chance.randrange(40)
            rate = "cache hit rate: 10.00%, " if shape == "old" else ""
            lines.append(
                f"{stamp} Prefill batch, #new-seq: {chance.randrange(1, 4)}, #new-token: {new}, #cached-token: {cached}, {rate}"
                f"{prefill_usage.format(**values)}, #running-req: {running}, #queue-req: {queue}, {tail.format(**values)}".rstrip(
                    ", "
                )
            )
        else:
            lines.append(
                f"{stamp} Decode batch, #running-req: {running}, {decode_usage.format(**values)}, {speculation.format(**values)}cuda graph: True, "
                f"gen throughput (token/s): {chance.choice((0.0, 5.0, 100.0, 100.0)) * max(running, 1):.2f}, #queue-req: {queue}"
            )
        if chance.random() < 0.002:
            lines.append(f"{stamp} Cache flushed successfully!")
        if chance.random() < 0.3:
            lines.append(f'{stamp} INFO:     127.0.0.1:1 - "POST /v1/completions HTTP/1.1" 200 OK')
    return lines


def _summary(lines: list[str], window_s: float | None, *, bulk: bool) -> dict[str, Any]:
    timeline = Timeline()
    scan, accumulator = LogScan(timeline), LogAccumulator(window_s=window_s)
    for start in range(0, len(lines), 700):
        block = lines[start : start + 700]
        for item in scan.feed_bulk(block) if bulk else scan.feed(block):
            if isinstance(item, LogRecord):
                accumulator.add(item)
            else:
                accumulator.add_rows(item)
    return document(accumulator.summary(file="server.log", lines=scan.counts, label=timeline.label))


def _agree(one: Any, other: Any) -> None:
    """Equal but for the last digits of sums of fractions, and of the same types."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            _agree(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for mine, its in zip(one, other, strict=True):
            _agree(mine, its)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9)
    else:
        assert one == other


@pytest.mark.parametrize("busy", [True, False])
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_bulk_and_one_by_one_agree(shape: str, ranks: int, busy: bool) -> None:
    """Every figure, window, phase and note, whatever the server, its ranks and its load."""
    for seed, window_s in ((1, None), (2, 10.0)):
        lines = _lines(shape, seed, 3000, ranks=ranks, busy=busy)
        _agree(_summary(lines, window_s, bulk=True), _summary(lines, window_s, bulk=False))


def test_a_decode_server_has_no_prefill_lines() -> None:
    """Blocks of decode lines alone."""
    lines = [line for line in _lines("plain", 6, 2000, ranks=2, busy=True) if "Prefill" not in line]
    _agree(_summary(lines, None, bulk=True), _summary(lines, None, bulk=False))


def test_absurd_counts_are_looked_at_one_by_one() -> None:
    """A negative or an impossible count in a column is no sum."""
    lines = _lines("new", 7, 300, ranks=1, busy=True)
    for absurd in ("#queue-req: -1", "#queue-req: 99999999999999"):
        odd = [line.replace("#queue-req: 0", absurd) for line in lines]
        _agree(_summary(odd, None, bulk=True), _summary(odd, None, bulk=False))


def test_servers_may_change_within_a_block() -> None:
    """Two shapes after each other, as after a restart with another version."""
    lines = [*_lines("plain", 3, 400, ranks=1, busy=True), *_lines("new", 4, 400, ranks=1, busy=True)]
    _agree(_summary(lines, None, bulk=True), _summary(lines, None, bulk=False))


def test_bulk_is_not_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain lines really go by columns: not one of them is looked at by itself."""

    def refuse(self: LogAccumulator, record: LogRecord) -> None:
        raise AssertionError(record)

    lines = [line for line in _lines("new", 5, 600, ranks=2, busy=True) if "batch" in line]
    timeline = Timeline()
    scan, accumulator = LogScan(timeline), LogAccumulator()
    first = list(scan.feed(lines[:20]))
    monkeypatch.setattr(accumulators.LogAccumulator, "add", refuse)
    for item in scan.feed_bulk(lines[20:]):
        assert not isinstance(item, LogRecord)
        accumulator.add_rows(item)
    assert len(first) == 20
    summary = accumulator.summary(file="server.log", lines=scan.counts, label=timeline.label)
    assert sum(figures or 0 for figures in (summary.prefill.batches, summary.decode.batches)) == 580
