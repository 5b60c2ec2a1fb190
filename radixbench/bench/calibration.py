"""How much of what the client measures is the client: a second of streams from a mock that knows its own writes.

The mock is a process of its own, as a server is, on this host's monotonic clock. Its stamps are taken before a write,
the client's after a read, so their difference is transport and client together; what is small there bounds what the
client can add to a TTFT. A mock that was itself late against its schedule says so.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from radixbench.client.http import ServerClient
from radixbench.client.loop import run as run_loop
from radixbench.client.outcome import LoadResult
from radixbench.client.play import play
from radixbench.clock import process_cpu_ns
from radixbench.errors import IncompleteError
from radixbench.records import Calibration, RequestRecord
from radixbench.scenario.model import LoadSpec
from radixbench.units import seconds
from radixbench.workloads.conversation import Conversation, Turn, Workload

STREAMS = 32
CHUNKS = 32
_RATE = 50.0
_PROMPT = 32
_ARGUMENTS = ("--ttft", "0.02", "--gap", "0.01")
_LIMIT_S = 10.0
_STOP_S = 5.0


def calibrate() -> Calibration:
    """Play about a second of staggered streams. Raises ``IncompleteError`` when the mock can't be used."""
    with _mock() as base_url:
        return run_loop(_measure(base_url))


@contextlib.contextmanager
def _mock() -> Iterator[str]:
    """A mock's address; it leaves when its standard input closes, so it can't outlive this process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "radixbench", "mock", "--json", "--exit-on-stdin-eof", *_ARGUMENTS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        yield _introduced(process.stdout.readline(), process.pid)
    finally:
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _introduced(line: bytes, pid: int) -> str:
    """The address on the ready line of the very process that was started."""
    try:
        ready = json.loads(line)
        if ready["mock"] is True and ready["pid"] == pid:
            return str(ready["base_url"])
    except (ValueError, KeyError, TypeError):
        pass
    raise IncompleteError(
        f"the mock for calibration didn't start (it said {line[:100]!r})",
        remedy="see whether `radixbench mock` does, or leave calibration out",
    )


async def _measure(base_url: str) -> Calibration:
    async with ServerClient(base_url) as client:
        identity = await _document(client, "/mock")
        if identity.get("mock") is not True:
            raise IncompleteError(f"{base_url} is no mock of ours", remedy="leave calibration out")
        await play(_streams(2), client, LoadSpec(max_concurrency=2), seed=0)
        await client.exchange("DELETE", "/mock/writes", limit_s=_LIMIT_S)
        before, cpu_ns = client.traffic.coalesced_chunks, process_cpu_ns()
        load = await play(_streams(STREAMS), client, LoadSpec(arrival="constant", request_rate=_RATE), seed=0)
        cpu_ns = process_cpu_ns() - cpu_ns
        coalesced = client.traffic.coalesced_chunks - before
        writes = await _document(client, "/mock/writes")
    return _compare(load, writes, cpu_ns, coalesced)


async def _document(client: ServerClient, path: str) -> dict[str, Any]:
    reply = await client.exchange("GET", path, limit_s=_LIMIT_S)
    document = reply.document()
    if document is None:
        raise IncompleteError(f"the mock doesn't answer {path}: {reply.text}", remedy="leave calibration out")
    return document


def _streams(count: int) -> Workload:
    return Workload(
        kind="calibration",
        conversations=tuple(
            Conversation(
                index=index,
                group=index,
                turns=(Turn(prompt=index, user_ids=tuple(range(index, index + _PROMPT)), output_len=CHUNKS),),
            )
            for index in range(count)
        ),
    )


def _compare(load: LoadResult, writes: Mapping[str, Any], cpu_ns: int, coalesced: int) -> Calibration:
    """The client's stamps beside the mock's, chunk by chunk."""
    by_id = {entry["id"]: entry for entry in writes["requests"]}
    lags: list[int] = []
    first_lags: list[int] = []
    late: list[int] = []
    for record in load.records:
        written = by_id.get(record.rid)
        if record.status != "completed" or written is None:
            raise IncompleteError(
                f"a calibration request failed: {record.error}", remedy="leave calibration out"
            )
        stamps = _token_writes(written, record)
        lags += [seen - wrote for seen, wrote in zip(record.chunk_ns, stamps, strict=True)]
        first_lags.append(record.chunk_ns[0] - stamps[0])
        late += [wrote - due for wrote, due in zip(written["write_ns"], written["due_ns"], strict=True)]
    span_s = seconds(max(r.end_ns for r in load.records) - min(r.send_ns for r in load.records))
    return Calibration(
        streams=len(load.records),
        chunks=len(lags),
        seconds=span_s,
        cpu_ns_per_chunk=cpu_ns // len(lags),
        chunks_per_s=len(lags) / span_s,
        ttft_error_p50_ns=_percentile(first_lags, 50),
        ttft_error_p99_ns=_percentile(first_lags, 99),
        lag_p50_ns=_percentile(lags, 50),
        lag_p99_ns=_percentile(lags, 99),
        late_p50_ns=_percentile(late, 50),
        late_p99_ns=_percentile(late, 99),
        coalesced_share=coalesced / len(lags),
    )


def _token_writes(written: Mapping[str, Any], record: RequestRecord) -> Sequence[int]:
    """When each chunk was written; writes that carry no token (the head, the usage) are left out."""
    stamps = [at for at, tokens in zip(written["write_ns"], written["tokens"], strict=True) if tokens]
    if len(stamps) != len(record.chunk_ns):
        raise IncompleteError(
            f"the mock wrote {len(stamps)} chunks and the client read {len(record.chunk_ns)}",
            remedy="leave calibration out",
        )
    return stamps


def _percentile(values: Sequence[int], percent: int) -> int:
    return round(float(np.percentile(values, percent)))
