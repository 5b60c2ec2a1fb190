"""Text to token ids and back, and text that arrives token by token.

A tokenizer here knows the bytes of each of its tokens. A stream is therefore decoded in constant time
per token and without a replacement character in the middle of a character whose bytes are spread over
tokens: bytes go through an incremental UTF-8 decoder, which holds back an unfinished character.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol


class Tokenizer(Protocol):
    """What the engine's surroundings need of a tokenizer.

    Invariant: ``decode(ids)`` is the UTF-8 text of the joined ``token_bytes``, so it equals what an
    ``IncrementalDecoder`` yields over the same ids. Special tokens have no bytes.
    """

    @property
    def vocab_size(self) -> int:
        """Ids run from 0 to ``vocab_size - 1``."""
        ...

    @property
    def special_token_ids(self) -> frozenset[int]:
        """Ids that steer the model instead of carrying text: begin, end, padding, chat marks."""
        ...

    @property
    def eos_token_ids(self) -> frozenset[int]:
        """Ids that end an answer; empty for a model that never ends by itself."""
        ...

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        """Token ids of ``text``, with the model's begin mark where it has one and it is asked for."""
        ...

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ``ids`` as they continue a text; undecodable bytes become U+FFFD."""
        ...

    def token_bytes(self, token_id: int) -> bytes:
        """The UTF-8 bytes, perhaps of part of a character, that a token adds to a text."""
        ...

    def render_chat(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """Ids of a conversation (``role`` and ``content`` each) up to where the answer begins."""
        ...


def plain_chat(messages: Sequence[Mapping[str, str]]) -> str:
    """A conversation for a model without a chat template: ``role: content`` lines, then ``assistant:``."""
    lines = [f"{message['role']}: {message['content']}\n" for message in messages]
    return "".join((*lines, "assistant:"))


class IncrementalDecoder:
    """One stream's text, as it becomes complete."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, token_id: int) -> str:
        """The text that ``token_id`` completes; empty while a character is unfinished."""
        return self._decoder.decode(self._tokenizer.token_bytes(token_id))

    def flush(self) -> str:
        """What is left at the end of the stream: U+FFFD for an unfinished character, else nothing."""
        return self._decoder.decode(b"", final=True)
