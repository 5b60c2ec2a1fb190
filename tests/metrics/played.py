"""Runs played by the real engine with a scripted model: its tree, its scheduler, its step records.

What the client would have seen is written down from the engine's own events on a manual clock, so that races,
evictions and retractions are those of an engine and not of a second model of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from radixbench.capture.model import Run
from radixbench.records import RequestRecord
from tests.builders import make_request, make_run
from tests.engine.drive import Drive

Ids = tuple[int, ...]


@dataclass(slots=True)
class Asked:
    """One request: whose turn it is, its new tokens, and when at the earliest it is sent, in steps."""

    conversation: int
    new: Ids
    output: int = 2
    after_step: int = 0
    follows: int | None = None


@dataclass(slots=True)
class _Sent:
    prompt: Ids
    send_ns: int
    stamps: list[int] = field(default_factory=list)
    output: list[int] = field(default_factory=list)
    cached: int = 0
    done: bool = False


def play(asked: Sequence[Asked], *, held: Sequence[Ids] = (), **engine: int | str | None) -> Run:
    """Send each request when its step has come and the turn it follows has ended; note all there is to know."""
    drive = Drive(**engine)
    for place, ids in enumerate(held):
        drive.ask(f"held {place}", ids, max_tokens=1)
    drive.records.clear()
    sent: dict[int, _Sent] = {}
    step = 0
    while len(sent) < len(asked) or drive.engine.has_work:
        for number, one in enumerate(asked):
            if number not in sent and one.after_step <= step:
                before = None if one.follows is None else sent.get(one.follows)
                if one.follows is None or (before is not None and before.done):
                    prompt = one.new if before is None else (*before.prompt, *before.output, *one.new)
                    sent[number] = _Sent(prompt, drive.clock.now_ns())
                    drive.add(str(number), prompt, max_tokens=one.output)
                    drive.clock.advance(1)
        result = drive.step()
        step += 1
        for event in () if result is None else result.tokens:
            seen = sent[int(event.rid)]
            seen.stamps.append(drive.clock.now_ns())
            seen.output.append(event.token_id)
            seen.cached = event.cached_tokens
            seen.done = event.finish_reason is not None
    return _run(asked, sent, held, drive)


def _run(asked: Sequence[Asked], sent: dict[int, _Sent], held: Sequence[Ids], drive: Drive) -> Run:
    turns: dict[int, int] = {}
    records: list[RequestRecord] = []
    for number, one in enumerate(asked):
        seen = sent[number]
        turn = turns[number] = 0 if one.follows is None else turns[one.follows] + 1
        records.append(
            make_request(
                number,
                conversation=one.conversation,
                turn=turn,
                prompt_tokens=len(seen.prompt),
                cached=seen.cached,
                due_ns=seen.send_ns,
                send_ns=seen.send_ns,
                end_ns=seen.stamps[-1],
                chunk_ns=tuple(seen.stamps),
                chunk_tokens=(1,) * len(seen.stamps),
                output_tokens=len(seen.output),
                output_ids=tuple(seen.output),
            )
        )
    return make_run(
        records,
        prompts=[sent[number].prompt for number in range(len(asked))],
        held=held,
        args={"page_size": drive.engine.config.page_size},
        steps=tuple(drive.records),
        finishes=tuple(record for rid, record in drive.finished.items() if not rid.startswith("held")),
    )
