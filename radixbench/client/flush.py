"""Emptying a server's cache, as far as the server lets itself be believed.

SGLang (0.4.6 on) answers 400 while any request runs or waits, which includes the moment after the last
byte of an answer; older versions and vLLM answer 200 even when they refuse. So a refusal is asked again
with growing pauses until a limit, the body is kept as evidence, and whoever flushes proves the outcome
with a probe.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from radixbench.client.whole import Reply
from radixbench.clock import Clock
from radixbench.units import NS_PER_S

_LONGEST_PAUSE_S = 2.0


@dataclass(frozen=True, slots=True)
class FlushOutcome:
    """How asking for a flush ended: the last answer's status and body, and how often it was asked.

    ``ok`` means that the server says it flushed; ``status`` of ``None`` that it didn't answer.
    """

    ok: bool
    status: int | None
    body: str
    attempts: int


async def ask_for_flush(
    ask: Callable[[], Awaitable[Reply]], clock: Clock, *, limit_s: float, pause_s: float
) -> FlushOutcome:
    """Ask until the server agrees, at most for ``limit_s``; pauses double from ``pause_s`` up to 2 s.

    Only a refusal (400, 409, 503, or 200 with ``success: false``) is asked again.
    """
    deadline = clock.now_ns() + int(limit_s * NS_PER_S)
    attempts = 0
    while True:
        reply = await ask()
        attempts += 1
        refused = _says_no(reply)
        outcome = FlushOutcome(
            ok=reply.status == 200 and not refused, status=reply.status, body=reply.text, attempts=attempts
        )
        pause_ends = clock.now_ns() + int(pause_s * NS_PER_S)
        if not (refused or reply.status in {400, 409, 503}) or pause_ends > deadline:
            return outcome
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _says_no(reply: Reply) -> bool:
    document = reply.document()
    return document is not None and document.get("success") is False
