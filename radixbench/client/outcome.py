"""What playing a workload comes to: one record for every request, and what was sent.

A request of the plan is completed, failed with the fault in one line, or cancelled with the reason. Only
what the bound by time leaves out, because it wasn't due within it, leaves no record: it was never asked
for, and a share of completed requests doesn't count it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from radixbench.client.answer import Answer
from radixbench.records import RequestRecord
from radixbench.units import Nanoseconds, Tokens
from radixbench.workloads.conversation import Conversation, TokenIds

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What playing a workload measured, by prompt number.

    ``prompts`` holds the exact ids of each prompt that was sent, as sequences that share their parts. ``stopped``
    says why playing ended before its bounds, ``None`` when it didn't. ``planned`` is how many requests the
    conversations within the bound by number have: more than ``records`` where time was up first. Its ``repr`` is
    short, since asyncio takes that of a task's result whenever it looks at signal handlers.
    """

    records: tuple[RequestRecord, ...] = field(repr=False)
    prompts: dict[int, TokenIds] = field(repr=False)
    stopped: str | None = None
    planned: int = 0


@dataclass(slots=True)
class Outcome:
    """Grows while a workload of ``planned`` requests is played; ``on_progress`` hears of every record.

    ``on_failure`` hears of every failed one, before that. ``keep_text`` keeps the answers' text in the records, which a history of messages alone doesn't ask for.
    """

    planned: int
    keep_text: bool
    on_progress: OnProgress | None = None
    on_failure: Callable[[], None] | None = None
    prompts: dict[int, TokenIds] = field(default_factory=dict)
    _records: dict[int, RequestRecord] = field(default_factory=dict)

    def add(
        self,
        conversation: Conversation,
        place: int,
        answer: Answer,
        *,
        due_ns: Nanoseconds | None = None,
        sent_tokens: Tokens = 0,
    ) -> None:
        """Record the answer to turn ``place``, due when it was sent unless ``due_ns`` says otherwise."""
        turn = conversation.turns[place]
        self._records[turn.prompt] = RequestRecord(
            rid=answer.server_rid or f"prompt-{turn.prompt}",
            prompt=turn.prompt,
            conversation=conversation.index,
            turn=place,
            group=conversation.group,
            requested_tokens=turn.output_len,
            sent_prompt_tokens=sent_tokens,
            due_ns=answer.send_ns if due_ns is None else due_ns,
            send_ns=answer.send_ns,
            end_ns=answer.end_ns,
            status=answer.status,
            chunk_ns=answer.chunk_ns,
            chunk_tokens=answer.chunk_tokens,
            prompt_tokens=answer.usage.prompt_tokens,
            output_tokens=answer.usage.output_tokens,
            output_source=answer.output_source,
            cached_tokens=answer.usage.cached_tokens,
            output_ids=answer.output_ids,
            finish_reason=answer.finish_reason,
            http_status=answer.http_status,
            error=answer.error,
            text=answer.text if self.keep_text else None,
            model=answer.model,
            content_chars=answer.content_chars,
            reasoning_chars=answer.reasoning_chars,
            blank_chars=answer.blank_chars,
            json_like=answer.json_like,
        )
        if self.on_failure is not None and answer.status == "failed":
            self.on_failure()
        if self.on_progress is not None:
            self.on_progress(len(self._records), self.planned)

    def give_up(self, conversation: Conversation, why: str, now_ns: Nanoseconds) -> None:
        """Record what is never sent: every turn without a record. Its stamps say when that was decided."""
        for place, turn in enumerate(conversation.turns):
            if turn.prompt not in self._records:
                self.add(conversation, place, Answer(now_ns, now_ns, "cancelled", error=why))

    def result(self, stopped: str | None) -> LoadResult:
        """Everything recorded."""
        records = tuple(self._records[prompt] for prompt in sorted(self._records))
        return LoadResult(records=records, prompts=self.prompts, stopped=stopped, planned=self.planned)
