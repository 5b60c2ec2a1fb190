"""What came back for one request, before it is known which place in a workload it had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from radixbench.records import RequestStatus, TokenSource

ABORTED = frozenset({"abort", "error"})
"""Finish reasons of an answer that its server gave up (SGLang, vLLM): no answer to measure."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The server's word on token counts; ``None`` where it says nothing believable."""

    prompt_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One response as seen by the client; stamps in nanoseconds of the monotonic clock.

    ``chunk_ns`` and ``chunk_tokens`` are as in ``RequestRecord`` (empty for a response that wasn't streamed).
    ``server_rid`` is the server's id of the request. ``refused`` says that nobody listens any more. ``model`` and
    the three counts of characters and ``json_like`` are as in ``RequestRecord``. ``content`` is ``text`` without the
    reasoning.
    """

    send_ns: int
    end_ns: int
    status: RequestStatus
    chunk_ns: tuple[int, ...] = ()
    chunk_tokens: tuple[int, ...] = ()
    usage: Usage = Usage()
    output_source: TokenSource | None = None
    output_ids: tuple[int, ...] | None = None
    finish_reason: str | None = None
    server_rid: str | None = None
    http_status: int | None = None
    error: str | None = None
    text: str | None = None
    refused: bool = False
    model: str | None = None
    content_chars: int | None = None
    reasoning_chars: int | None = None
    blank_chars: int | None = None
    json_like: bool | None = None
    content: str | None = None


def read_usage(usage: dict[str, Any]) -> Usage:
    """The counts of a ``usage`` object.

    A prompt of 0 tokens beside generated ones is a server's placeholder, not a count, and reads as unknown
    (as does anything that isn't a whole number from 0 on).
    """
    prompt = _count(usage.get("prompt_tokens"))
    output = _count(usage.get("completion_tokens"))
    details = usage.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
    if prompt == 0 and output:
        prompt = None
    return Usage(prompt_tokens=prompt, output_tokens=output, cached_tokens=cached)


def read_ids(ids: Any) -> tuple[int, ...] | None:
    """Token ids as a server sent them; ``None`` for anything that is no list of whole numbers."""
    if isinstance(ids, list) and all(_count(token) is not None for token in ids):
        return tuple(ids)
    return None


def read_error(body: Any) -> str | None:
    """The message of an error object in one of the shapes servers use, on one line; ``None`` without one."""
    error = body.get("error", body.get("detail")) if isinstance(body, dict) else None
    if isinstance(error, dict):
        error = error.get("message") or error
    elif not error and isinstance(body, dict) and body.get("object") == "error":
        error = body.get("message") or body
    return one_line(str(error)) if error else None


def one_line(text: str, limit: int = 300) -> str:
    """``text`` without line breaks, cut after ``limit`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
