"""Recorded chats: one request for each answer in them, asked with everything said before.

Real traffic, with the lengths, languages and pauses people have. A cache should find in every request what the
chat's requests before left there: their prompts, and with live history the answers too. What the history holds
is decided here and said: recorded answers (the server prefills them as prompt, it never generated them), the
server's own ids, or its text encoded anew, where history may stop matching anywhere.

Rendered chats begin alike in every run of a file. ``salted`` puts a few ids of the run's own in front, the same
for all its chats: sharing among them stays (each finds the salt as well), that with other runs ends.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from radixbench.errors import UsageError
from radixbench.workloads.conversation import Conversation, Message, Render, TokenIds, Turn, Workload
from radixbench.workloads.script import at_temperature
from radixbench.workloads.sizes import History

KIND = "conversations"
FAMILIES = 1
"""Families a token source needs for the salt: ``tokens.opening(0, seed)``."""


@dataclass(frozen=True, slots=True)
class Chat:
    """One recorded conversation: every assistant message in it is an answer to ask for.

    ``output_len`` is what the record itself asks for where it holds a prompt and no answer.
    """

    id: str
    messages: tuple[Message, ...]
    output_len: int | None = None


def chats(
    chats: Iterable[Chat],
    *,
    history: History,
    render: Render,
    output_len: int | None,
    seed: int,
    salt_ids: TokenIds = (),
    think_time_s: float = 0.0,
    temperature: float = 0.0,
) -> Workload:
    """A conversation for each chat that has an answer, in the order given.

    ``output_len`` of ``None`` asks for as many tokens as the recorded answer has. Prompts open with ``salt_ids``,
    except with ``retokenized`` history: there whoever plays the workload renders, with ``salted(render,
    salt_ids)``. ``seed`` seeds the requests where ``temperature`` is above 0. An answer to nothing, and one right
    after another, makes no request.

    Raises ``UsageError`` when no chat has an answer, or when ``live`` history is asked of a template that renders
    a turn otherwise once it is answered.
    """
    script = _Script(history, salted(render, salt_ids), output_len, think_time_s)
    conversations: list[Conversation] = []
    prompt = 0
    for chat in chats:
        turns = script.turns(chat)
        if turns:
            numbered = tuple(replace(turn, prompt=prompt + turn.prompt) for turn in turns)
            place = len(conversations)
            conversations.append(Conversation(index=place, group=place, turns=numbered))
            prompt += len(turns)
    if not conversations:
        raise UsageError("no conversation holds an answer to ask for", remedy="see what the loader dropped")
    return at_temperature(Workload(kind=KIND, conversations=tuple(conversations)), temperature, seed=seed)


def salted(render: Render, salt_ids: TokenIds) -> Render:
    """``render`` with ``salt_ids`` in front of every prompt."""
    salt = tuple(salt_ids)
    if not salt:
        return render
    return lambda messages: salt + render(messages)


def asked_at(chat: Chat) -> tuple[int, ...]:
    """For each request of ``chat``: how many of its messages come before the answer."""
    roles = [message.role for message in chat.messages]
    places = [at for at in range(1, len(roles)) if roles[at] == "assistant" != roles[at - 1]]
    if roles and roles[-1] != "assistant" and chat.output_len is not None:
        places.append(len(roles))
    return tuple(places)


@dataclass(slots=True)
class _Script:
    """Turns chats into turns, numbered from 0 in each chat."""

    history: History
    render: Render
    output_len: int | None
    think_time_s: float
    closing: int | None = None

    def turns(self, chat: Chat) -> list[Turn]:
        turns: list[Turn] = []
        answered = 0
        for place, end in enumerate(asked_at(chat)):
            turn = self._turn(chat, answered, end)
            delay = self.think_time_s if place else 0.0
            turns.append(replace(turn, prompt=place, delay_s=delay, output_len=self._output_len(chat, end)))
            answered = end
        return turns

    def _turn(self, chat: Chat, answered: int, end: int) -> Turn:
        if self.history == "recorded":
            whole = memoryview(array("i", self.render(chat.messages[:end]))).toreadonly()
            return Turn(prompt=0, user_ids=(), output_len=0, whole_ids=whole)
        new = _new_messages(chat.messages[answered:end]) if answered else chat.messages[:end]
        if self.history == "retokenized":
            return Turn(prompt=0, user_ids=(), output_len=0, messages=new)
        ids = self._after(chat, answered, new) if answered else self.render(new)
        return Turn(prompt=0, user_ids=ids, output_len=0)

    def _after(self, chat: Chat, answered: int, new: tuple[Message, ...]) -> tuple[int, ...]:
        """What follows the answer's own ids: the end of its message, then the new ones."""
        before = chat.messages[:answered]
        asked, whole = self.render(before), self.render((*before, Message("assistant", ""), *new))
        if whole[: len(asked)] != asked:
            first = next(
                (at for at, (a, b) in enumerate(zip(asked, whole, strict=False)) if a != b), len(whole)
            )
            raise UsageError(
                f"chat {chat.id}: the template renders a turn otherwise once it is answered, from token {first} on,"
                " so the server's own ids can't stay in the history",
                remedy="use history recorded or retokenized",
            )
        return whole[len(asked) :]

    def _output_len(self, chat: Chat, end: int) -> int:
        """What was asked for, else the tokens of the recorded answer, at least one."""
        if self.output_len is not None:
            return self.output_len
        if end == len(chat.messages):
            return max(1, chat.output_len or 0)
        question, answer = chat.messages[:end], chat.messages[end]
        grown = len(self.render((*question, answer))) - len(self.render(question))
        return max(1, grown - self._closing_len())

    def _closing_len(self) -> int:
        """What a template adds around an answer of nothing."""
        if self.closing is None:
            ask = Message("user", "a")
            self.closing = len(self.render((ask, Message("assistant", "")))) - len(self.render((ask,)))
        return self.closing


def _new_messages(messages: Sequence[Message]) -> tuple[Message, ...]:
    """What comes after the recorded answer, which the server's own stands for."""
    at = next((at for at, message in enumerate(messages) if message.role != "assistant"), len(messages))
    return tuple(messages[at:])
