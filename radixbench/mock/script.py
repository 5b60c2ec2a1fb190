"""The packets of one response, computed before they are sent: which bytes, when, and how it ends.

Pure and lazy: whoever sends takes the next packet while it waits for it to be due. All times count from the moment
the request came in complete, so that a schedule never drifts by what a write costs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

import orjson

from radixbench.mock.answer import Answer
from radixbench.mock.frames import Frame, Frames, error_body
from radixbench.mock.packets import Packet, cut_off, packed, split_up
from radixbench.mock.settings import MockSettings
from radixbench.mock.which import Which
from radixbench.units import NS_PER_S

STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    b"Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
)
_LAST_CHUNK = b"0\r\n\r\n"
_FOREVER_S = 1e9
_REASONS = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    429: "Too Many Requests",
    503: "Service Unavailable",
}


class Beat(NamedTuple):
    """Events that leave together; ``last`` ends the stream."""

    due_ns: int
    frames: tuple[Frame, ...]
    last: bool = False


def whole_head(status: int, length: int, *, kind: str = "application/json", extra: str = "") -> bytes:
    """The head of a response in one piece; ``extra`` are header lines, each ended."""
    return (
        f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {length}\r\n{extra}\r\n"
    ).encode()


def refusal(status: int, message: str, settings: MockSettings) -> Iterator[Packet]:
    """A status instead of an answer, at once."""
    body = orjson.dumps(error_body(message, status))
    after = settings.faults.retry_after_s
    extra = "" if after is None or status not in {429, 503} else f"Retry-After: {after:g}\r\n"
    yield Packet(0, whole_head(status, len(body), extra=extra) + body, ending="keep")


def script(answer: Answer, settings: MockSettings, frames: Frames) -> Iterator[Packet]:
    """The answer as the request wants it, streamed or in one piece."""
    whole = _streamed if answer.asked.stream else _in_one_piece
    return split_up(cut_off(whole(answer, settings, frames), answer.number, settings), settings)


def _in_one_piece(answer: Answer, settings: MockSettings, frames: Frames) -> Iterator[Packet]:
    """Due when the last event of a stream would be."""
    body = frames.whole()
    *_, due_ns = _dues(answer, settings)
    parts = [(whole_head(200, len(body)), 0), (body, len(answer.token_ids))]
    yield packed(due_ns, parts, "keep")


def _streamed(answer: Answer, settings: MockSettings, frames: Frames) -> Iterator[Packet]:
    beats = _grouped(_commented(_beats(answer, settings, frames), settings, frames), settings)
    head = STREAM_HEAD
    if settings.shape.early_head:
        yield Packet(0, head)
        head = b""
    for beat in _pinged(beats, settings, frames):
        parts = [(frame.data, frame.tokens) for frame in beat.frames]
        size = sum(len(data) for data, _ in parts)
        chunk = [(head + b"%x\r\n" % size, 0), *parts, (b"\r\n", 0)]
        if beat.last:
            chunk.append((_LAST_CHUNK, 0))
        yield packed(beat.due_ns, chunk, "keep" if beat.last else "more")
        head = b""


def _dues(answer: Answer, settings: MockSettings) -> list[int]:
    """When each event with tokens is due; an empty answer has one moment, its end."""
    pace = settings.pace
    random_ = random.Random(f"{settings.seed}/{answer.number}")

    def wait(seconds: float) -> float:
        return (
            seconds * NS_PER_S * (random_.uniform(1 - pace.jitter, 1 + pace.jitter) if pace.jitter else 1.0)
        )

    uncached = answer.asked.prompt_tokens - answer.found.total
    dues = [wait(pace.ttft_s + pace.ttft_per_token_s * uncached)]
    for _ in range(settings.shape.tokens_per_frame, len(answer.token_ids), settings.shape.tokens_per_frame):
        dues.append(dues[-1] + wait(pace.gap_s))
    return [round(due) for due in dues]


def _beats(answer: Answer, settings: MockSettings, frames: Frames) -> Iterator[Beat]:
    """One beat for the opening, one for each event with tokens, one for the closing."""
    faults, size, total = settings.faults, settings.shape.tokens_per_frame, len(answer.token_ids)
    stall_at = _place(faults.stall_after_frames, faults.stalled, "stalled", answer, settings)
    error_at = _place(faults.error_after_frames, faults.erring, "erring", answer, settings)
    if opening := frames.opening():
        yield Beat(0, tuple(opening))
    dues, late_ns = _dues(answer, settings), 0
    for place, start in enumerate(range(0, total, size)):
        if place == stall_at:
            late_ns = round(min(faults.stall_s, _FOREVER_S) * NS_PER_S)
        if place == error_at:
            yield Beat(dues[place] + late_ns, (frames.error(),), last=True)
            return
        yield Beat(dues[place] + late_ns, (frames.tokens(start, min(start + size, total)),))
    if stall_at is not None and stall_at >= len(dues):
        late_ns = round(min(faults.stall_s, _FOREVER_S) * NS_PER_S)
    yield Beat(dues[-1] + late_ns, tuple(frames.closing()), last=True)


def _place(frames: int | None, which: Which, what: str, answer: Answer, settings: MockSettings) -> int | None:
    """After how many events with tokens a fault comes, if it comes in this request."""
    return (
        frames if frames is not None and which.holds(answer.number, seed=settings.seed, what=what) else None
    )


def _commented(beats: Iterator[Beat], settings: MockSettings, frames: Frames) -> Iterator[Beat]:
    """A comment after each n-th event."""
    every, count = settings.shape.comment_every, 0
    for beat in beats:
        if every is None:
            yield beat
            continue
        found: list[Frame] = []
        for frame in beat.frames:
            count += 1
            found += [frame, frames.comment()] if count % every == 0 else [frame]
        yield beat._replace(frames=tuple(found))


def _grouped(beats: Iterator[Beat], settings: MockSettings) -> Iterator[Beat]:
    """Several events with tokens in one write, when the last of them is due."""
    size, waiting = settings.shape.frames_per_write, list[Beat]()
    for beat in beats:
        if any(frame.tokens for frame in beat.frames):
            waiting.append(beat)
            if len(waiting) < size:
                continue
        if waiting:
            yield Beat(waiting[-1].due_ns, tuple(frame for held in waiting for frame in held.frames))
            waiting.clear()
            if any(frame.tokens for frame in beat.frames):
                continue
        yield beat


def _pinged(beats: Iterator[Beat], settings: MockSettings, frames: Frames) -> Iterator[Beat]:
    """A ping whenever its time has come, whatever else is written."""
    interval_s = settings.shape.ping_interval_s
    if interval_s is None:
        yield from beats
        return
    interval_ns = round(interval_s * NS_PER_S)
    due_ns = interval_ns
    for beat in beats:
        while due_ns < beat.due_ns:
            yield Beat(due_ns, (frames.comment(),))
            due_ns += interval_ns
        yield beat
