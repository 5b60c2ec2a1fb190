"""One item of a data set becomes one chat, whichever of the usual shapes it has, or the reason why not.

ShareGPT (``conversations`` with ``from``/``value``), OpenAI (``messages`` with ``role``/``content``), either with
the other's names, or a bare ``prompt`` with its output length. What is wrong with an item is either mended, and
the mend named, or the item is refused with a reason in words; nothing is changed silently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from radixbench.corpus.speakers import ROLES
from radixbench.corpus.turns import Refused, Turns, arranged
from radixbench.workloads.chats import Chat
from radixbench.workloads.conversation import Message

ChatFormat = Literal["sharegpt", "openai", "custom"]

_LISTS: Final[dict[str, ChatFormat]] = {
    "conversations": "sharegpt",
    "conversation": "sharegpt",
    "messages": "openai",
}
_SYSTEM: Final = ("system", "system_prompt")
_LENGTHS: Final = ("output_len", "output_tokens", "output_length", "max_tokens")
_ANSWERS: Final = ("completion", "response", "output")
_IDS: Final = ("id", "conversation_id", "custom_id")

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Shaped:
    """A chat, the shape it was found in, and what was mended in it, in words."""

    chat: Chat
    format: ChatFormat
    mended: tuple[str, ...]


class _UnfitError(Exception):
    """Carries a reason out of the depths of one item."""


def shape(value: object, name: str) -> Shaped | Refused:
    """The chat of one decoded item; ``name`` is its id where it has none of its own."""
    if not isinstance(value, dict):
        return Refused("no JSON object")
    kind = next((key for key in _LISTS if isinstance(value.get(key), list | dict)), None)
    own = next((value[key] for key in _IDS if isinstance(value.get(key), str | int)), name)
    mended: dict[str, None] = {}
    try:
        if kind is not None:
            turns = arranged(_messages(value, _listed(value[kind]), mended))
            return _shaped(str(own), turns, _LISTS[kind], mended)
        if "prompt" in value:
            return _custom(str(own), value, mended)
    except _UnfitError as unfit:
        return Refused(str(unfit))
    return Refused("neither conversations nor messages nor prompt in it")


def _shaped(
    own: str, turns: Turns | Refused, format_: ChatFormat, mended: dict[str, None]
) -> Shaped | Refused:
    if isinstance(turns, Refused):
        return turns
    return Shaped(Chat(own, turns.messages), format_, (*mended, *turns.mended))


def _messages(item: Mapping[str, Any], turns: Sequence[object], mended: dict[str, None]) -> list[Message]:
    head = next((item[key] for key in _SYSTEM if isinstance(item.get(key), str) and item[key].strip()), None)
    found = [] if head is None else [Message("system", _sound(head, mended))]
    found += [_message(turn, mended) for turn in turns]
    if isinstance(item.get("tools"), list) and item["tools"]:
        mended["tool definitions put in front of the system prompt as JSON text"] = None
        first = found[0].text if found and found[0].role == "system" else ""
        tools = _sound(_compact(item["tools"]), mended)
        found = [Message("system", f"{tools}\n{first}"), *(found[1:] if first else found)]
    return found


def _listed(turns: list[object] | dict[str, Any]) -> Sequence[object]:
    """Turns as a list; columnar files may hold one list for each of their keys."""
    if isinstance(turns, list):
        return turns
    if not all(isinstance(column, list) for column in turns.values()):
        raise _UnfitError("turns that are no list")
    return [dict(zip(turns, row, strict=True)) for row in zip(*turns.values(), strict=False)]


def _first_of(turn: Mapping[str, Any], *keys: str) -> Any:
    return next((turn[key] for key in keys if turn.get(key) is not None), None)


def _message(turn: object, mended: dict[str, None]) -> Message:
    if not isinstance(turn, dict):
        raise _UnfitError("a turn is no object")
    speaker = _first_of(turn, "from", "role")
    role = ROLES.get(speaker.strip().lower()) if isinstance(speaker, str) else None
    if role is None:
        raise _UnfitError("a speaker nobody knows")
    if turn.get("reasoning_content"):
        mended["reasoning left out, as templates leave it out of the history"] = None
    text = _content(_first_of(turn, "value", "content"), mended)
    calls = turn.get("tool_calls")
    if isinstance(calls, list) and calls:
        text = (text or "") + _sound(_compact(calls), mended)
    if text is None:
        raise _UnfitError("a turn's text is null or no string")
    return Message(role, text)


def _content(content: object, mended: dict[str, None]) -> str | None:
    if isinstance(content, str):
        return _sound(content, mended)
    if not isinstance(content, list):
        return None
    parts = []
    for part in content:
        text = part.get("text") if isinstance(part, dict) else part
        if not isinstance(text, str):
            raise _UnfitError("content other than text")
        parts.append(text)
    return _sound("".join(parts), mended)


def _custom(own: str, item: Mapping[str, Any], mended: dict[str, None]) -> Shaped | Refused:
    prompt = item["prompt"]
    if not isinstance(prompt, str) or not prompt.strip():
        return Refused("the prompt is blank or no string")
    given = _first_of(item, *_LENGTHS)
    answer = next((item[key] for key in _ANSWERS if isinstance(item.get(key), str) and item[key]), None)
    if given is None and answer is None:
        return Refused("a prompt with neither output length nor answer")
    if given is not None and (type(given) is not int or given < 1):
        return Refused("an output length that is no positive number")
    messages = [Message("user", _sound(prompt, mended))]
    if given is None and answer is not None:
        messages.append(Message("assistant", _sound(answer, mended)))
    return Shaped(Chat(own, tuple(messages), output_len=given), "custom", tuple(mended))


def _sound(text: str, mended: dict[str, None]) -> str:
    """Text every encoder takes: lone surrogates, as broken escapes and bytes leave them, are replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        mended["characters that are no text read as \ufffd"] = None
        return _SURROGATE.sub("\ufffd", text)
    return text


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
