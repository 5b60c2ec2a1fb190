"""The log of true write times, beside what a reader saw."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path

import pytest

from radixbench.errors import OutputError
from radixbench.mock.server import MockServer, start
from radixbench.mock.settings import MockSettings, Pace, Shape
from radixbench.mock.writes import WriteLog, lateness
from tests.mock.raw import Seen, ask, complete, get, until
from tests.mock.start import mock_process, running_mock

GAP = MockSettings(pace=Pace(ttft_s=0.01, gap_s=0.005))
LONG = MockSettings(context_len=1 << 20, shape=Shape(tokens_per_frame=10_000, letters="multibyte"))


def arrivals(seen: Seen, sizes: list[int]) -> list[int]:
    """For each write, when the reader had its last byte."""
    found, ends, total = [], iter(seen.reads), 0
    at_ns, read = 0, 0
    for size in sizes:
        total += size
        while read < total:
            at_ns, data = next(ends)
            read += len(data)
        found.append(at_ns)
    assert read == total
    return found


async def test_logged_writes_are_what_a_reader_sees() -> None:
    """Same bytes in the same order; none was read before its stamp, and no stamp lies before what was due."""
    async with running_mock(GAP) as mock:
        seen = await complete(mock.base_url, [5, 6, 7], 8)
        (writes,) = mock.writes["requests"]
    assert sum(writes["bytes"]) == len(seen.raw)
    assert len(writes["bytes"]) == 1 + 8 + 1  # head, tokens, the rest
    read_ns = arrivals(seen, writes["bytes"])
    assert all(write <= read for write, read in zip(writes["write_ns"], read_ns, strict=True))
    assert all(due <= write for due, write in zip(writes["due_ns"], writes["write_ns"], strict=True))
    assert writes["write_ns"] == sorted(writes["write_ns"])


async def test_the_schedule_is_absolute() -> None:
    """Whatever a write costs, the next is due a whole number of gaps after the request came in."""
    async with running_mock(GAP) as mock:
        await complete(mock.base_url, [5, 6, 7], 4)
        (writes,) = mock.writes["requests"]
    offsets = [due - writes["received_ns"] for due in writes["due_ns"]]
    assert offsets == [0, 10_000_000, 15_000_000, 20_000_000, 25_000_000, 25_000_000]
    assert writes["tokens"] == [0, 1, 1, 1, 1, 0]


async def test_another_process_shares_the_axis() -> None:
    """A mock of its own process stamps on the reader's clock."""
    with mock_process("--ttft", "0.01", "--gap", "0.005") as url:
        seen = await complete(url, [5, 6, 7], 8)
        (writes,) = (await get(url, "/mock/writes")).document["requests"]
    assert sum(writes["bytes"]) == len(seen.raw)
    read_ns = arrivals(seen, writes["bytes"])
    assert all(write <= read for write, read in zip(writes["write_ns"], read_ns, strict=True))


async def test_a_response_is_found_by_its_id() -> None:
    """The id of an answer, or the rid sent along, names its writes."""
    async with running_mock() as mock:
        first = await complete(mock.base_url, [5])
        await complete(mock.base_url, [5], rid="mine")
        ids = [writes["id"] for writes in mock.writes["requests"]]
    assert ids == [first.events[0]["id"], "mine"]


async def test_the_log_can_be_cleared() -> None:
    """Read with reset or deleted, what has ended is forgotten; numbers go on."""
    async with running_mock() as mock:
        await complete(mock.base_url, [5])
        assert len((await get(mock.base_url, "/mock/writes?reset=1")).document["requests"]) == 1
        await complete(mock.base_url, [5])
        assert [writes["number"] for writes in mock.writes["requests"]] == [2]
        await ask(mock.base_url, "/mock/writes", method="DELETE")
        assert mock.writes["requests"] == []
        assert mock.writes["lateness"] is None


async def test_memory_is_bounded_and_the_file_is_not(tmp_path: Path) -> None:
    """In memory only the latest are kept, and how many were dropped; the file has each request, on one line."""
    path = tmp_path / "writes.jsonl"
    async with running_mock(MockSettings(keep_requests=2, write_log=path)) as mock:
        for _ in range(4):
            await complete(mock.base_url, [5])
        document = mock.writes
    assert [writes["number"] for writes in document["requests"]] == [3, 4]
    assert document["dropped"] == 2
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["number"] for line in lines] == [1, 2, 3, 4]
    assert lines[2:] == document["requests"]


async def test_a_full_disk_ends_the_log_not_the_server() -> None:
    """Answers go on; that the log is incomplete is told while serving and at the end."""
    server = await start(MockSettings(write_log=Path("/dev/full")))
    seen = await complete(server.base_url, [5])
    fault = server.writes["write_log_fault"]
    with pytest.raises(OutputError, match="/dev/full: the write log ends early: No space left"):
        await server.close()
    assert seen.payloads[-1] == "[DONE]"
    assert "No space left" in fault


async def test_a_slow_reader_is_told_apart() -> None:
    """Writes that had to wait behind a full socket are counted as buffered; no byte is lost."""
    body = json.dumps({"prompt": [5], "max_tokens": 300_000, "stream": True}).encode()
    head = f"POST /v1/completions HTTP/1.1\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    async with running_mock(LONG) as mock:
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", int(mock.base_url.rpartition(":")[2])))
            slow.sendall(head.encode() + body)
            await until(lambda: bool(mock.writes["requests"]) and outcome(mock) == "answered")
            slow.setblocking(False)
            got = 0
            while part := await asyncio.get_running_loop().sock_recv(slow, 1 << 16):
                got += len(part)
        (writes,) = mock.writes["requests"]
    assert writes["buffered"] > 0
    assert got == sum(writes["bytes"])


def outcome(mock: MockServer) -> str:
    return str(mock.writes["requests"][0]["outcome"])


def test_lateness_of_nothing_is_nothing() -> None:
    """Without a write there is no lateness, rather than one of 0."""
    assert lateness([]) is None
    log = WriteLog(MockSettings())
    log.open(1, "/v1/completions", 0).add(due_ns=10, write_ns=35, tokens=1, size=9)
    assert log.document()["lateness"]["max_ns"] == 25
