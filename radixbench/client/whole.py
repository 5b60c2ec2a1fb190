"""Answers that come in one piece: control calls, completions without a stream, refusals."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from radixbench.client.answer import ABORTED, Answer, one_line, read_error, read_ids, read_usage
from radixbench.client.words import Words


class Reply(NamedTuple):
    """Status and body of a small exchange; without a status the body says why there was no answer."""

    status: int | None
    body: bytes

    @property
    def text(self) -> str:
        """The body as one line of text."""
        return one_line(self.body.decode(errors="replace"))

    def document(self) -> dict[str, Any] | None:
        """The body as a JSON object; ``None`` if it is none or the status isn't 200."""
        document = self._json()
        return document if isinstance(document, dict) else None

    def items(self) -> list[dict[str, Any]]:
        """The objects of a body that is a JSON array; empty if it is none or the status isn't 200."""
        document = self._json()
        return [item for item in document if isinstance(item, dict)] if isinstance(document, list) else []

    def _json(self) -> Any:
        if self.status != 200:
            return None
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError:
            return None


def refusal(reply: Reply) -> str:
    """Why an answer that is no event stream isn't one."""
    try:
        message = read_error(orjson.loads(reply.body))
    except orjson.JSONDecodeError:
        message = None
    if reply.status == 200 and message is None:
        return "the server answered in one piece instead of a stream"
    return f"HTTP {reply.status}: {message or reply.text or 'no reason given'}"


def whole_answer(reply: Reply, send_ns: int, end_ns: int) -> Answer:
    """An answer in one piece; failed with a reason unless it has a choice."""
    document = reply.document() or {}
    choices = document.get("choices")
    if not choices or not isinstance(choices, list) or not isinstance(choices[0], dict):
        error = reply.text if reply.status is None else refusal(reply)
        return Answer(send_ns, end_ns, "failed", http_status=reply.status, error=error)
    choice, usage = choices[0], document.get("usage")
    reason, model = choice.get("finish_reason"), document.get("model")
    if reason in ABORTED:
        error = f"the server reported: the answer ended with {reason!r}"
        return Answer(send_ns, end_ns, "failed", http_status=reply.status, error=error)
    words = Words()
    words.take(choice)
    count = words.count()
    return Answer(
        send_ns,
        end_ns,
        "completed",
        usage=read_usage(usage if isinstance(usage, dict) else {}),
        output_ids=read_ids(choice.get("token_ids")),
        finish_reason=reason,
        http_status=reply.status,
        text=words.joined(),
        model=model if isinstance(model, str) else None,
        content_chars=count.content,
        reasoning_chars=count.reasoning,
        blank_chars=count.blank,
        json_like=words.json_like(),
    )
