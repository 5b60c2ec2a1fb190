"""What one streamed completion says, event by event. Pure: bytes and stamps in, an ``Answer`` out.

An event carries tokens when it says so by ``token_ids`` or, where the server sends none, when it brings
text on any channel: ``text``, ``content``, ``reasoning_content``, ``reasoning`` or a tool call. Role-only,
empty, comment and usage-only events carry none. How many tokens: as many as it has ids; else what a usage
count kept on every event says; else 1, and the sum then falls short of the usage at the end, which
shows that chunks aren't tokens. Text is only put aside here; it is counted once, when the answer is taken.
"""

from __future__ import annotations

from typing import Any

import orjson

from radixbench.client.answer import ABORTED, Answer, Usage, one_line, read_error, read_ids, read_usage
from radixbench.client.response import Pieces
from radixbench.client.sse import EventStreamError, SseParser
from radixbench.client.words import Words
from radixbench.records import RequestStatus, TokenSource


class CompletionStream:
    """One response being read; ``feed`` it, then take its ``answer``.

    ``keep_text`` keeps the text of all channels, joined in the order it came.
    """

    __slots__ = (
        "_chunk_ns",
        "_chunk_tokens",
        "_continuous",
        "_counted",
        "_ids",
        "_keep_text",
        "_parser",
        "_usage",
        "_words",
        "bearing",
        "done",
        "error",
        "finish_reason",
        "last_event_ns",
        "last_progress_ns",
        "model",
        "server_rid",
    )

    def __init__(self, *, keep_text: bool = False) -> None:
        self._parser = SseParser()
        self._chunk_ns: list[int] = []
        self._chunk_tokens: list[int] = []
        self._counted = 0
        self._ids: list[int] | None = None
        self._keep_text = keep_text
        self._words = Words()
        self._usage: dict[str, Any] | None = None
        self._continuous: bool | None = None
        self.finish_reason: str | None = None
        self.server_rid: str | None = None
        self.model: str | None = None
        self.error: str | None = None
        self.done = False
        self.bearing = 0  # reads that brought tokens
        self.last_event_ns: int | None = None
        self.last_progress_ns: int | None = None

    def feed(self, data: bytes, at_ns: int) -> None:
        """Take in bytes that were read at ``at_ns``. Raises ``EventStreamError`` for what is no event."""
        self.feed_all([(at_ns, data)])

    def feed_all(self, pieces: Pieces) -> None:
        """Take in what several reads brought, each at its own time; raises as ``feed``."""
        cut, stamps = self._parser.feed, self._chunk_ns
        for at_ns, data in pieces:
            before = len(stamps)
            for payload in cut(data):
                self._event(payload, at_ns)
            if len(stamps) > before:
                self.bearing += 1

    def close(self, at_ns: int) -> None:
        """The stream ended at ``at_ns``: take in a last event that lacks its empty line."""
        for payload in self._parser.close():
            self._event(payload, at_ns)

    @property
    def complete(self) -> bool:
        """The server said that the answer is whole: by a finish reason or the end mark."""
        return self.error is None and (self.done or self.finish_reason is not None)

    @property
    def chunks(self) -> int:
        """How many events carried tokens so far."""
        return len(self._chunk_ns)

    def _event(self, payload: bytes, at_ns: int) -> None:
        if self.done or self.error is not None:
            return
        self.last_event_ns = at_ns
        try:
            event = orjson.loads(payload)
        except orjson.JSONDecodeError as error:
            if payload != b"[DONE]":
                raise EventStreamError(
                    f"an event isn't JSON: {one_line(payload.decode(errors='replace'), 80)}"
                ) from error
            self.done = True
            return
        if not isinstance(event, dict):
            raise EventStreamError(f"an event is no object: {one_line(str(event), 80)}")
        self._take(event, at_ns)

    def _take(self, event: dict[str, Any], at_ns: int) -> None:
        if event.get("error") or event.get("object") == "error":
            self.error = read_error(event)
            return
        usage = event.get("usage")
        if not isinstance(usage, dict):
            usage = None
        else:
            self._usage = usage
        if self.server_rid is None:
            self._introduce(event)
        choices = event.get("choices")
        if choices and isinstance(choices, list) and isinstance(choices[0], dict):
            self._choice(choices[0], usage, at_ns)

    def _introduce(self, event: dict[str, Any]) -> None:
        """Who answers, by the first event that says so."""
        if isinstance(rid := event.get("id"), str):
            self.server_rid = rid
        if self.model is None and isinstance(model := event.get("model"), str):
            self.model = model

    def _choice(self, choice: dict[str, Any], usage: dict[str, Any] | None, at_ns: int) -> None:
        said = self._words.take(choice)
        ids = choice.get("token_ids")
        if isinstance(ids, list):
            if self._ids is None:
                self._ids = []
            self._ids += ids
            count = len(ids)
        else:
            count = self._tokens_of_text(usage) if said else 0
        if count:
            self._chunk_ns.append(at_ns)
            self._chunk_tokens.append(count)
            self._counted += count
            self.last_progress_ns = at_ns
        reason = choice.get("finish_reason")
        if reason is not None:
            self.finish_reason = str(reason)
            if reason in ABORTED:
                self.error = f"the answer ended with {reason!r}"

    def _tokens_of_text(self, usage: dict[str, Any] | None) -> int:
        """Tokens of an event without ids. Usage counts only if it came with the first such event too."""
        if self._continuous is None:
            self._continuous = usage is not None
        output = read_usage(usage).output_tokens if usage is not None and self._continuous else None
        return max(1, output - self._counted) if output else 1

    def answer(
        self,
        *,
        send_ns: int,
        end_ns: int,
        status: RequestStatus,
        http_status: int | None,
        error: str | None = None,
        refused: bool = False,
    ) -> Answer:
        """Everything read so far as a value."""
        usage = read_usage(self._usage or {})
        output, source = self._output(usage)
        count = self._words.count()
        return Answer(
            send_ns=send_ns,
            end_ns=end_ns,
            status=status,
            chunk_ns=tuple(self._chunk_ns),
            chunk_tokens=tuple(self._chunk_tokens),
            usage=Usage(usage.prompt_tokens, output, usage.cached_tokens),
            output_source=source,
            output_ids=read_ids(self._ids),
            finish_reason=self.finish_reason,
            server_rid=self.server_rid,
            http_status=http_status,
            error=error,
            text=self._words.joined() if self._keep_text else None,
            content=self._words.content() if self._keep_text else None,
            refused=refused,
            model=self.model,
            content_chars=count.content,
            reasoning_chars=count.reasoning,
            blank_chars=count.blank,
            json_like=self._words.json_like(),
        )

    def _output(self, usage: Usage) -> tuple[int | None, TokenSource | None]:
        if usage.output_tokens is not None:
            return usage.output_tokens, "usage"
        if self._ids is not None:
            return len(self._ids), "token_ids"
        if not self._chunk_ns and not self.complete:
            return None, None
        return self._counted, "chunks"
