"""One conversation being played: ask, hear the answer, think, ask again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from radixbench.client.answer import Answer
from radixbench.client.chat_state import Asked, ChatState
from radixbench.client.http import Flight, ServerClient
from radixbench.client.outcome import Outcome
from radixbench.client.pace import Pace
from radixbench.errors import RadixbenchError
from radixbench.units import NS_PER_S, Nanoseconds, Tokens
from radixbench.workloads.conversation import Conversation, Render, Turn

BodyOf = Callable[[Turn], Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Wording:
    """How a turn becomes a request; ``think_factor`` scales the time between an answer and the next turn."""

    client: ServerClient
    body: BodyOf | None = None
    render: Render | None = None
    before_request: Callable[[], Awaitable[None]] | None = None
    think_factor: float = 1.0

    def flight(self, turn: Turn, asked: Asked) -> Flight:
        """The request of a turn, built and not sent; messages go out as such where chats are answered."""
        as_chat = bool(asked.messages) and self.client.endpoint == "chat"
        return self.client.flight(
            asked.ids,
            turn.output_len,
            temperature=turn.temperature,
            seed=turn.seed,
            messages=asked.messages if as_chat else None,
            body=None if self.body is None else self.body(turn),
            keep_text=bool(asked.messages),
        )

    def think_ns(self, turn: Turn) -> Nanoseconds:
        """What passes between the answer before and this turn."""
        return round(turn.delay_s * self.think_factor * NS_PER_S)


class Playing(Protocol):
    """What a conversation shares with all others of the load."""

    wording: Wording
    pace: Pace
    outcome: Outcome
    stopped: str | None

    def stop(self, why: str) -> None:
        """Send nothing more, give up what is in flight; the first reason stays."""
        ...


class _Ready(NamedTuple):
    asked: Asked
    flight: Flight


class _Sent(NamedTuple):
    """A request that is on its way: turn ``place``, with so many prompt tokens."""

    place: int
    tokens: Tokens
    due_ns: Nanoseconds | None
    begun_ns: Nanoseconds


class Talk:
    """A conversation whose first request is built; ``run`` plays it."""

    __slots__ = ("_conversation", "_first", "_playing", "_state")

    def __init__(self, conversation: Conversation, playing: Playing) -> None:
        self._conversation = conversation
        self._playing = playing
        self._state = ChatState(playing.wording.render)
        self._first = self._build(0)

    async def run(self, due_ns: Nanoseconds | None) -> None:
        """Play to the last turn, to one that can't be asked, or to the bound by time.

        ``due_ns`` is when the first turn is due; ``None`` in a closed loop, where everything is due when it is sent.
        """
        pace, turns = self._playing.pace, self._conversation.turns
        ready = self._first
        for place in range(1, len(turns) + 1):
            if isinstance(ready, RadixbenchError):
                self._fail(place - 1, str(ready))
                return
            answer = await self._ask(place - 1, ready, due_ns)
            if answer is None or place == len(turns):
                return
            self._state.hear(answer)
            next_ns = answer.end_ns + self._playing.wording.think_ns(turns[place])
            if pace.over(next_ns) or self._stuck(place, answer):
                return
            ready = self._build(place)
            await pace.until(next_ns)
            due_ns = None if pace.closed else next_ns

    def _build(self, place: int) -> _Ready | RadixbenchError:
        """The request of a turn, or why there is none: a template that refuses these messages."""
        turn = self._conversation.turns[place]
        try:
            asked = self._state.ask(turn)
            return _Ready(asked, self._playing.wording.flight(turn, asked))
        except RadixbenchError as error:
            return error

    def _stuck(self, place: int, answer: Answer) -> bool:
        """Whether turn ``place`` can't be asked after this answer; the rest is then given up with the reason."""
        turn, outcome = self._conversation.turns[place], self._playing.outcome
        if turn.whole_ids is not None:
            return False
        if answer.status != "completed":
            why = f"not sent: turn {place} failed: {answer.error}"
            outcome.give_up(self._conversation, why, answer.end_ns)
        elif (obstacle := self._state.obstacle(turn)) is not None:
            self._fail(place, obstacle)
        else:
            return False
        return True

    def _fail(self, place: int, why: str) -> None:
        """Record a turn that can't be asked, and the ones after it that need its answer."""
        outcome, now_ns = self._playing.outcome, self._playing.wording.client.clock.now_ns()
        outcome.add(self._conversation, place, Answer(now_ns, now_ns, "failed", error=why))
        outcome.give_up(self._conversation, f"not sent: {why}", now_ns)

    async def _ask(self, place: int, ready: _Ready, due_ns: Nanoseconds | None) -> Answer | None:
        """Send a request and record its answer; ``None`` when what must come before it failed."""
        playing, prompt = self._playing, self._conversation.turns[place].prompt
        if (before := playing.wording.before_request) is not None:
            try:
                await before()
            except RadixbenchError as error:
                playing.stop(str(error))
                return None
        playing.outcome.prompts[prompt] = ready.asked.ids
        begun_ns = playing.wording.client.clock.now_ns()
        sent = _Sent(place, len(ready.asked.ids), due_ns, begun_ns)
        try:
            answer = await ready.flight.run()
        except asyncio.CancelledError:
            self._record(sent, ready.flight.cancelled(playing.stopped or "interrupted"))
            raise
        self._record(sent, answer)
        if answer.refused:
            playing.stop(answer.error or "connection refused")
        return answer

    def _record(self, sent: _Sent, answer: Answer) -> None:
        """Keep the answer; a request that found no connection was sent when it began to look for one."""
        if answer.send_ns < sent.begun_ns:
            answer = replace(answer, send_ns=sent.begun_ns)
        self._playing.outcome.add(
            self._conversation, sent.place, answer, due_ns=sent.due_ns, sent_tokens=sent.tokens
        )
