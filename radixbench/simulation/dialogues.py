"""Conversations as the sequences a server would see: each prompt as the template renders it, each answer behind it.

``live``: the recorded answer is what the server generated, so it is cached (but for its last token, whose KV
is never computed) and what the next prompt repeats of it is a hit as far as the tokens agree. ``recorded``: the
server generated something else, so answers become prompt in the next turn and only then enter the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radixbench.errors import RequestError
from radixbench.simulation.hits import Ask
from radixbench.workloads.chats import Chat, asked_at
from radixbench.workloads.conversation import Render

History = Literal["live", "recorded"]
Order = Literal["rounds", "conversations"]


@dataclass(frozen=True, slots=True)
class Departure:
    """Where a later prompt first departs from what its conversation had said before; ``turn`` counts from 1.

    ``position`` is a token of that prompt. ``in_answer``: within the answer before, as it was encoded by itself;
    else within the prompt before, which a template then renders otherwise than it did.
    """

    chat: str
    turn: int
    position: int
    in_answer: bool


class _Said(NamedTuple):
    """The prompt of a conversation's last turn with its answer."""

    ids: NDArray[np.int32]
    prompt_len: int


class Dialogues:
    """Iterates over the requests of ``chats``: all first turns, then all second ones; or chat after chat.

    As it goes it counts ``later_turns`` and how many of their prompts depart from what was said before: from the
    prompt, or from the answer. ``first_departure`` is one of the former if there is any. A prompt that the template
    refuses is no request: ``refused`` counts them, ``first_refusal`` says why.
    """

    def __init__(
        self,
        chats: Sequence[Chat],
        *,
        render: Render,
        encode: Callable[[str], Sequence[int]],
        history: History = "live",
        order: Order = "rounds",
    ) -> None:
        self._chats = chats
        self._render = render
        self._encode = encode
        self._history = history
        self._order = order
        self._said: dict[int, _Said] = {}
        self.later_turns = 0
        self.prompt_departures = 0
        self.answer_departures = 0
        self.first_departure: Departure | None = None
        self.refused = 0
        self.first_refusal: str | None = None

    def __iter__(self) -> Iterator[Ask]:
        replies = [asked_at(chat) for chat in self._chats]
        for index, turn in self._places(replies):
            ask = self._ask(index, replies[index], turn)
            if ask is not None:
                yield ask

    def _places(self, replies: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
        """Conversation and turn of each request, in the order asked for."""
        if self._order == "conversations":
            yield from ((index, turn) for index, places in enumerate(replies) for turn in range(len(places)))
            return
        for turn in range(max(map(len, replies), default=0)):
            yield from ((index, turn) for index, places in enumerate(replies) if turn < len(places))

    def _ask(self, index: int, places: Sequence[int], turn: int) -> Ask | None:
        messages = self._chats[index].messages
        try:
            prompt = np.asarray(self._render(messages[: places[turn]]), dtype=np.int32)
        except RequestError as error:
            self.refused += 1
            self.first_refusal = self.first_refusal or str(error)
            return None
        text = messages[places[turn]].text if places[turn] < len(messages) else ""
        answer = np.asarray(self._encode(text), dtype=np.int32)
        self._compare(index, turn, prompt)
        if turn + 1 < len(places):
            self._said[index] = _Said(np.concatenate((prompt, answer)), len(prompt))
        left = b"" if self._history == "recorded" else answer[:-1].tobytes()
        return Ask(prompt.tobytes() + left, len(prompt))

    def _compare(self, index: int, turn: int, prompt: NDArray[np.int32]) -> None:
        said = self._said.pop(index, None)
        if said is None:
            return
        self.later_turns += 1
        position = shared_length(said.ids, prompt)
        if position == len(said.ids):
            return
        in_answer = position >= said.prompt_len
        self.answer_departures += in_answer
        self.prompt_departures += not in_answer
        if self.first_departure is None or (self.first_departure.in_answer and not in_answer):
            self.first_departure = Departure(self._chats[index].id, turn + 1, position, in_answer)


def shared_length(one: NDArray[np.int32], other: NDArray[np.int32]) -> int:
    """How many leading tokens two sequences share."""
    size = min(len(one), len(other))
    unequal = np.flatnonzero(one[:size] != other[:size])
    return int(unequal[0]) if len(unequal) else size
