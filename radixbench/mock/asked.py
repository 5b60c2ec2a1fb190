"""What a request asks for: completion and chat bodies, read once and frozen.

Only what the mock acts on is read; other fields are accepted, as real servers accept them. One prompt and
one answer to a request: batches and ``n`` are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import orjson

from radixbench.engine.node import TOKEN_BYTES
from radixbench.errors import RequestError
from radixbench.mock.words import key_of_ids, key_of_messages, key_of_text

DEFAULT_MAX_TOKENS = 16

Kind = Literal["completion", "chat"]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request for an answer. ``prompt`` is a key of the cache, four bytes to a token.

    ``spoken``: the prompt was text, so its answer enters the cache as words, not as ids. ``namespace`` is what the
    salts say; ``reuse`` is llama.cpp's ``cache_prompt``. ``prompt_ids`` are echoed when ``return_token_ids`` asks.
    """

    kind: Kind
    prompt: bytes
    spoken: bool
    prompt_ids: tuple[int, ...] | None
    max_tokens: int
    ignore_eos: bool
    stream: bool
    include_usage: bool
    continuous_usage: bool
    return_token_ids: bool
    namespace: str
    reuse: bool
    rid: str | None
    model: str | None

    @property
    def prompt_tokens(self) -> int:
        """How many tokens the prompt has."""
        return len(self.prompt) // TOKEN_BYTES


def read_asked(kind: Kind, body: bytes, *, vocab_size: int, context_len: int) -> Asked:
    """A body as it came over the wire; raises ``RequestError``."""
    values = _object(body)
    if values.get("n") not in {None, 1}:
        raise RequestError("n must be 1: the mock gives one answer to a request")
    ids, key = _read_chat(values) if kind == "chat" else _read_prompt(values, vocab_size)
    options = values.get("stream_options") or {}
    if not isinstance(options, dict):
        raise RequestError("stream_options must be an object")
    asked = Asked(
        kind=kind,
        prompt=key,
        spoken=ids is None,
        prompt_ids=ids,
        max_tokens=_max_tokens(values, kind),
        ignore_eos=values.get("ignore_eos") is True,
        stream=values.get("stream") is True,
        include_usage=options.get("include_usage") is True,
        continuous_usage=options.get("continuous_usage_stats") is True,
        return_token_ids=values.get("return_token_ids") is True,
        namespace=_namespace(values),
        reuse=values.get("cache_prompt") is not False,
        rid=_text(values, "rid"),
        model=_text(values, "model"),
    )
    longest = asked.prompt_tokens + asked.max_tokens
    if longest > context_len:
        raise RequestError(f"prompt and answer have {longest} tokens, the context holds {context_len}")
    return asked


def _object(body: bytes) -> dict[str, Any]:
    try:
        values = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestError(f"the body is not valid JSON: {error}") from error
    if not isinstance(values, dict):
        raise RequestError("the body must be a JSON object")
    return values


def _read_prompt(values: dict[str, Any], vocab_size: int) -> tuple[tuple[int, ...] | None, bytes]:
    prompt = values.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], list | str):
        prompt = prompt[0]
    if isinstance(prompt, str) and prompt:
        return None, key_of_text(prompt)
    if not isinstance(prompt, list) or not prompt:
        raise RequestError("prompt must be one text or one list of token ids, not empty")
    try:
        key = key_of_ids(prompt)
    except (TypeError, OverflowError):
        raise RequestError("prompt must hold token ids") from None
    low, high = min(prompt), max(prompt)
    if low < 0 or high >= vocab_size:
        wrong = low if low < 0 else high
        raise RequestError(f"prompt holds token id {wrong}; the mock's run from 0 to {vocab_size - 1}")
    return tuple(prompt), key


def _read_chat(values: dict[str, Any]) -> tuple[None, bytes]:
    messages = values.get("messages")
    if not isinstance(messages, list) or not messages:
        raise RequestError("messages must be a list of messages, not empty")
    pairs = []
    for place, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise RequestError(f"messages[{place}] must be an object with a role")
        pairs.append((message["role"], _content(place, message.get("content"))))
    return None, key_of_messages(pairs)


def _content(place: int, content: object) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [None]
    texts = [part.get("text") if isinstance(part, dict) else None for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise RequestError(f"messages[{place}].content must be a text or a list of text parts")
    return "".join(str(text) for text in texts)


def _max_tokens(values: dict[str, Any], kind: Kind) -> int:
    names = ("max_completion_tokens", "max_tokens") if kind == "chat" else ("max_tokens",)
    for name in names:
        value = values.get(name)
        if value is not None:
            if type(value) is not int or value < 1:
                raise RequestError(f"{name} must be a whole number from 1")
            return value
    return DEFAULT_MAX_TOKENS


def _namespace(values: dict[str, Any]) -> str:
    given = ((name, _text(values, name)) for name in ("cache_salt", "extra_key"))
    return "\0".join(f"{name}={text}" for name, text in given if text)


def _text(values: dict[str, Any], name: str) -> str | None:
    value = values.get(name)
    if value is not None and not isinstance(value, str):
        raise RequestError(f"{name} must be a string")
    return value
