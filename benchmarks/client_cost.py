"""CPU time of the client per streamed chunk, beside the loop most benchmark clients run.

A mock server in a process of its own streams one token per event at a steady pace. The same streams are
read in turn by radixbench's client and by a plain loop as serving benchmarks have it (aiohttp on
asyncio, a session per request, line by line, ``json.loads``, text joined). Only this process's CPU time
counts, so what else the machine does matters little. Each row is one pair of runs; the ratio is ours over
theirs.

    python benchmarks/client_cost.py [--streams 32] [--chunks 200] [--repetitions 5]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from typing import Any

import aiohttp
import uvloop

from radixbench.client.http import ServerClient
from radixbench.client.load import run_closed_loop
from radixbench.client.loop import run
from radixbench.workloads.conversation import Conversation, Turn, Workload

PACE_S = 0.02


async def serve(chunks: int) -> None:
    """The mock: every request gets ``chunks`` events on an absolute schedule."""

    def event(place: int) -> bytes:
        last = place == chunks - 1
        choice = {
            "index": 0,
            "text": " token",
            "token_ids": [place],
            "logprobs": None,
            "finish_reason": "length" if last else None,
        }
        document: dict[str, Any] = {
            "id": "cmpl-0123456789abcdef",
            "object": "text_completion",
            "created": 1_790_000_000,
            "model": "mock",
            "choices": [choice],
        }
        if last:
            document["usage"] = {"prompt_tokens": 16, "completion_tokens": chunks}
        data = b"data: " + json.dumps(document).encode() + b"\n\n"
        return b"%x\r\n%s\r\n" % (len(data), data)

    events = [event(place) for place in range(chunks)]
    end = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                fields = request.lower().partition(b"content-length: ")[2]
                await reader.readexactly(int(fields.partition(b"\r")[0]))
                writer.write(head)
                start = loop.time()
                for place, data in enumerate(events, start=1):
                    await asyncio.sleep(start + place * PACE_S - loop.time())
                    writer.write(data)
                writer.write(end)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


async def ours(url: str, streams: int) -> int:
    """The same number of streams through ``run_closed_loop``; chunks seen."""
    workload = Workload(
        kind="cost",
        conversations=tuple(Conversation(n, 0, (Turn(n, tuple(range(16)), 8),)) for n in range(streams)),
    )
    async with ServerClient(url, model="mock") as client:
        result = await run_closed_loop(workload, client, max_concurrency=streams)
    assert all(record.status == "completed" for record in result.records)
    return sum(len(record.chunk_ns) for record in result.records)


async def plain(url: str, streams: int) -> int:
    """The common loop; chunks seen."""

    async def one() -> int:
        body = {"model": "mock", "prompt": list(range(16)), "max_tokens": 8, "stream": True}
        text, gaps, latest = "", [], time.perf_counter()
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{url}/v1/completions", json=body) as response,
        ):
            async for line in response.content:
                stripped = line.strip()
                if not stripped:
                    continue
                payload = stripped.decode().removeprefix("data: ")
                if payload == "[DONE]":
                    continue
                document = json.loads(payload)
                if document["choices"][0]["text"]:
                    now = time.perf_counter()
                    gaps.append(now - latest)
                    latest = now
                    text += document["choices"][0]["text"]
        return len(gaps)

    return sum(await asyncio.gather(*(one() for _ in range(streams))))


def cpu_per_chunk_us(coroutine: Any, *, fast_loop: bool) -> float:
    """Run it and divide this process's CPU time by the chunks it saw."""
    start = time.process_time_ns()
    chunks = run(coroutine) if fast_loop else asyncio.run(coroutine)
    return (time.process_time_ns() - start) / chunks / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=32)
    parser.add_argument("--chunks", type=int, default=200)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--mock", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.mock:
        uvloop.run(serve(options.chunks))
        return
    rows = []
    command = [sys.executable, __file__, "--mock", "--chunks", str(options.chunks)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as mock:
        assert mock.stdout is not None
        assert mock.stdin is not None
        url = f"http://127.0.0.1:{int(mock.stdout.readline())}"
        for repetition in range(options.repetitions + 1):
            theirs = cpu_per_chunk_us(plain(url, options.streams), fast_loop=False)
            mine = cpu_per_chunk_us(ours(url, options.streams), fast_loop=True)
            if repetition:  # the first pair warms both up
                rows.append({"ours_us": mine, "plain_us": theirs, "ratio": mine / theirs})
        mock.stdin.close()
    ratios = [row["ratio"] for row in rows]
    summary = {
        "benchmark": "client_cost",
        "streams": options.streams,
        "chunks": options.chunks,
        "pace_s": PACE_S,
        "rows": rows,
        "ratio": {"median": statistics.median(ratios), "low": min(ratios), "high": max(ratios)},
    }
    print(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
