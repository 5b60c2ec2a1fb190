"""Tokenizers of real models, as transformers loads them, with the bytes of each token.

Two families cover what decoder-only models use. Byte-level BPE spells each byte as one printable character
(GPT-2's alphabet); SentencePiece spells a space as ``▁`` and a byte that has no piece as ``<0xE2>``. Of any
other tokenizer a token's text is what it adds to an ordinary token before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from radixbench.errors import RequestError
from radixbench.model.tokenizer import plain_chat

_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


class HubTokenizer:
    """A transformers tokenizer. ``eos_token_ids`` come from the model, which knows of more than one."""

    def __init__(self, tokenizer: Any, eos_token_ids: frozenset[int]) -> None:
        self._tokenizer = tokenizer
        self.vocab_size = len(tokenizer)
        self.eos_token_ids = eos_token_ids
        marked = {i for i, token in tokenizer.added_tokens_decoder.items() if token.special}
        self.special_token_ids = frozenset(marked | set(tokenizer.all_special_ids) | eos_token_ids)
        self._spell = _speller(tokenizer)
        self._bytes: dict[int, bytes] = {}

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        """Token ids of ``text``."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=add_special_tokens)
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ``ids`` as they continue a text, special tokens left out."""
        return b"".join(map(self.token_bytes, ids)).decode("utf-8", "replace")

    def token_bytes(self, token_id: int) -> bytes:
        """What one token adds; nothing for special tokens and ids without a token."""
        known = self._bytes.get(token_id)
        if known is None:
            known = b"" if token_id in self.special_token_ids else self._spell(token_id)
            self._bytes[token_id] = known
        return known

    def render_chat(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """The model's chat template with its generation prompt, or plain ``role: content`` lines."""
        if not self._tokenizer.chat_template:
            return self.encode(plain_chat(messages))
        try:
            ids: list[int] = self._tokenizer.apply_chat_template(
                [dict(message) for message in messages], add_generation_prompt=True, return_dict=False
            )
        except Exception as error:
            raise RequestError(f"the model's chat template refuses these messages: {error}") from error
        return ids


def _speller(tokenizer: Any) -> Callable[[int], bytes]:
    kinds = _decoder_kinds(tokenizer)
    if "ByteLevel" in kinds:
        return lambda token_id: _byte_level(tokenizer.convert_ids_to_tokens(token_id))
    if kinds & {"ByteFallback", "Metaspace"} or hasattr(tokenizer, "sp_model"):
        return lambda token_id: _sentence_piece(tokenizer.convert_ids_to_tokens(token_id))
    anchor = next(iter(tokenizer.encode("a", add_special_tokens=False)), 0)
    before = tokenizer.decode([anchor])
    return lambda token_id: tokenizer.decode([anchor, token_id])[len(before) :].encode()


def _decoder_kinds(tokenizer: Any) -> set[str]:
    """The types of the fast tokenizer's decoder and its parts; empty for a slow one."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None or backend.decoder is None:
        return set()
    state = json.loads(backend.decoder.__getstate__())
    return {state["type"], *(part["type"] for part in state.get("decoders", ()))}


@cache
def _alphabet() -> dict[str, int]:
    """GPT-2's characters for bytes: printable Latin-1 stands for itself, the rest for 256 onward."""
    printable = {
        *range(ord("!"), ord("~") + 1),
        *range(ord("¡"), ord("¬") + 1),
        *range(ord("®"), ord("ÿ") + 1),
    }
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}


def _byte_level(token: str | None) -> bytes:
    alphabet = _alphabet()
    if token is None:
        return b""
    if all(character in alphabet for character in token):
        return bytes(alphabet[character] for character in token)
    return token.encode()


def _sentence_piece(token: str | None) -> bytes:
    if token is None:
        return b""
    byte = _BYTE_PIECE.fullmatch(token)
    return bytes((int(byte[1], 16),)) if byte else token.replace("▁", " ").encode()
