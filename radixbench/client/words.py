"""The text of an answer on its channels, put aside piece by piece and counted once.

Content is ``text`` of a completion and ``content`` of a chat, and what a tool call says; reasoning comes as
``reasoning_content`` (SGLang, older vLLM) or ``reasoning`` (newer vLLM, which may send both: one counts).
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Characters(NamedTuple):
    """Characters per channel, and how many of both are whitespace; ``None`` where no text was looked at."""

    content: int | None
    reasoning: int | None
    blank: int | None


class Words:
    """All text of one answer in the order it came."""

    __slots__ = ("_content", "_in_order", "_reasoning")

    def __init__(self) -> None:
        self._content: list[str] | None = None
        self._reasoning: list[str] = []
        self._in_order: list[str] | None = None  # only once both channels have been used

    def take(self, choice: dict[str, Any]) -> bool:
        """Put aside what a choice of a stream (``text``, ``delta``) or of a whole answer brings.

        Says whether that is any text.
        """
        text = choice.get("text")
        if text.__class__ is str:
            if self._content is None:
                self._content = []
            if text:
                self._add(self._content, text)
            return bool(text)
        message = choice.get("delta") or choice.get("message")
        return self._message(message) if isinstance(message, dict) else False

    def joined(self) -> str:
        """The text of both channels in the order it came."""
        if self._in_order is not None:
            return "".join(self._in_order)
        return "".join(self._content or self._reasoning)

    def content(self) -> str:
        """The answer proper, without reasoning: what a chat client sends back as the assistant's message."""
        return "".join(self._content or ())

    def json_like(self) -> bool | None:
        """Whether the content begins as a JSON object or array does; ``None`` where no text was looked at."""
        if self._content is None:
            return None
        first = next((solid for piece in self._content if (solid := piece.lstrip())), "")
        return first.startswith(("{", "["))

    def count(self) -> Characters:
        """How much was said on each channel."""
        if self._content is None:
            return Characters(None, None, None)
        content, reasoning = "".join(self._content), "".join(self._reasoning)
        solid = sum(len(word) for word in content.split()) + sum(len(word) for word in reasoning.split())
        total = len(content) + len(reasoning)
        return Characters(len(content), len(reasoning), total - solid)

    def _message(self, message: dict[str, Any]) -> bool:
        if self._content is None:
            self._content = []
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        content = message.get("content") or _call(message.get("tool_calls"))
        if reasoning:
            self._add(self._reasoning, str(reasoning))
        if content:
            self._add(self._content, str(content))
        return bool(reasoning or content)

    def _add(self, channel: list[str], text: str) -> None:
        if (
            self._in_order is None
            and not channel
            and (other := self._content if channel is self._reasoning else self._reasoning)
        ):
            self._in_order = list(other)
        channel.append(text)
        if self._in_order is not None:
            self._in_order.append(text)


def _call(calls: Any) -> str:
    """What a tool call says: its arguments or, failing them, its name."""
    if not calls or not isinstance(calls, list) or not isinstance(calls[0], dict):
        return ""
    function = calls[0].get("function")
    named = function if isinstance(function, dict) else {}
    return str(named.get("arguments") or named.get("name") or calls[0].get("id") or "")
