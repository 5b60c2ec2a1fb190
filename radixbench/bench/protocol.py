"""Bringing a server's cache into the declared state, and proving it.

Warm-up prompts share no page with what is measured. One of them, the probe, is sent twice: a cache
that is on must find it the second time, one that is off must not. After a flush the same
probe must find nothing; a last flush then drops the probe itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from radixbench.capture.model import ProtocolRecord
from radixbench.client.answer import Answer
from radixbench.client.flush import FlushOutcome
from radixbench.client.http import ServerClient
from radixbench.client.load import run_closed_loop
from radixbench.errors import IncompleteError
from radixbench.records import Mode
from radixbench.workloads.tokens import TokenSource
from radixbench.workloads.warmup import probe, warmup

_WARMUP_REQUESTS = 8
_WARMUP_PROMPT = 128
_WARMUP_OUTPUT = 8


@dataclass(frozen=True, slots=True)
class Preparation:
    """What was seen while a server was prepared: cached tokens of the probe's three visits."""

    warmup_requests: int
    repeat_cached: int | None
    after_flush_cached: int | None
    flush: FlushOutcome


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Who sends the warm-up, and with what: prompts for one seed, ``concurrency`` at a time."""

    client: ServerClient
    tokens: TokenSource
    seed: int
    concurrency: int
    should_stop: Callable[[], bool]

    async def send(self, count: int, prompt_len: int, output_len: int = _WARMUP_OUTPUT) -> int:
        """Send ``count`` prompts. Raises ``IncompleteError`` when one of them isn't answered."""
        prompts = warmup(
            count=count, prompt_len=prompt_len, output_len=output_len, seed=self.seed, tokens=self.tokens
        )
        load = await run_closed_loop(
            prompts, self.client, max_concurrency=self.concurrency, should_stop=self.should_stop
        )
        failed = next((record.error for record in load.records if record.status != "completed"), None)
        if failed is not None:
            raise IncompleteError(f"a warm-up request failed: {failed}", remedy="see the server's log")
        return count


async def prepare(warm_up: WarmUp, *, long_prompt: int | None) -> Preparation:
    """Warm up, then flush and prove it.

    ``long_prompt`` tokens, where given, are sent as one more prompt, so that buffers for the longest
    request exist before anything is measured. Raises ``IncompleteError`` when the server refuses to flush.
    """
    client = warm_up.client
    sent = await warm_up.send(_WARMUP_REQUESTS, _WARMUP_PROMPT)
    if long_prompt is not None:
        sent += await warm_up.send(1, long_prompt, output_len=1)
    probe_ids = probe(prompt_len=_WARMUP_PROMPT, seed=warm_up.seed, tokens=warm_up.tokens)
    await client.generate(probe_ids, 1)
    repeat = await client.generate(probe_ids, 1)
    flush = await flush_or_fail(client)
    after = await client.generate(probe_ids, 1)
    last = await flush_or_fail(client)
    return Preparation(
        warmup_requests=sent,
        repeat_cached=_cached(repeat),
        after_flush_cached=_cached(after),
        flush=FlushOutcome(last.ok, last.status, last.body, flush.attempts + last.attempts),
    )


async def flush_or_fail(client: ServerClient) -> FlushOutcome:
    """Empty the cache; a server that won't makes the state of the next run unknown."""
    outcome = await client.flush()
    if not outcome.ok:
        raise IncompleteError(
            f"cache not flushed after {outcome.attempts} tries: status {outcome.status}, {outcome.body[:200]!r}",
            remedy="see whether a request is stuck in the server's queue",
        )
    return outcome


def judge(mode: Mode, seen: Preparation, measured_cached: int | None) -> ProtocolRecord:
    """The protocol as a capture keeps it. ``measured_cached`` is the sum over the measured requests."""
    verified, evidence = _verdict(mode, seen, measured_cached)
    return ProtocolRecord(
        declared="off" if mode == "off" else "cold",
        verified=verified,
        warmup_requests=seen.warmup_requests,
        flush_attempts=seen.flush.attempts,
        flush_status=seen.flush.status,
        flush_body=seen.flush.body[:200],
        probe_cached_tokens=seen.after_flush_cached,
        evidence=evidence,
    )


def _verdict(mode: Mode, seen: Preparation, measured_cached: int | None) -> tuple[bool | None, str]:
    repeat, after = seen.repeat_cached, seen.after_flush_cached
    if repeat is None or after is None or (mode == "off" and measured_cached is None):
        return None, "the server doesn't report cached tokens"
    if mode == "off":
        held = repeat == 0 and after == 0 and measured_cached == 0
        return held, f"a repeated probe found {repeat} cached tokens, the measured requests {measured_cached}"
    held = repeat > 0 and after == 0
    return held, f"a repeated probe found {repeat} cached tokens, after the flush {after}"


def _cached(answer: Answer) -> int | None:
    if answer.status != "completed":
        raise IncompleteError(f"a probe request failed: {answer.error}", remedy="see the server's log")
    return answer.usage.cached_tokens
