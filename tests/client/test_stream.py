"""Which events carry tokens, how many, and what is made of a whole stream."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from radixbench.client.answer import Answer, Usage
from radixbench.client.sse import EventStreamError
from radixbench.client.stream import CompletionStream

MS = 1_000_000


def read(*events: tuple[int, Any], keep_text: bool = False) -> CompletionStream:
    """A stream of (moment in ms, event); a ``str`` goes out as it is, anything else as JSON."""
    stream = CompletionStream(keep_text=keep_text)
    for at_ms, event in events:
        data = event.encode() if isinstance(event, str) else b"data: " + orjson.dumps(event) + b"\n\n"
        stream.feed(data, at_ms * MS)
    return stream


def settle(stream: CompletionStream) -> Answer:
    return stream.answer(
        send_ns=0, end_ns=9000 * MS, status="completed" if stream.complete else "failed", http_status=200
    )


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"id": "c1", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def text(words: str, ids: list[int] | None = None, **more: Any) -> dict[str, Any]:
    choice: dict[str, Any] = {"index": 0, "text": words, "finish_reason": more.pop("finish", None)}
    if ids is not None:
        choice["token_ids"] = ids
    return {"id": "c1", "choices": [choice], **more}


def counts(output: int, prompt: int = 5, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": output, **more}


def times_ms(answer: Answer) -> list[int]:
    return [at // MS for at in answer.chunk_ns]


def test_a_role_only_event_sets_no_first_token() -> None:
    """Fault 16: role at 0.9 s, text at 2.2 s: the first token came at 2.2 s."""
    stream = read(
        (900, delta(role="assistant", content="")), (2200, delta(content="Hi")), (2300, delta("stop"))
    )
    assert times_ms(settle(stream)) == [2200]


def test_pings_and_empty_deltas_set_no_first_token() -> None:
    """Fault 17: a comment and an empty delta before the text don't count."""
    stream = read((100, ": ping\n\n"), (200, delta(content="")), (250, delta()), (300, delta(content="a")))
    assert times_ms(settle(stream)) == [300]


@pytest.mark.parametrize("field", ["content", "reasoning_content", "reasoning"])
def test_every_channel_of_text_counts(field: str) -> None:
    """Fault 19: servers name the reasoning channel differently; both names are tokens."""
    assert times_ms(settle(read((5, delta(**{field: "thinking"})), (9, delta("stop"))))) == [5]


@pytest.mark.parametrize(
    "call",
    [
        {"index": 0, "id": "call_1", "function": {"name": "f", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"a"'}},
    ],
)
def test_tool_calls_count(call: dict[str, Any]) -> None:
    """The name or a piece of the arguments of a tool call was generated."""
    assert times_ms(settle(read((5, delta(tool_calls=[call])), (9, delta("tool_calls"))))) == [5]


@pytest.mark.parametrize("shape", [None, [], {}, [None], [{}], [{"function": None}], "x"])
def test_empty_tool_calls_carry_nothing(shape: Any) -> None:
    """Placeholders of every shape are neither tokens nor a fault."""
    assert settle(read((5, delta(tool_calls=shape)))).chunk_ns == ()


def test_an_answer_of_reasoning_only_has_a_first_token() -> None:
    """Fault 20: the budget ran out inside the reasoning; TTFT is there, nothing is null or crashes."""
    answer = settle(
        read((5, delta(reasoning_content="hm")), (7, delta(reasoning_content="hm")), (8, delta("length")))
    )
    assert (times_ms(answer), answer.status, answer.finish_reason) == ([5, 7], "completed", "length")


def test_an_empty_stream_is_completed_and_empty() -> None:
    """Faults 28, 29: a model may say nothing; that is no error and has no first token, never one at 0."""
    answer = settle(read((5, text("", finish="stop", usage=counts(0))), (6, "data: [DONE]\n\n")))
    assert (answer.status, answer.chunk_ns, answer.usage.output_tokens) == ("completed", (), 0)
    bare = settle(read((6, "data: [DONE]\n\n")))
    assert (bare.status, bare.usage.output_tokens, bare.output_source) == ("completed", 0, "chunks")


def test_ids_say_how_many_tokens_a_chunk_has() -> None:
    """Fault 32: four tokens in a chunk are four, by their ids; the ids are kept."""
    answer = settle(read((40, text("abcd", [1, 2, 3, 4])), (80, text("e", [5], finish="length"))))
    assert answer.chunk_tokens == (4, 1)
    assert answer.output_ids == (1, 2, 3, 4, 5)
    assert (answer.usage.output_tokens, answer.output_source) == (5, "token_ids")


def test_ids_without_text_are_a_token() -> None:
    """Half a character has no text yet, but its token was generated at that moment."""
    answer = settle(read((1, text("", [9])), (2, text("é", [8])), (3, text("", [], finish="length"))))
    assert (times_ms(answer), answer.chunk_tokens) == ([1, 2], (1, 1))


def test_text_without_new_ids_is_no_token() -> None:
    """Text held back and released at the end was counted when its ids came."""
    answer = settle(read((1, text("a", [9])), (2, text("bc", [], finish="stop"))))
    assert (times_ms(answer), answer.output_ids) == ([1], (9,))


def test_usage_on_every_event_says_how_many_tokens_a_chunk_has() -> None:
    """Fault 32: ten chunks of four tokens, counted by the growing usage."""
    events = [(40 * n, text("abcd", usage=counts(4 * n))) for n in range(1, 11)]
    answer = settle(read(*events, (401, text("", finish="length", usage=counts(40)))))
    assert answer.chunk_tokens == (4,) * 10
    assert (answer.usage.output_tokens, answer.output_source) == (40, "usage")


def test_tokens_of_silent_events_are_counted_with_the_next_text() -> None:
    """With growing usage an event without text adds its tokens to the next one that has some."""
    answer = settle(
        read(
            (1, text("a", usage=counts(1))),
            (2, text("", usage=counts(2))),
            (3, text("é", usage=counts(3))),
            (4, text("", finish="length", usage=counts(3))),
        )
    )
    assert (times_ms(answer), answer.chunk_tokens) == ([1, 3], (1, 2))


def test_usage_at_the_end_only_leaves_chunks_at_one() -> None:
    """Without ids or growing usage a chunk counts once; the sum below the usage shows that it is a guess."""
    answer = settle(read((1, text("ab")), (2, text("cd")), (3, text("ef", finish="length", usage=counts(6)))))
    assert answer.chunk_tokens == (1, 1, 1)
    assert (answer.usage.output_tokens, answer.output_source) == (6, "usage")


def test_one_chunk_with_usage_holds_all_tokens() -> None:
    """A stream of a single chunk brought everything in it."""
    answer = settle(read((1, text("abcdef", finish="length", usage=counts(6)))))
    assert answer.chunk_tokens == (6,)


def test_a_usage_only_event_is_taken_but_carries_nothing() -> None:
    """Empty or missing ``choices`` with usage set the counts, no time."""
    answer = settle(
        read(
            (1, text("a")),
            (2, text("", finish="length")),
            (9, {"choices": [], "usage": counts(1, prompt_tokens_details={"cached_tokens": 4})}),
            (9, "data: [DONE]\n\n"),
        )
    )
    assert times_ms(answer) == [1]
    assert answer.usage == Usage(prompt_tokens=5, output_tokens=1, cached_tokens=4)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (counts(3), Usage(5, 3, None)),
        (counts(3, prompt_tokens_details=None), Usage(5, 3, None)),
        (counts(3, prompt_tokens_details={}), Usage(5, 3, None)),
        (counts(3, prompt_tokens_details={"cached_tokens": None}), Usage(5, 3, None)),
        (counts(3, prompt_tokens_details={"cached_tokens": 0}), Usage(5, 3, 0)),
        (counts(3, prompt_tokens_details={"cached_tokens": -1}), Usage(5, 3, None)),
        (counts(3, prompt=0), Usage(None, 3, None)),
        ({"prompt_tokens": True, "completion_tokens": 1.5}, Usage(None, 1, None)),
    ],
)
def test_unbelievable_counts_are_unknown(usage: dict[str, Any], expected: Usage) -> None:
    """Faults 40, 41: absent stays absent, 0 stays 0, and a prompt of 0 beside an answer is no count."""
    assert settle(read((1, text("a")), (2, text("", finish="stop", usage=usage)))).usage == expected


def test_a_finish_reason_without_the_end_mark_is_complete() -> None:
    """A missing [DONE] loses nothing."""
    assert settle(read((1, text("a")), (2, text("", finish="stop")))).status == "completed"


def test_the_end_mark_without_a_finish_reason_is_complete() -> None:
    """Some servers never send a reason."""
    answer = settle(read((1, text("a")), (2, "data: [DONE]\n\n")))
    assert (answer.status, answer.finish_reason) == ("completed", None)


def test_neither_means_truncated() -> None:
    """Tokens without an end are an incomplete answer."""
    stream = read((1, text("a")))
    assert not stream.complete
    assert settle(stream).output_source == "chunks"


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"error": {"message": "out of\nmemory", "code": 500}}, "out of memory"),
        ({"error": "too long"}, "too long"),
        ({"object": "error", "message": "no"}, "no"),
        ({"error": {"code": 1}}, "{'code': 1}"),
    ],
)
def test_an_error_object_ends_the_stream(event: dict[str, Any], message: str) -> None:
    """An error in the middle of a stream, even before [DONE], makes it failed; its message is one line."""
    stream = read((1, text("a")), (2, event), (3, "data: [DONE]\n\n"))
    assert (stream.complete, stream.error, stream.chunks) == (False, message, 1)


@pytest.mark.parametrize("payload", ["{", "[1]", "null", "<html>"])
def test_events_that_are_no_objects_are_refused(payload: str) -> None:
    """Whatever isn't a JSON object says what it was instead."""
    with pytest.raises(EventStreamError, match="an event is"):
        read((1, f"data: {payload}\n\n"))


@pytest.mark.parametrize(
    "event", [{}, {"choices": None}, {"choices": [None]}, {"choices": "x"}, {"choices": [{}]}]
)
def test_strange_but_harmless_objects_are_skipped(event: dict[str, Any]) -> None:
    """Objects without a choice to read carry nothing and break nothing."""
    assert settle(read((1, event))).chunk_ns == ()


def test_text_is_kept_only_when_asked_for() -> None:
    """Reasoning and content are joined in the order they came."""
    events = [(1, delta(reasoning="é")), (2, delta(content="😀")), (3, delta("stop"))]
    assert settle(read(*events)).text is None
    assert settle(read(*events, keep_text=True)).text == "é😀"


def test_the_server_names_the_request() -> None:
    """The first id stays, to find the request in the server's log."""
    stream = read((1, text("a")), (2, {"id": "other", "choices": []}))
    assert settle(stream).server_rid == "c1"


@pytest.mark.parametrize("ids", [[1, None], ["1"], [-1], [True], [1.5]])
def test_strange_ids_are_unknown_ids(ids: list[Any]) -> None:
    """Ids that no vocabulary has can't be sent back or compared: the answer has none."""
    answer = settle(read((1, text("a", ids)), (2, text("", finish="stop", usage=counts(1)))))
    assert (answer.status, answer.output_ids) == ("completed", None)


def test_nothing_at_all_has_no_count() -> None:
    """A request that failed before its first event has unknown output, not 0."""
    answer = settle(CompletionStream())
    assert (answer.usage.output_tokens, answer.output_source) == (None, None)
