"""Soak: many clients, a pool a quarter of the working set, one client in five vanishing mid-stream.

    python benchmarks/soak.py                  # the built-in model, 1,000 requests at concurrency 32
    python benchmarks/soak.py --runner fake    # scripted tokens behind the real HTTP, scheduler and tree

Shows that no slot is lost (ownership is audited while requests run and at the end), that nothing hangs
(every request has a deadline), and that the server's memory stays flat (its resident size over the last
quarter of the requests against the second quarter, when the pool is full). Prints one JSON document
last; exits with 1 when any of the three fails.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import socket
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from radixbench.clock import MonotonicClock
from radixbench.units import NS_PER_S

GROUPS = 32
PREFIX_LEN = 256
QUESTION_LEN = 32
OUTPUT_LENS = (8, 64)
VANISHING = 0.2
POOL_SHARE = 0.25
DEADLINE_S = 120.0
READY_S = 120.0
FLAT = 1.05
VOCAB = 8192
AUDITS = 10


@dataclass(frozen=True, slots=True)
class Client:
    """One request. ``leaves_after`` tokens its client closes the connection; ``None`` stays to the end."""

    prompt: tuple[int, ...]
    output_len: int
    leaves_after: int | None


@dataclass(slots=True)
class Tally:
    """What became of the clients, and what the server looked like meanwhile."""

    completed: int = 0
    vanished: int = 0
    failed: list[str] = field(default_factory=list)
    rss_kib: list[int] = field(default_factory=list)
    audits: int = 0


def plan_clients(count: int, seed: int) -> list[Client]:
    """Seeded traffic: every prompt is one of the groups' prefixes and a question of its own."""
    rng = random.Random(seed)
    prefixes = [tuple(rng.randrange(VOCAB) for _ in range(PREFIX_LEN)) for _ in range(GROUPS)]
    clients = []
    for _ in range(count):
        question = tuple(rng.randrange(VOCAB) for _ in range(QUESTION_LEN))
        output_len = rng.randint(*OUTPUT_LENS)
        leaves = rng.randrange(output_len) if rng.random() < VANISHING else None
        clients.append(Client(rng.choice(prefixes) + question, output_len, leaves))
    return clients


def working_set(clients: list[Client]) -> int:
    """Distinct tokens of all prompts and answers together: what a cache without a limit would hold."""
    prefixes = {client.prompt[:PREFIX_LEN] for client in clients}
    return len(prefixes) * PREFIX_LEN + sum(QUESTION_LEN + client.output_len for client in clients)


@contextlib.contextmanager
def server(flags: list[str]) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A server process and its address; ended however the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "radixbench", "serve", "--port", str(port), "--audit-endpoint"]
    process = subprocess.Popen(
        [*command, "--exit-on-stdin-eof", *flags], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


async def wait_ready(session: aiohttp.ClientSession, process: subprocess.Popen[bytes]) -> None:
    """Return once /health says so; a server that died is an error."""
    async with asyncio.timeout(READY_S):
        while True:
            if process.poll() is not None:
                raise SystemExit(f"the server ended with {process.returncode}")
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get("/health") as response:
                    if response.status == 200:
                        return
            await asyncio.sleep(0.05)


async def drive(session: aiohttp.ClientSession, client: Client) -> bool:
    """Stream one request; whether it was read to its end."""
    body = {
        "prompt": client.prompt,
        "max_tokens": client.output_len,
        "temperature": 0,
        "ignore_eos": True,
        "stream": True,
        "return_token_ids": True,
    }
    if client.leaves_after == 0:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.005), session.post("/v1/completions", json=body):
                pass
        return False
    tokens = 0
    async with session.post("/v1/completions", json=body) as response:
        response.raise_for_status()
        async for line in response.content:
            if line == b"data: [DONE]\n":
                break
            if line.startswith(b"data: "):
                tokens += len(json.loads(line[6:])["choices"][0]["token_ids"])
            if tokens == client.leaves_after:
                response.close()
                return False
    if tokens != client.output_len:
        raise AssertionError(f"{tokens} tokens of {client.output_len} came")
    return True


def resident_kib(pid: int) -> int:
    """The process's resident size."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


async def audit(session: aiohttp.ClientSession) -> None:
    """Have the server check that every slot has exactly one owner."""
    async with session.post("/audit") as response:
        if response.status != 200:
            raise AssertionError(await response.text())


async def run_clients(
    session: aiohttp.ClientSession, clients: list[Client], concurrency: int, pid: int
) -> Tally:
    """A closed loop over all clients, with audits in between."""
    tally, queue = Tally(), iter(clients)
    audit_every = max(1, len(clients) // AUDITS)

    async def work() -> None:
        for client in queue:
            try:
                async with asyncio.timeout(DEADLINE_S):
                    ended = await drive(session, client)
            except (TimeoutError, aiohttp.ClientError, AssertionError) as error:
                tally.failed.append(f"{type(error).__name__}: {error}")
                continue
            tally.completed += ended
            tally.vanished += not ended
            tally.rss_kib.append(resident_kib(pid))
            if len(tally.rss_kib) % audit_every == 0:
                await audit(session)
                tally.audits += 1

    await asyncio.gather(*(work() for _ in range(concurrency)))
    return tally


async def final_state(session: aiohttp.ClientSession) -> dict[str, Any]:
    """The engine's statistics after everything has ended, then after a flush."""
    async with session.post("/flush_cache?timeout=30") as response:
        flushed = response.status == 200
    await audit(session)
    async with session.get("/server_info") as response:
        return {**(await response.json())["internal_states"][0], "flushed": flushed}


def summarise(tally: Tally, state: dict[str, Any], wanted: int) -> dict[str, Any]:
    """The figures, and whether they are what they should be."""
    quarter = max(1, len(tally.rss_kib) // 4)
    before = statistics.median(tally.rss_kib[quarter : 2 * quarter])
    after = statistics.median(tally.rss_kib[-quarter:])
    lost = state["pool_slots"] - state["free_slots"]
    return {
        "completed": tally.completed,
        "vanished": tally.vanished,
        "failed": tally.failed[:5],
        "slots_lost": lost,
        "audits": tally.audits,
        "aborted": state["aborted_total"],
        "evicted_tokens": state["evicted_tokens_total"],
        "retracted": state["retracted_total"],
        "hit_rate": state["cached_tokens_total"] / state["prompt_tokens_total"],
        "rss_mib": {"second_quarter": before / 1024, "last_quarter": after / 1024, "ratio": after / before},
        "ok": state["flushed"]
        and not lost
        and not tally.failed
        and tally.completed + tally.vanished == wanted
        and after / before <= FLAT,
    }


async def soak(options: argparse.Namespace) -> dict[str, Any]:
    """Start a server, drive it, end it."""
    clients = plan_clients(options.requests, options.seed)
    total = working_set(clients)
    pool = round(total * POOL_SHARE)
    flags = ["--runner", options.runner, "--model", options.model, "--max-total-tokens", str(pool)]
    clock = MonotonicClock()
    connector = aiohttp.TCPConnector(limit=0)
    with server([*flags, "--schedule-conservativeness", "0.1"]) as (process, url):
        async with aiohttp.ClientSession(url, connector=connector) as session:
            await wait_ready(session, process)
            start_ns = clock.now_ns()
            tally = await run_clients(session, clients, options.concurrency, process.pid)
            wall_s = (clock.now_ns() - start_ns) / NS_PER_S
            state = await final_state(session)
    return {
        "benchmark": "soak",
        "runner": options.runner,
        "model": options.model,
        "requests": options.requests,
        "concurrency": options.concurrency,
        "working_set_tokens": total,
        "pool_slots": pool,
        "wall_s": wall_s,
        **summarise(tally, state, options.requests),
    }


def main() -> int:
    """Run the soak and print its document."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--runner", choices=["model", "fake"], default="model")
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--seed", type=int, default=0)
    document = asyncio.run(soak(parser.parse_args()))
    print(json.dumps(document, indent=2))
    return 0 if document["ok"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
