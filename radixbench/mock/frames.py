"""The bodies of an answer, whole or event by event, in OpenAI's shapes.

``return_token_ids`` follows vLLM: ``token_ids`` with each choice, the prompt's on the first event.
"""

from __future__ import annotations

from typing import NamedTuple

import orjson

from radixbench.mock.answer import Answer, Json
from radixbench.mock.settings import Dialect, MockSettings

_LINE_ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}


class Frame(NamedTuple):
    """One server-sent event and how many tokens of the answer it carries."""

    data: bytes
    tokens: int


class Frames:
    """Builds the events of one answer."""

    def __init__(self, answer: Answer, settings: MockSettings, created_s: int) -> None:
        self._answer = answer
        self._shape = settings.shape
        self._dialect: Dialect = settings.dialect
        self._line_end = _LINE_ENDS[settings.shape.line_end]
        self._chat = answer.asked.kind == "chat"
        self._continuous = answer.tells_usage and (
            settings.reporting.usage == "continuous" or answer.asked.continuous_usage
        )
        self._usage_last = answer.tells_usage and settings.reporting.usage == "last"
        self._usage_apart = answer.tells_usage and (
            settings.reporting.usage == "always"
            or (settings.reporting.usage in {"asked", "continuous"} and answer.asked.include_usage)
        )
        self._head: Json = {
            "id": answer.id,
            "object": "chat.completion.chunk" if self._chat else "text_completion",
            "created": created_s,
            "model": answer.model,
        }

    def opening(self) -> list[Frame]:
        """What a stream starts with, before any token: who speaks, and an event without choices."""
        events = []
        if self._shape.empty_choices:
            events.append(self._frame(self._head | {"choices": []}))
        if self._chat and self._shape.role_chunk:
            events.append(self._frame(self._event({"role": "assistant", "content": ""}, None)))
        return events

    def tokens(self, start: int, stop: int) -> Frame:
        """The event with tokens ``start`` up to ``stop`` of the answer."""
        last = stop == len(self._answer.token_ids)
        reason = self._answer.reason if last and not self._shape.finish_apart else None
        text = "".join(self._answer.words[start:stop])
        body = self._event(self._channel(text, start), reason)
        if self._answer.asked.return_token_ids:
            body["choices"][0]["token_ids"] = self._answer.token_ids[start:stop]
            if start == 0:
                (body if self._chat else body["choices"][0])["prompt_token_ids"] = (
                    self._answer.asked.prompt_ids
                )
        if self._continuous or (reason is not None and self._usage_last):
            body["usage"] = self._answer.usage(stop)
        if reason is not None and self._dialect == "llamacpp":
            body["timings"] = self._timings()
        return self._frame(body, stop - start)

    def closing(self) -> list[Frame]:
        """What follows the last token: a finish reason of its own, the usage, the end mark."""
        events, total = [], len(self._answer.token_ids)
        if self._shape.finish_apart or not total:
            body = self._event(self._channel("", total), self._answer.reason)
            if self._continuous or self._usage_last:
                body["usage"] = self._answer.usage(total)
            events.append(self._frame(body))
        if self._usage_apart:
            events.append(self._frame(self._head | {"choices": [], "usage": self._answer.usage(total)}))
        if self._answer.ends_done:
            events.append(Frame(b"data: [DONE]" + 2 * self._line_end, 0))
        return events

    def error(self) -> Frame:
        """An error in the middle of a stream."""
        return self._frame(error_body("the mock was told to fail here", 500))

    def comment(self) -> Frame:
        """A line that parsers skip."""
        return Frame(b": ping" + 2 * self._line_end, 0)

    def whole(self) -> bytes:
        """The body of an answer in one piece."""
        answer, text = self._answer, "".join(self._answer.words)
        choice: Json = {"index": 0, "logprobs": None, "finish_reason": answer.reason}
        body = self._head | {"choices": [choice]}
        if self._chat:
            body["object"] = "chat.completion"
            size = self._shape.tokens_per_frame
            cut = -(-self._shape.reasoning_tokens // size) * size if self._shape.reasoning != "none" else 0
            choice["message"] = {"role": "assistant", "content": "".join(answer.words[cut:])}
            if cut:
                choice["message"][self._shape.reasoning] = "".join(answer.words[:cut])
        else:
            choice["text"] = text
        if answer.asked.return_token_ids:
            choice["token_ids"] = answer.token_ids
            (body if self._chat else choice)["prompt_token_ids"] = answer.asked.prompt_ids
        if answer.tells_usage:
            body["usage"] = answer.usage(len(answer.token_ids))
        if self._dialect == "llamacpp":
            body["timings"] = self._timings()
        return orjson.dumps(body)

    def _channel(self, text: str, start: int) -> Json:
        if not self._chat:
            return {"text": text}
        if self._shape.reasoning != "none" and start < self._shape.reasoning_tokens:
            return {"content": None, self._shape.reasoning: text}
        return {"content": text}

    def _event(self, said: Json, reason: str | None) -> Json:
        choice: Json = {"index": 0, "logprobs": None, "finish_reason": reason}
        choice |= {"delta": said} if self._chat else said
        return self._head | {"choices": [choice]}

    def _timings(self) -> Json:
        """llama.cpp's counts: ``prompt_n`` leaves out the cached tokens."""
        answer = self._answer
        cached = answer.found.total if answer.told_cached is None else answer.told_cached
        return {
            "cache_n": cached,
            "prompt_n": answer.asked.prompt_tokens - cached,
            "predicted_n": len(answer.token_ids),
        }

    def _frame(self, body: Json, tokens: int = 0) -> Frame:
        return Frame(b"data: " + orjson.dumps(body) + 2 * self._line_end, tokens)


def error_body(message: str, status: int) -> Json:
    """OpenAI's error object."""
    kind = {404: "not_found_error", 429: "rate_limit_error"}.get(
        status, "invalid_request_error" if status < 500 else "server_error"
    )
    return {"error": {"message": message, "type": kind, "param": None, "code": status}}
