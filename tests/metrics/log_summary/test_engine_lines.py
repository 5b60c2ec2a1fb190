"""The lines of a real scheduler, of which the truth is known: how many prompts, how many tokens, what was reused."""

from __future__ import annotations

import random

import pytest

from radixbench.logs.record import LogRecord
from radixbench.records import StepRecord
from tests.engine.drive import Drive
from tests.metrics.log_summary.records import arguments, decode, event, prefill, summarise

CHUNK = 512
REQUESTS = 30
INTERVAL = 40


def _served(
    seed: int, *, at_once: int, length: int | None = None, answer: int = 60, **config: float
) -> Drive:
    """Requests of which half share a prefix, or all of one length, at most ``at_once`` at a time."""
    chance = random.Random(seed)
    drive = Drive(**{"pool": 60_000, "chunked_prefill_size": CHUNK, "max_running_requests": 64, **config})
    shared = [chance.randrange(1000) for _ in range(700)]
    asked = 0
    while len(drive.finished) < REQUESTS:
        while asked < REQUESTS and asked - len(drive.finished) < at_once:
            own = [chance.randrange(1000) for _ in range(length or chance.choice((90, 350, 1100, 2500)))]
            prefix = shared[: chance.randrange(100, 700)] if length is None and chance.random() < 0.5 else []
            drive.add(f"r{asked}", prefix + own, chance.randrange(1, answer))
            asked += 1
        assert drive.step() is not None
    return drive


def _printed(steps: list[StepRecord], *, pending: bool) -> list[LogRecord]:
    """As SGLang prints them: every prefill batch, every fortieth decode step, retractions."""
    log = []
    decoded = 0
    for step in steps:
        at = step.start_ns // 10**9
        if step.retracted_req:
            log.append(event("retract", at=at, retracted_reqs=step.retracted_req))
        if step.phase == "prefill":
            more = {"pending_token": step.pending_tokens} if pending else {}
            log.append(
                prefill(
                    step.new_tokens, step.cached_tokens, at=at, new_seq=step.new_seq, running_req=step.running_req,
                    queue_req=step.queue_req, **more,
                )
            )  # fmt: skip
        else:
            decoded += 1
            if decoded % INTERVAL == 0:
                log.append(decode(step.running_req, 100.0, at=at, queue_req=step.queue_req))
    return log


@pytest.mark.parametrize("at_once", [1, 2, 8, 100])
@pytest.mark.parametrize("length", [None, 256, 512, 1024, 2048])
def test_pending_tokens_give_the_exact_number_of_prompts(at_once: int, length: int | None) -> None:
    """Whatever the lengths, and however many requests at once, each prompt is counted once (0.5.11 and later)."""
    drive = _served(1, at_once=at_once, length=length)
    log = [arguments(chunked_prefill_size=CHUNK, page_size=1), *_printed(drive.records, pending=True)]
    assert summarise(log).prefill.prompts == REQUESTS


@pytest.mark.parametrize("at_once", [1, 2, 8, 100])
@pytest.mark.parametrize("stated", [True, False])
def test_mixed_lengths_need_no_pending_tokens(at_once: int, stated: bool) -> None:
    """With prompts of many lengths the full lines are enough, whether the chunk size is stated or has to be found."""
    drive = _served(2, at_once=at_once)
    log = _printed(drive.records, pending=False)
    summary = summarise([arguments(chunked_prefill_size=CHUNK), *log] if stated else log)
    assert summary.prefill.prompts is not None
    assert abs(summary.prefill.prompts - REQUESTS) <= 1


def test_retracted_requests_are_counted_out() -> None:
    """A pool too small for all of them: some come back, and are prompts once."""
    drive = _served(3, at_once=12, length=150, answer=300, pool=1500, schedule_conservativeness=0.1)
    assert sum(step.retracted_req for step in drive.records) > 0
    log = [arguments(chunked_prefill_size=CHUNK, page_size=1), *_printed(drive.records, pending=True)]
    summary = summarise(log)
    assert summary.prefill.prompts == REQUESTS
    assert summary.prefill.readmissions == sum(step.retracted_req for step in drive.records)


def test_reuse_is_what_the_requests_say() -> None:
    """Without retraction the lines' cached tokens are those of the finished requests."""
    drive = _served(4, at_once=8)
    found = summarise(_printed(drive.records, pending=True)).prefill
    assert found.cached_tokens == sum(record.cached_input_len for record in drive.finished.values())
    assert found.new_tokens is not None
    assert found.new_tokens + found.cached_tokens == sum(
        record.input_len for record in drive.finished.values()
    )
