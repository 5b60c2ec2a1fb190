"""Emptying a server's cache, as far as the server lets itself be believed.

Each engine has its own way, and its own way of not doing it:

SGLang (0.4.6 on) answers 400 while any request runs or waits, which includes the moment after the last byte of
an answer; older versions answer 200 even when they refuse, and before 0.3.5 know only GET. It empties the
device and host tiers; its storage tier has an endpoint of its own.
vLLM (with ``VLLM_SERVER_DEV_MODE=1``) answers 200 with ``success: false`` while blocks are held; older versions
200 without a body. A connector's external tier is emptied only when asked for, and asking where there is none is
a refusal (0.32.0 on a CPU says yes), so that it is asked apart and not for long.
llama.cpp keeps a cache per slot, which is erased slot by slot, and only with ``--slot-save-path``; its host prompt
cache (``--cache-ram``) has no such call.

A refusal is asked again with growing pauses until a limit, the body is kept as evidence, and whoever flushes
proves the outcome with a probe.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from radixbench.client.whole import Reply
from radixbench.clock import Clock
from radixbench.scenario.model import Engine
from radixbench.units import NS_PER_S

_LONGEST_PAUSE_S = 2.0
_EXTERNAL_S = 0.2  # there may be no external tier, and then every try is refused
_NO_ENDPOINT = frozenset({404, 405, 501})

Ask = Callable[[str, str], Awaitable[Reply]]
"""One control call: method and path."""


@dataclass(frozen=True, slots=True)
class FlushOutcome:
    """How asking for a flush ended: the last answer's status and body, and how often it was asked.

    ``ok`` means that the server says it flushed; ``status`` of ``None`` that it didn't answer. ``waited_ns`` is the time
    spent until then. ``tiers`` names what the server says it emptied: ``device``, and ``host``, ``external`` or
    ``storage`` where it has them and a call empties them.
    """

    ok: bool
    status: int | None
    body: str
    attempts: int
    waited_ns: int = 0
    tiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Patience:
    """How long refusals are asked again: ``limit_s`` in all, with pauses from ``pause_s`` doubling up to 2 s."""

    clock: Clock
    limit_s: float
    pause_s: float


async def flush_by_engine(engine: Engine, ask: Ask, patience: Patience) -> FlushOutcome:
    """Empty the cache the way ``engine`` has; for an unknown one each way until there is an endpoint."""
    ways = _WAYS.get(engine) or tuple(way for known in _WAYS.values() for way in known)
    outcome = await ways[0](ask, patience)
    for way in ways[1:]:
        if outcome.status not in _NO_ENDPOINT:
            break
        other = await way(ask, patience)
        outcome = replace(other, attempts=outcome.attempts + other.attempts)
    return outcome


async def _flush_bundled(ask: Ask, patience: Patience) -> FlushOutcome:
    return await _until_agreed(lambda: ask("POST", "/flush_cache"), patience)


async def _flush_sglang(ask: Ask, patience: Patience, method: str = "POST") -> FlushOutcome:
    outcome = await _until_agreed(lambda: ask(method, "/flush_cache"), patience)
    if not outcome.ok:
        return outcome
    storage = await ask("POST", "/hicache/storage-backend/clear")
    if storage.status in _NO_ENDPOINT:
        storage = await ask("POST", "/clear_hicache_storage_backend")  # its older name; neither: no such tier
    return replace(
        outcome, tiers=("device", "host", "storage") if storage.status == 200 else ("device", "host")
    )


async def _flush_old_sglang(ask: Ask, patience: Patience) -> FlushOutcome:
    return await _flush_sglang(ask, patience, "GET")


async def _flush_vllm(ask: Ask, patience: Patience) -> FlushOutcome:
    outcome = await _until_agreed(lambda: ask("POST", "/reset_prefix_cache"), patience)
    if not outcome.ok:
        return outcome
    brief = replace(patience, limit_s=min(patience.limit_s, _EXTERNAL_S))
    external = await _until_agreed(lambda: ask("POST", "/reset_prefix_cache?reset_external=true"), brief)
    emptied = external.ok and external.body != ""  # a version that doesn't know the question says nothing
    return replace(outcome, tiers=("device", "external") if emptied else ("device",))


async def _flush_llamacpp(ask: Ask, patience: Patience) -> FlushOutcome:
    """Every slot that is listed; status and body are those of the first that isn't erased."""
    listed = await ask("GET", "/slots")
    slots = [slot["id"] for slot in listed.items() if isinstance(slot.get("id"), int)]
    if not slots:
        return FlushOutcome(False, listed.status, listed.text or "no slots are listed", 1)
    so_far = FlushOutcome(True, listed.status, "", 0)
    for slot in slots:
        erase = partial(ask, "POST", f"/slots/{slot}?action=erase")
        outcome = await _until_agreed(erase, patience)
        so_far = replace(
            outcome,
            attempts=so_far.attempts + outcome.attempts,
            waited_ns=so_far.waited_ns + outcome.waited_ns,
        )
        if not so_far.ok:
            break
    return so_far


_Way = Callable[[Ask, Patience], Awaitable[FlushOutcome]]
_WAYS: Mapping[str, tuple[_Way, ...]] = MappingProxyType(
    {
        "bundled": (_flush_bundled,),
        "sglang": (_flush_sglang, _flush_old_sglang),
        "vllm": (_flush_vllm,),
        "llamacpp": (_flush_llamacpp,),
    }
)


async def _until_agreed(ask: Callable[[], Awaitable[Reply]], patience: Patience) -> FlushOutcome:
    """Ask until the server agrees. Only a refusal (400, 409, 503, or ``success: false``) is asked again."""
    start_ns = patience.clock.now_ns()
    deadline_ns = start_ns + int(patience.limit_s * NS_PER_S)
    attempts, pause_s = 0, patience.pause_s
    while True:
        reply = await ask()
        attempts += 1
        now_ns = patience.clock.now_ns()
        refused = _says_no(reply)
        ok = reply.status == 200 and not refused
        outcome = FlushOutcome(
            ok, reply.status, reply.text, attempts, now_ns - start_ns, ("device",) if ok else ()
        )
        again = refused or reply.status in {400, 409, 503}
        if not again or now_ns + int(pause_s * NS_PER_S) > deadline_ns:
            return outcome
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _says_no(reply: Reply) -> bool:
    document = reply.document()
    return document is not None and document.get("success") is False
