"""The tokenizer of ``tiny``: 256 bytes, then 7,936 seeded words, in plain Python.

Every id decodes to text and any text survives a round trip. Words carry their leading space, as in
byte-level BPE; random ids are therefore random words, which don't share a cache page by chance.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from radixbench.model.tokenizer import plain_chat

BYTE_IDS = 256
VOCAB_SIZE = 8192

_SEED = 20_011
_CONSONANTS = "bcdfghjklmnprstvwz"
_VOWELS = "aeiou"
_WORD = re.compile(rb" [a-z]+")


@cache
def words() -> tuple[bytes, ...]:
    """The vocabulary after the bytes: distinct words of two to four syllables, each after a space."""
    rng = random.Random(_SEED)
    found: dict[bytes, None] = {}
    while len(found) < VOCAB_SIZE - BYTE_IDS:
        syllables = (rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(rng.randint(2, 4)))
        found[f" {''.join(syllables)}".encode()] = None
    return tuple(found)


@cache
def _word_ids() -> dict[bytes, int]:
    return {word: BYTE_IDS + index for index, word in enumerate(words())}


class TinyTokenizer:
    """Known words become one id each, everything else one id per byte. No special tokens, no end mark."""

    vocab_size = VOCAB_SIZE
    special_token_ids: frozenset[int] = frozenset()
    eos_token_ids: frozenset[int] = frozenset()

    @property
    def sha256(self) -> str:
        """What identifies the vocabulary, in hex."""
        return hashlib.sha256(b"\0".join(words())).hexdigest()

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        """Token ids of ``text``; there are no special tokens to add."""
        del add_special_tokens
        data, ids, at = text.encode("utf-8", "surrogatepass"), _word_ids(), 0
        found: list[int] = []
        for match in _WORD.finditer(data):
            word_id = ids.get(match.group())
            if word_id is not None:
                found.extend(data[at : match.start()])
                found.append(word_id)
                at = match.end()
        found.extend(data[at:])
        return found

    def decode(self, ids: Iterable[int]) -> str:
        """The joined bytes as UTF-8; undecodable ones become U+FFFD."""
        return b"".join(map(self.token_bytes, ids)).decode("utf-8", "replace")

    def token_bytes(self, token_id: int) -> bytes:
        """One byte below 256, a word with its leading space from there on."""
        return bytes((token_id,)) if token_id < BYTE_IDS else words()[token_id - BYTE_IDS]

    def render_chat(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """Plain ``role: content`` lines: random weights know no template."""
        return self.encode(plain_chat(messages))
