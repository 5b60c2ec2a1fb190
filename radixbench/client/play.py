"""Playing a workload: conversations begin as the load says, each turn follows the answer before.

Whatever happens, every request that was asked for leaves exactly one record. A request the server refuses is a
failed record with its status, and is not tried again. A failed turn ends its conversation if the next
prompt would need its answer. A refused connection ends everything: nobody listens any more. Bodies are
built before they are due, so that a deadline finds a request that only needs to be written.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from radixbench.client.http import ServerClient
from radixbench.client.outcome import LoadResult, OnProgress, Outcome
from radixbench.client.pace import Pace, offsets
from radixbench.client.talk import BodyOf, Playing, Talk, Wording
from radixbench.errors import UsageError
from radixbench.scenario.model import LoadSpec
from radixbench.units import Seconds
from radixbench.workloads.conversation import Conversation, Render, Workload

__all__ = ["BodyOf", "LoadResult", "play"]

_POLL_S = 0.1
_AHEAD = 32


async def play(  # noqa: PLR0913 - one keyword for each thing that a load or its watcher may want
    workload: Workload,
    client: ServerClient,
    load: LoadSpec,
    *,
    seed: int,
    body: BodyOf | None = None,
    render: Render | None = None,
    on_progress: OnProgress | None = None,
    on_failure: Callable[[], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    before_request: Callable[[], Awaitable[None]] | None = None,
) -> LoadResult:
    """Play ``workload`` as ``load`` says; ``seed`` fixes the arrivals of an open loop.

    Due times: in an open loop a conversation's first turn is due at the start plus its offset, later ones
    ``delay_s`` after the answer before (a trace's ``speed`` shortens that too); in a closed loop a request is due
    when it is sent. ``duration_s`` ends the sending: requests in flight are finished; what wasn't due by then
    leaves no record, what was due but found no place under ``max_concurrency`` is cancelled. ``num_prompts`` plays
    the first conversations only. How long a stream may stall is the client's to know, from its making on.

    ``body`` gives what else a turn's request carries. ``render`` is needed where turns are messages.
    ``before_request`` is awaited right before every request and needs a ``max_concurrency`` of 1; a
    ``RadixbenchError`` of it ends playing. ``on_progress`` gets the number of recorded requests and of all planned,
    ``on_failure`` is told of each that failed.
    ``should_stop`` is asked about ten times a second; once it says yes, requests in flight are given up. Cancelling
    the calling task does the same: the result is returned, with ``stopped`` set, instead of the cancellation.
    """
    conversations = tuple(talk for talk in workload.conversations[: load.num_prompts] if talk.turns)
    _refuse_mismatch(conversations, load, serial=before_request is not None, renders=render is not None)
    starts = _starts(conversations, load, seed)
    think_factor = 1 / load.speed if load.arrival == "trace" else 1.0
    player = _Player(
        starts,
        Pace(load, client.clock),
        Wording(client, body, render, before_request, think_factor),
        Outcome(sum(len(talk.turns) for talk in conversations), client.keep_text, on_progress, on_failure),
    )
    return await player.run(should_stop)


def _refuse_mismatch(
    conversations: tuple[Conversation, ...], load: LoadSpec, *, serial: bool, renders: bool
) -> None:
    if serial and load.max_concurrency != 1:
        raise UsageError(
            "something is to be done before each request, so they go one at a time",
            remedy="give a max concurrency of 1",
        )
    if not renders and any(turn.messages for talk in conversations for turn in talk.turns):
        raise UsageError("this workload's turns are messages", remedy="give a tokenizer that renders them")


@dataclass(frozen=True, slots=True)
class _Start:
    """A conversation and when it is due; ``None`` in a closed loop."""

    conversation: Conversation
    offset_s: Seconds | None = None


def _starts(conversations: tuple[Conversation, ...], load: LoadSpec, seed: int) -> list[_Start]:
    """In the order they are to begin: the workload's, or by due time where that differs."""
    due_s = offsets(conversations, load, seed=seed)
    if due_s is None:
        return [_Start(talk) for talk in conversations]
    order = sorted(range(len(due_s)), key=due_s.__getitem__)
    return [_Start(conversations[place], due_s[place]) for place in order]


class _Ahead:
    """Conversations whose first request is built before it is due, in the order they begin."""

    def __init__(self, starts: list[_Start], playing: Playing) -> None:
        self._upcoming = iter(starts)
        self._built: deque[tuple[Seconds | None, Talk]] = deque()
        self._playing = playing

    async def fill(self, has_time: Callable[[Seconds | None], bool]) -> bool:
        """Build one at least, more while ``has_time`` before the next one; ``False`` when all have begun.

        The event loop has its turn after each, so that no stream waits for more than one body.
        """
        while len(self._built) < _AHEAD and (not self._built or has_time(self.offset_s)):
            start = next(self._upcoming, None)
            if start is None:
                break
            self._built.append((start.offset_s, Talk(start.conversation, self._playing)))
            await asyncio.sleep(0)
        return bool(self._built)

    @property
    def offset_s(self) -> Seconds | None:
        """When the next one is due, from the start of the load."""
        return self._built[0][0]

    def pop(self) -> Talk:
        """The next one."""
        return self._built.popleft()[1]


class _Player:
    """What all conversations of a load share, and who lets them begin; see ``Playing``."""

    def __init__(self, starts: list[_Start], pace: Pace, wording: Wording, outcome: Outcome) -> None:
        self.pace = pace
        self.wording = wording
        self.outcome = outcome
        self.stopped: str | None = None
        self._starts = starts
        self._begun = 0
        self._running: asyncio.Task[None] | None = None

    def stop(self, why: str) -> None:
        """Send nothing more, give up what is in flight; the first reason stays."""
        if self.stopped is None:
            self.stopped = why
        if self._running is not None:
            self._running.cancel()

    async def run(self, should_stop: Callable[[], bool]) -> LoadResult:
        """Play everything; our own faults come out as they are, since no record may be made up for them."""
        running = self._running = asyncio.create_task(self._play_all())
        try:
            while not (await asyncio.wait({running}, timeout=_POLL_S))[0]:
                if should_stop():
                    self.stop("stopped")
        except asyncio.CancelledError:
            self.stop("interrupted")
            if (task := asyncio.current_task()) is not None:
                task.uncancel()
        finally:
            running.cancel()
            await asyncio.wait({running})
        if not running.cancelled() and (error := running.exception()) is not None:
            raise _innermost(error)
        self._settle()
        return self.outcome.result(self.stopped)

    async def _play_all(self) -> None:
        async with asyncio.TaskGroup() as group:
            await self._begin_all(group)

    async def _begin_all(self, group: asyncio.TaskGroup) -> None:
        """Begin each conversation once it is due and there is a place for it, until time is up."""
        pace, ahead = self.pace, _Ahead(self._starts, self)
        await ahead.fill(lambda _: True)
        pace.begin()
        while await ahead.fill(pace.spare):
            due_ns = pace.due_ns(ahead.offset_s)
            if due_ns is not None:
                if pace.over(due_ns):
                    return
                await pace.until(due_ns)
            if not await pace.place():
                return
            self._begun += 1
            talk = group.create_task(ahead.pop().run(due_ns))
            talk.add_done_callback(pace.free)

    def _settle(self) -> None:
        """Record what was due and never sent. What the bound by time leaves out was never due."""
        why, unsent = self.stopped, self._starts
        if why is None:
            if self.pace.closed:
                return
            why, unsent = "no place was free before the load's time was up", self._starts[self._begun :]
        now_ns = self.wording.client.clock.now_ns()
        for start in unsent:
            due_ns = self.pace.due_ns(start.offset_s)
            if due_ns is None or not self.pace.over(due_ns):
                self.outcome.give_up(start.conversation, f"not sent: {why}", now_ns)


def _innermost(error: BaseException) -> BaseException:
    """The first error itself, out of the groups it travelled in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
