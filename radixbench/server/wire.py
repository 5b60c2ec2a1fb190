"""What a client asks for: request bodies, read once and frozen.

The shapes are OpenAI's, with the additions that SGLang and vLLM share (``ignore_eos``,
``stop_token_ids``, ``extra_key``, ``cache_salt``, ``rid``, ``return_token_ids``,
``return_cached_tokens_details``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from radixbench.server.fields import Fields, json_type

DEFAULT_COMPLETION_TOKENS = 16

_MOST_CHOICES = 1024
_MOST_STOPS = 64
_LONGEST_STOP = 1024
_LONGEST_NAME = 256
_LONGEST_SALT = 1024
_INT64_MAX = 2**63 - 1
_SYSTEM_ROLES = {"developer": "system"}
_ROLES = ("system", "developer", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class Options:
    """What completions and chats have in common.

    ``max_tokens`` ``None``: the endpoint's default. ``namespace`` keeps cached prefixes apart.
    """

    n: int
    max_tokens: int | None
    temperature: float
    top_p: float
    seed: int | None
    stop: tuple[str, ...]
    stop_token_ids: frozenset[int]
    ignore_eos: bool
    stream: bool
    include_usage: bool
    return_token_ids: bool
    return_cached_details: bool
    namespace: str
    rid: str | None


@dataclass(frozen=True, slots=True)
class CompletionBody:
    """``/v1/completions``: each prompt is text or token ids."""

    prompts: tuple[str | tuple[int, ...], ...]
    echo: bool
    options: Options


@dataclass(frozen=True, slots=True)
class ChatBody:
    """``/v1/chat/completions``: each message has a ``role`` and a ``content``."""

    messages: tuple[dict[str, str], ...]
    options: Options


def read_completion(values: dict[str, Any], *, vocab_size: int) -> CompletionBody:
    """A completion body; raises ``FieldError``."""
    fields = Fields(values)
    options = _read_options(fields, ("max_tokens",), vocab_size)
    prompts = _read_prompts(fields, vocab_size)
    if len(prompts) * options.n > _MOST_CHOICES:
        raise fields.error("prompt", f"asks for more than {_MOST_CHOICES} answers")
    return CompletionBody(prompts=prompts, echo=fields.boolean("echo"), options=options)


def read_chat(values: dict[str, Any], *, vocab_size: int) -> ChatBody:
    """A chat body; raises ``FieldError``."""
    fields = Fields(values)
    options = _read_options(fields, ("max_completion_tokens", "max_tokens"), vocab_size)
    return ChatBody(messages=_read_messages(fields), options=options)


def _read_options(fields: Fields, max_names: tuple[str, ...], vocab_size: int) -> Options:
    fields.text("model", longest=_LONGEST_NAME)
    limits = [fields.integer(name, low=1, high=_INT64_MAX) for name in max_names]
    temperature = fields.number("temperature", low=0.0, high=100.0)
    top_p = fields.number("top_p", low=0.0, high=1.0)
    if top_p == 0.0:
        raise fields.error("top_p", "must be more than 0")
    return Options(
        n=fields.integer("n", low=1, high=128) or 1,
        max_tokens=next((limit for limit in limits if limit is not None), None),
        temperature=1.0 if temperature is None else temperature,
        top_p=1.0 if top_p is None else top_p,
        seed=fields.integer("seed", low=-_INT64_MAX - 1, high=_INT64_MAX),
        stop=fields.texts("stop", most=_MOST_STOPS, longest=_LONGEST_STOP),
        stop_token_ids=frozenset(fields.token_ids("stop_token_ids", vocab_size=vocab_size)),
        ignore_eos=fields.boolean("ignore_eos"),
        stream=fields.boolean("stream"),
        include_usage=fields.inner("stream_options").boolean("include_usage"),
        return_token_ids=fields.boolean("return_token_ids"),
        return_cached_details=fields.boolean("return_cached_tokens_details"),
        namespace=_read_namespace(fields),
        rid=fields.text("rid", longest=_LONGEST_NAME) or None,
    )


def _read_namespace(fields: Fields) -> str:
    keys = (fields.text(name, longest=_LONGEST_SALT) for name in ("cache_salt", "extra_key"))
    given = [f"{name}={key}" for name, key in zip(("cache_salt", "extra_key"), keys, strict=True) if key]
    return "\0".join(given)


def _read_prompts(fields: Fields, vocab_size: int) -> tuple[str | tuple[int, ...], ...]:
    value = fields.required("prompt")
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not value:
        raise fields.error("prompt", "must be a text, token ids, or a list of either, not empty")
    if isinstance(value[0], str):
        if not all(isinstance(text, str) for text in value):
            raise fields.error("prompt", "must not mix texts with anything else")
        return tuple(value)
    if not isinstance(value[0], list):
        return (fields.checked_ids("prompt", value, vocab_size=vocab_size),)
    prompts = []
    for place, ids in enumerate(value):
        if not isinstance(ids, list) or not ids:
            raise fields.error(f"prompt[{place}]", "must be a list of token ids, not empty")
        prompts.append(fields.checked_ids(f"prompt[{place}]", ids, vocab_size=vocab_size))
    return tuple(prompts)


def _read_messages(fields: Fields) -> tuple[dict[str, str], ...]:
    value = fields.required("messages")
    if not isinstance(value, list) or not value:
        raise fields.error("messages", "must be a list of messages, not empty")
    return tuple(_read_message(fields, place, item) for place, item in enumerate(value))


def _read_message(fields: Fields, place: int, item: object) -> dict[str, str]:
    if not isinstance(item, dict):
        raise fields.error(f"messages[{place}]", f"must be an object, not {json_type(item)}")
    message = Fields(item, f"messages[{place}].")
    role = message.required("role")
    if role not in _ROLES:
        raise message.error("role", f"must be one of {', '.join(_ROLES)}")
    return {"role": _SYSTEM_ROLES.get(role, role), "content": _read_content(message)}


def _read_content(message: Fields) -> str:
    value = message.raw("content")
    if value is None or isinstance(value, str):
        return value or ""
    if not isinstance(value, list):
        raise message.error("content", f"must be a text or a list of parts, not {json_type(value)}")
    parts = []
    for place, item in enumerate(value):
        if not isinstance(item, dict) or item.get("type") != "text" or not isinstance(item.get("text"), str):
            raise message.error(f"content[{place}]", 'must be {"type": "text", "text": …}')
        parts.append(item["text"])
    return "".join(parts)
