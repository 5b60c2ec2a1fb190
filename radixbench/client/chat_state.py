"""What has been said in one conversation so far, and the next prompt that follows from it.

Three kinds of history, by what a turn brings: its whole prompt; new ids, which follow the earlier
prompt and the ids the server answered with; or new messages, rendered together with all before and the
text the server answered with, its reasoning left out, as chat clients do. Prompts share their parts: a conversation of n turns
keeps every id once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, islice
from typing import NamedTuple, overload

from radixbench.client.answer import Answer
from radixbench.workloads.conversation import Message, Render, TokenIds, Turn

NO_IDS = "the server doesn't return token ids (return_token_ids), so the next prompt can't be built"
NO_TEXT = "the answer brought no text, so the next prompt can't be built"


class Asked(NamedTuple):
    """One request's prompt as ids, and the messages it was rendered from where there are any."""

    ids: TokenIds
    messages: tuple[Message, ...] = ()


class Joined(Sequence[int]):
    """The ids of several parts, one after the other; the parts are kept, not copied."""

    __slots__ = ("_ends", "_parts")

    def __init__(self, *parts: TokenIds) -> None:
        flat: list[TokenIds] = []
        for part in parts:
            flat += part._parts if isinstance(part, Joined) else (part,) if len(part) else ()
        self._parts: tuple[TokenIds, ...] = tuple(flat)
        self._ends: tuple[int, ...] = tuple(accumulate(len(part) for part in flat))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self._parts)

    @overload
    def __getitem__(self, place: int) -> int: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[int, ...]: ...

    def __getitem__(self, place: int | slice) -> int | tuple[int, ...]:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            return tuple(islice(self, start, max(start, stop), step)) if step > 0 else tuple(self)[place]
        at = place + len(self) if place < 0 else place
        if not 0 <= at < len(self):
            raise IndexError(f"place {place} of {len(self)} token ids")
        part = bisect_right(self._ends, at)
        return self._parts[part][at - self._ends[part]]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))


class ChatState:
    """One conversation while it is played: ask for a turn's prompt, tell it the answer."""

    __slots__ = ("_answer", "_ids", "_messages", "_render")

    def __init__(self, render: Render | None) -> None:
        self._render = render
        self._ids: TokenIds = ()
        self._messages: tuple[Message, ...] = ()
        self._answer: Answer | None = None

    def ask(self, turn: Turn) -> Asked:
        """The prompt of the next turn; only if ``obstacle`` knows none."""
        if turn.whole_ids is not None:
            asked = Asked(turn.whole_ids)
        elif turn.messages:
            assert self._render is not None, "messages need someone who renders them"
            messages = (*self._messages, *self._said(), *turn.messages)
            asked = Asked(self._render(messages), messages)
        else:
            answered = () if self._answer is None else self._answer.output_ids or ()
            asked = Asked(Joined(self._ids, answered, turn.user_ids) if self._ids else turn.user_ids)
        self._ids, self._messages = asked
        return asked

    def hear(self, answer: Answer) -> None:
        """Take in the answer to the turn asked last."""
        self._answer = answer

    def obstacle(self, turn: Turn) -> str | None:
        """Why ``turn``'s prompt can't be built after the answer just heard; a whole prompt always can."""
        if turn.whole_ids is not None or self._answer is None:
            return None
        if turn.messages:
            return NO_TEXT if self._answer.content is None else None
        return NO_IDS if self._answer.output_ids is None else None

    def _said(self) -> tuple[Message, ...]:
        if self._answer is None or self._answer.content is None:
            return ()
        return (Message("assistant", self._answer.content),)
