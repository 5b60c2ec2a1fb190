"""What a client gets: response bodies and stream chunks, in OpenAI's shapes.

``return_token_ids`` follows vLLM: ``token_ids`` with each choice (in a stream those of the chunk),
``prompt_token_ids`` beside them for completions and at the top for chats, in a stream on the first
chunk only. ``return_cached_tokens_details`` adds SGLang's own field, which its benchmark client reads.
``prompt_tokens_details.cached_tokens`` is always there: 0 means none, never unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

Json = dict[str, Any]

DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one HTTP request. A prompt asked for several answers counts once, as its first answer found it."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int

    def json(self) -> Json:
        """OpenAI's ``usage`` object."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
        }


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of one answer, or all of it. Ids are ``None`` where the client didn't ask for them."""

    choice: int
    text: str
    finish_reason: str | None
    token_ids: Sequence[int] | None = None
    prompt_token_ids: Sequence[int] | None = None


def event(body: Json) -> bytes:
    """``body`` as one server-sent event: a single line of UTF-8."""
    return b"data: " + orjson.dumps(body) + b"\n\n"


@dataclass(frozen=True, slots=True)
class Replies:
    """Builds every body of one HTTP request. ``cached_details`` adds SGLang's account of cached tokens."""

    kind: Literal["completion", "chat"]
    id: str
    created_s: int
    model: str
    cached_details: bool = False

    def whole(self, pieces: Sequence[Piece], usage: Usage) -> Json:
        """The body of a request that isn't streamed."""
        if self.kind == "completion":
            return self._head("text_completion", [_completion_choice(piece) for piece in pieces], usage)
        body = self._head("chat.completion", [_chat_choice(piece, "message") for piece in pieces], usage)
        return _with_prompt_ids(body, pieces[0])

    def chunk(self, piece: Piece, usage: Usage | None = None) -> Json:
        """One chunk of a stream; ``usage`` goes with the one that ends it."""
        if self.kind == "completion":
            return self._head("text_completion", [_completion_choice(piece)], usage)
        body = self._head("chat.completion.chunk", [_chat_choice(piece, "delta")], usage)
        return _with_prompt_ids(body, piece)

    def opening(self, choice: int) -> Json | None:
        """The chunk that says who speaks, before the first token of a chat."""
        if self.kind == "completion":
            return None
        delta = {"role": "assistant", "content": ""}
        return self._head(
            "chat.completion.chunk", [{"index": choice, "delta": delta, "finish_reason": None}], None
        )

    def closing(self, usage: Usage) -> Json:
        """The chunk without choices, for ``stream_options.include_usage``."""
        return self._head(
            "text_completion" if self.kind == "completion" else "chat.completion.chunk", [], usage
        )

    def _head(self, name: str, choices: list[Json], usage: Usage | None) -> Json:
        body: Json = {
            "id": self.id,
            "object": name,
            "created": self.created_s,
            "model": self.model,
            "choices": choices,
        }
        if usage is not None:
            body["usage"] = usage.json()
            if self.cached_details:
                body["sglext"] = {"cached_tokens_details": {"device": usage.cached_tokens, "host": 0}}
        return body


def _completion_choice(piece: Piece) -> Json:
    choice: Json = {
        "index": piece.choice,
        "text": piece.text,
        "logprobs": None,
        "finish_reason": piece.finish_reason,
    }
    if piece.token_ids is not None:
        choice["token_ids"] = piece.token_ids
    return _with_prompt_ids(choice, piece)


def _chat_choice(piece: Piece, name: Literal["message", "delta"]) -> Json:
    content = {"content": piece.text} if name == "delta" else {"role": "assistant", "content": piece.text}
    choice: Json = {
        "index": piece.choice,
        name: content,
        "logprobs": None,
        "finish_reason": piece.finish_reason,
    }
    if piece.token_ids is not None:
        choice["token_ids"] = piece.token_ids
    return choice


def _with_prompt_ids(body: Json, piece: Piece) -> Json:
    if piece.prompt_token_ids is not None:
        body["prompt_token_ids"] = piece.prompt_token_ids
    return body


def error_body(message: str, *, status: int, param: str | None = None) -> Json:
    """OpenAI's error object."""
    kinds = {401: "authentication_error", 404: "not_found_error"}
    kind = kinds.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": status}}
