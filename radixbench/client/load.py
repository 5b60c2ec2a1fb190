"""A closed loop: so many conversations at a time, each turn sent when the one before is answered.

Whatever happens, every request of the workload leaves exactly one record: completed, failed with the
fault in one line, or cancelled with the reason. A failed turn ends its conversation, since nobody
knows what the next prompt would be. A refused connection ends the loop: nobody listens any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from radixbench.client.answer import Answer
from radixbench.client.http import ServerClient
from radixbench.errors import UsageError
from radixbench.records import RequestRecord, RequestStatus
from radixbench.workloads.conversation import Conversation, Turn, Workload

_POLL_S = 0.1
_NO_IDS = "the server doesn't return token ids (return_token_ids), so the next prompt can't be built"

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What a loop measured: a record for each request of the workload, by prompt number.

    ``prompts`` holds the exact ids of each prompt that was sent. ``stopped`` says why the loop ended
    early, ``None`` when it played everything.
    """

    records: tuple[RequestRecord, ...]
    prompts: dict[int, tuple[int, ...]]
    stopped: str | None = None


async def run_closed_loop(
    workload: Workload,
    client: ServerClient,
    *,
    max_concurrency: int,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> LoadResult:
    """Play ``workload`` with at most ``max_concurrency`` conversations at a time.

    ``on_progress`` gets the number of recorded requests and of all. ``should_stop`` is asked about ten times a
    second; once it says yes, requests in flight are given up. Cancelling the calling task does the
    same: the result is returned, with ``stopped`` set, instead of the cancellation.
    """
    if max_concurrency < 1:
        raise UsageError(f"max concurrency is {max_concurrency}", remedy="give 1 or more")
    loop = _ClosedLoop(workload, client, on_progress)
    workers = [
        asyncio.create_task(loop.work()) for _ in range(min(max_concurrency, len(workload.conversations)))
    ]
    try:
        await loop.watch(workers, should_stop)
    except asyncio.CancelledError:
        loop.stop("interrupted")
        if (task := asyncio.current_task()) is not None:
            task.uncancel()
    finally:
        await _end(workers)
    return loop.result()


async def _end(workers: list[asyncio.Task[None]]) -> None:
    for worker in workers:
        worker.cancel()
    for outcome in await asyncio.gather(*workers, return_exceptions=True):
        if isinstance(outcome, Exception):  # our own fault: no record may be made up for it
            raise outcome


class _ClosedLoop:
    """The state its workers share."""

    def __init__(self, workload: Workload, client: ServerClient, on_progress: OnProgress | None) -> None:
        self._client = client
        self._waiting: Iterator[Conversation] = iter(workload.conversations)
        self._total = workload.request_count
        self._records: list[RequestRecord] = []
        self._prompts: dict[int, tuple[int, ...]] = {}
        self._on_progress = on_progress
        self._stopped: str | None = None

    def stop(self, why: str) -> None:
        """Send nothing more; the first reason stays."""
        if self._stopped is None:
            self._stopped = why

    async def watch(self, workers: list[asyncio.Task[None]], should_stop: Callable[[], bool]) -> None:
        """Return when all workers are through, one has failed, or the loop shall stop."""
        pending = set(workers)
        while pending and self._stopped is None:
            done, pending = await asyncio.wait(pending, timeout=_POLL_S, return_when=asyncio.FIRST_COMPLETED)
            if any(worker.exception() for worker in done):
                return
            if pending and should_stop():
                self.stop("stopped")

    async def work(self) -> None:
        """Play one waiting conversation after the other."""
        for conversation in self._waiting:
            if self._stopped is not None:
                self._give_up(conversation, conversation.turns, f"not sent: {self._stopped}")
            else:
                await self._play(conversation)

    def result(self) -> LoadResult:
        """Everything recorded; what no worker took up counts as cancelled."""
        for conversation in self._waiting:
            self._give_up(conversation, conversation.turns, f"not sent: {self._stopped}")
        return LoadResult(
            records=tuple(sorted(self._records, key=lambda record: record.prompt)),
            prompts=self._prompts,
            stopped=self._stopped,
        )

    async def _play(self, conversation: Conversation) -> None:
        history: tuple[int, ...] = ()
        for place, turn in enumerate(conversation.turns):
            following = conversation.turns[place + 1 :]
            prompt = history + turn.user_ids
            answer = await self._ask(conversation, place, turn, prompt)
            if answer.status != "completed":
                if answer.refused:
                    self.stop(answer.error or "connection refused")
                self._give_up(conversation, following, f"not sent: turn {place + 1} failed: {answer.error}")
                return
            if following and answer.output_ids is None:
                self._give_up(conversation, following[:1], _NO_IDS, status="failed")
                self._give_up(conversation, following[1:], f"not sent: {_NO_IDS}")
                return
            history = prompt + (answer.output_ids or ())

    async def _ask(
        self, conversation: Conversation, place: int, turn: Turn, prompt: tuple[int, ...]
    ) -> Answer:
        flight = self._client.flight(prompt, turn.output_len)
        self._prompts[turn.prompt] = prompt
        try:
            answer = await flight.run()
        except asyncio.CancelledError:
            why = self._stopped or "interrupted"
            self._record(conversation, place, turn, len(prompt), flight.cancelled(why))
            self._give_up(conversation, conversation.turns[place + 1 :], f"not sent: {why}")
            raise
        self._record(conversation, place, turn, len(prompt), answer)
        return answer

    def _give_up(
        self,
        conversation: Conversation,
        turns: tuple[Turn, ...],
        why: str,
        status: RequestStatus = "cancelled",
    ) -> None:
        """Record turns that are never sent; their stamps say when that was decided."""
        now_ns = self._client.clock.now_ns()
        for turn in turns:
            place = conversation.turns.index(turn)
            self._record(conversation, place, turn, 0, Answer(now_ns, now_ns, status, error=why))

    def _record(
        self, conversation: Conversation, place: int, turn: Turn, sent_tokens: int, answer: Answer
    ) -> None:
        self._records.append(
            RequestRecord(
                rid=answer.server_rid or f"prompt-{turn.prompt}",
                prompt=turn.prompt,
                conversation=conversation.index,
                turn=place,
                group=conversation.group,
                requested_tokens=turn.output_len,
                sent_prompt_tokens=sent_tokens,
                due_ns=answer.send_ns,
                send_ns=answer.send_ns,
                end_ns=answer.end_ns,
                status=answer.status,
                chunk_ns=answer.chunk_ns,
                chunk_tokens=answer.chunk_tokens,
                prompt_tokens=answer.usage.prompt_tokens,
                output_tokens=answer.usage.output_tokens,
                output_source=answer.output_source,
                cached_tokens=answer.usage.cached_tokens,
                output_ids=answer.output_ids,
                finish_reason=answer.finish_reason,
                http_status=answer.http_status,
                error=answer.error,
                text=answer.text,
            )
        )
        if self._on_progress is not None:
            self._on_progress(len(self._records), self._total)
