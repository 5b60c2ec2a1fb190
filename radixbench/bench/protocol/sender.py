"""Who sends what isn't measured: warm-up, probes, primers. Anything that isn't answered ends the preparation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

from radixbench.bench.ledger import Ledger
from radixbench.bench.protocol.salt import unsalted
from radixbench.client.fault import CLOSED_EARLY
from radixbench.client.http import ServerClient
from radixbench.errors import IncompleteError
from radixbench.units import Tokens
from radixbench.workloads.conversation import TokenIds
from radixbench.workloads.tokens import TokenSource
from radixbench.workloads.warmup import warmup

T = TypeVar("T")

_WARMUP_REQUESTS = 8
_WARMUP_PROMPT: Tokens = 128
_WARMUP_OUTPUT: Tokens = 8
_WARM_UP = "warm-up"
_TRIES = 4
_FIRST_PAUSE_S = 0.25
_BUSY = frozenset({429, 503})


class WarmUp(NamedTuple):
    """How many prompts were sent, and whether an answer named 0 cached tokens instead of nothing."""

    requests: int
    tells_zero: bool


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends prompts for one seed, ``concurrency`` at a time; ``body`` gives each its salt, if it has one.

    They are streamed as measured ones are: what these are the first to meet is met before, and what an answer
    tells of cached tokens is told alike.

    Everything is noted in the ledger, but for salted prompts, which nobody can meet again.
    """

    client: ServerClient
    tokens: TokenSource
    seed: int
    concurrency: int
    body: Callable[[], Mapping[str, Any] | None]
    ledger: Ledger
    should_stop: Callable[[], bool] = lambda: False

    async def warm_up(self, long_prompt: Tokens | None) -> WarmUp:
        """Send prompts that share no page with a measured one.

        ``long_prompt`` tokens, where given, are sent as one more prompt, so that buffers for the longest
        request exist before anything is measured.
        """
        found = await self._warm_up(_WARMUP_REQUESTS, _WARMUP_PROMPT, _WARMUP_OUTPUT)
        if long_prompt is not None:
            found += await self._warm_up(1, long_prompt, 1)
        return WarmUp(len(found), tells_zero=0 in found)

    @property
    def salted(self) -> bool:
        """Whether requests carry something that keeps them apart."""
        return self.body is not unsalted

    async def cached(self, ids: TokenIds, what: str, *, salted: bool = True) -> int | None:
        """Send one prompt for one token; the cached tokens it found by the server's word."""
        return await self._ask(ids, 1, what, salted=salted)

    async def send_all(self, prompts: Sequence[TokenIds], what: str) -> None:
        """Send each prompt for one token."""
        await self._gather([partial(self._ask, ids, 1, what) for ids in prompts])

    async def _warm_up(self, count: int, prompt_len: Tokens, output_len: Tokens) -> list[int | None]:
        prompts = warmup(
            count=count, prompt_len=prompt_len, output_len=output_len, seed=self.seed, tokens=self.tokens
        )
        turns = [turn for conversation in prompts.conversations for turn in conversation.turns]
        return await self._gather(
            [partial(self._ask, turn.user_ids, turn.output_len, _WARM_UP) for turn in turns]
        )

    async def _ask(self, ids: TokenIds, output_len: Tokens, what: str, *, salted: bool = True) -> int | None:
        """One answer; a busy server is asked again with growing pauses, so is one that hangs up on a warm-up.

        A probe that was perhaps read is never sent twice: it would find itself.
        """
        body = self.body() if salted else None
        if body is None:
            self.ledger.note([ids])
        pause_s = _FIRST_PAUSE_S
        for attempt in range(1, _TRIES + 1):
            if self.should_stop():
                raise IncompleteError("stopped while the server was prepared")
            answer = await self.client.flight(ids, output_len, body=body).run()
            if answer.status == "completed":
                return answer.usage.cached_tokens
            hung_up = what == _WARM_UP and answer.error == CLOSED_EARLY
            again = answer.http_status in _BUSY or hung_up
            if not again or attempt == _TRIES:
                break
            await asyncio.sleep(pause_s)
            pause_s *= 2
        times = f" {attempt} times" if attempt > 1 else ""
        raise IncompleteError(
            f"a {what} request failed{times}: {answer.error}", remedy="see the server's log"
        )

    async def _gather(self, calls: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
        """All calls, so many at a time; the first failure ends the others."""
        places = asyncio.Semaphore(self.concurrency)

        async def one(call: Callable[[], Awaitable[T]]) -> T:
            async with places:
                return await call()

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(call)) for call in calls]
        except* IncompleteError as failed:
            raise failed.exceptions[0] from None
        return [task.result() for task in tasks]
