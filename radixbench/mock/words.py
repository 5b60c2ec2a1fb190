"""The mock's language: which tokens a text has, and what an answer says.

A token of text is one word with the white space before it; in a chat each message has one more at its start, which
names the role, and one at its end. Cache keys hold 31-bit hashes of words, so that an answer that comes back as
history is found again. An answer is a function of seed and prompt: the same question is
answered the same, as a greedy model does.
"""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Sequence

from radixbench.mock.settings import Letters

SPECIAL_IDS = (0, 1, 2)
"""Ids that no prompt should hold: padding, beginning and end."""

_WORD = re.compile(r"\s*\S+|\s+")
_STEP = 2_654_435_761
_BLANKS = (" ", "\n", "\t")


def key_of_ids(ids: Sequence[int]) -> bytes:
    """Token ids as a key of the cache; raises ``TypeError`` or ``OverflowError`` for what is no id."""
    return array("i", ids).tobytes()


def key_of_text(text: str) -> bytes:
    """A text's words as a key of the cache, four bytes to a token."""
    return array("i", [zlib.crc32(word.encode()) >> 1 for word in _WORD.findall(text)]).tobytes()


def key_of_messages(messages: Sequence[tuple[str, str]]) -> bytes:
    """A chat as a key of the cache, open for the assistant's answer; messages are roles and contents."""
    parts = []
    for role, content in messages:
        parts += [_mark(role), key_of_text(content), _mark("end")]
    parts.append(_mark("assistant"))
    return b"".join(parts)


def answer_ids(prompt: bytes, count: int, *, vocab_size: int, seed: int) -> list[int]:
    """The ids that answer ``prompt``, none of them special."""
    start = zlib.crc32(prompt, seed & 0xFFFFFFFF)
    low, room = len(SPECIAL_IDS), vocab_size - len(SPECIAL_IDS)
    return [low + ((start + place) * _STEP >> 7) % room for place in range(count)]


def word(token_id: int, letters: Letters) -> str:
    """What a token of an answer reads as: one word, distinct for each id unless ``blank``."""
    if letters == "plain":
        return f" w{token_id}"
    if letters == "multibyte":
        return f" ж{token_id}é漢🙂"
    return _BLANKS[token_id % len(_BLANKS)]


def _mark(name: str) -> bytes:
    return array("i", [zlib.crc32(f"<|{name}|>".encode()) >> 1]).tobytes()
