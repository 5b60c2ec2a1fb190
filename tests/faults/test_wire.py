"""What servers and networks do to a stream, by the field's own faults, over real sockets."""

from __future__ import annotations

import asyncio

import pytest

from radixbench.client.answer import Answer
from radixbench.client.http import ServerClient
from radixbench.client.outcome import Outcome
from radixbench.errors import IncompleteError
from radixbench.metrics.latency import tpot
from radixbench.mock.settings import Faults, Lies, MockSettings, Pace, Shape
from radixbench.mock.which import Which
from radixbench.records import RequestRecord
from radixbench.workloads.conversation import Conversation, Turn
from tests.client.scripted_server import Handler, Out, Request, ScriptedServer, answer_well, token, usage
from tests.mock.start import running_mock

MS = 1_000_000


def delta(finish: str | None = None, **fields: object) -> dict[str, object]:
    return {"id": "c1", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def timed(*steps: tuple[float, object]) -> Handler:
    """A stream of events, each after a pause in seconds; bytes go out as they are."""

    async def handle(request: Request, out: Out) -> None:
        await out.start_stream()
        for pause_s, event in steps:
            await asyncio.sleep(pause_s)
            await (out.part(event) if isinstance(event, bytes) else out.event(event))
        await out.end_stream()

    return handle


async def ask(handler: Handler, **options: float | bool) -> Answer:
    async with (
        ScriptedServer(handler) as server,
        ServerClient(server.url, stall_timeout_s=options.pop("stall_timeout_s", 5.0), **options) as client,
    ):
        return await client.stream_completion((1, 2, 3), 4)


async def test_fault_16_a_role_chunk_is_no_first_token() -> None:
    """Role at once, text 130 ms later: TTFT is the text's, and there is no gap in between."""
    answer = await ask(
        timed(
            (0.0, delta(role="assistant", content="")),
            (0.13, delta(content="Hi")),
            (0.01, delta("stop", content="!")),
        )
    )
    assert len(answer.chunk_ns) == 2
    assert answer.chunk_ns[0] - answer.send_ns >= 130 * MS
    assert answer.chunk_ns[1] - answer.chunk_ns[0] < 130 * MS


async def test_fault_17_pings_and_empty_deltas_set_no_first_token() -> None:
    """A comment, a prelude and an empty delta come first; only the text counts."""
    answer = await ask(
        timed(
            (0.0, b": ping\n\n"),
            (0.01, b"event: prelude\n\n"),
            (0.01, delta(content="")),
            (0.1, delta("stop", content="a")),
        )
    )
    assert len(answer.chunk_ns) == 1
    assert answer.chunk_ns[0] - answer.send_ns >= 120 * MS


def recorded(answer: Answer) -> RequestRecord:
    """The answer as a capture keeps it, without its text."""
    outcome = Outcome(planned=1, keep_text=False)
    turn = Turn(prompt=0, user_ids=(5, 6, 7), output_len=4)
    outcome.add(Conversation(0, 0, (turn,)), 0, answer, sent_tokens=3)
    return outcome.result(None).records[0]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_fault_19_reasoning_of_both_names_counts(field: str) -> None:
    """Tokens of reasoning are tokens, under either name, and their characters are kept apart."""
    answer = await ask(timed((0.0, delta(**{field: "hm"})), (0.0, delta("stop", content="So."))))
    assert answer.chunk_tokens == (1, 1)
    assert (answer.content_chars, answer.reasoning_chars) == (3, 2)


async def test_fault_25_reasoning_deltas_give_a_token_pace() -> None:
    """An answer of reasoning only has a stamp for each delta, so its time per output token is known."""
    thinking = [(0.01, delta(reasoning_content="hm")) for _ in range(4)]
    answer = await ask(timed(*thinking, (0.0, delta("length"))))
    assert len(answer.chunk_ns) == 4
    assert (answer.content_chars, answer.reasoning_chars) == (0, 8)
    first, *_, last = answer.chunk_ns
    assert tpot(recorded(answer)) == pytest.approx((last - first) / 3e9)
    assert last > first


@pytest.mark.parametrize("events", [[], [(0.0, token([], text="", finish="stop", usage=usage(3, 0)))]])
async def test_fault_29_an_empty_stream_is_completed_and_empty(events: list[tuple[float, object]]) -> None:
    """A model may say nothing: completed, no tokens, no first token, no error."""
    answer = await ask(timed(*events))
    assert (answer.status, answer.error, answer.chunk_ns) == ("completed", None, ())
    assert answer.usage.output_tokens == 0


async def test_fault_112_endless_json_is_known_without_keeping_text() -> None:
    """How an answer begins is noted as it comes, so that one cut off in the middle of JSON is told."""
    events = [(0.0, delta(content=piece)) for piece in (" ", '\n{"n": 1', "23")]
    told = recorded(await ask(timed(*events, (0.0, delta("length")))))
    assert (told.json_like, told.finish_reason, told.text) == (True, "length", None)
    prose = recorded(await ask(timed((0.0, delta("stop", content="So.")))))
    assert prose.json_like is False


async def test_fault_37_chunks_are_never_tokenised_again() -> None:
    """Five chunks without ids or usage are five tokens, not ten."""
    events = [(0.0, {"choices": [{"text": "a", "finish_reason": None}]}) for _ in range(5)]
    answer = await ask(timed(*events))
    assert answer.chunk_tokens == (1, 1, 1, 1, 1)
    assert (answer.usage.output_tokens, answer.output_source) == (5, "chunks")


async def test_fault_40_a_prompt_of_0_beside_an_answer_is_no_count() -> None:
    """Usage with prompt 0 and a completion: the prompt is unknown, the rest stands."""
    answer = await ask(timed((0.0, token([1, 2], finish="stop", usage=usage(0, 2)))))
    assert answer.usage.prompt_tokens is None
    assert answer.usage.output_tokens == 2


async def test_fault_100_a_refused_flush_is_asked_again() -> None:
    """Two refusals, then done: a flush after three tries, with the time it took."""
    async with (
        running_mock(MockSettings(lies=Lies(flush_refusals=2))) as mock,
        ServerClient(mock.base_url) as client,
    ):
        outcome = await client.flush(pause_s=0.01)
    assert (outcome.ok, outcome.status, outcome.attempts) == (True, 200, 3)
    assert outcome.waited_ns >= 30 * MS


async def test_fault_101_a_stuck_server_ends_the_flush() -> None:
    """Tries are bounded and grow apart; the body of the refusal is kept."""
    async with (
        running_mock(MockSettings(lies=Lies(flush_refusals=10_000))) as mock,
        ServerClient(mock.base_url) as client,
    ):
        outcome = await client.flush(limit_s=0.3, pause_s=0.01)
    assert (outcome.ok, outcome.status, outcome.tiers) == (False, 400, ())
    assert 2 <= outcome.attempts <= 6
    assert outcome.body


async def test_fault_103_a_queue_refuses_a_flush_too() -> None:
    """Nothing runs but something waits: refused like a busy server, agreed once the queue is empty."""
    waiting = iter((400, 400, 200))

    async def handle(request: Request, out: Out) -> None:
        status = next(waiting)
        await out.whole(status, b"#queue-req: 1" if status == 400 else b"Cache flushed.", "text/plain")

    async with ScriptedServer(handle) as server, ServerClient(server.url) as client:
        outcome = await client.flush(pause_s=0.01)
    assert (outcome.ok, outcome.attempts, outcome.body) == (True, 3, "Cache flushed.")


async def test_fault_104_one_stalled_stream_among_good_ones() -> None:
    """One of 40 streams falls silent after a chunk: it fails by the stall time, the others don't notice."""
    settings = MockSettings(
        pace=Pace(gap_s=0.005), faults=Faults(stall_after_frames=1, stalled=Which(every=40))
    )
    async with running_mock(settings) as mock, ServerClient(mock.base_url, stall_timeout_s=3.0) as client:
        answers = await asyncio.gather(*(client.stream_completion((n, n + 1), 6) for n in range(40)))
    failed = [answer for answer in answers if answer.status != "completed"]
    assert [answer.error for answer in failed] == ["stalled: nothing new came for 3 s"]
    assert failed[0].chunk_tokens == (1,)


async def test_fault_106_a_closed_port_is_waited_for_then_named() -> None:
    """A port that opens late is waited for; one that stays closed is a clear message with exit code 3."""
    async with ScriptedServer(answer_well) as server:
        url, port = server.url, server.port
    async with ServerClient(url) as client:
        waiting = asyncio.create_task(client.wait_ready(20))
        await asyncio.sleep(0.2)
        async with ScriptedServer(answer_well, port=port):
            await waiting
        with pytest.raises(IncompleteError, match=f"no server was ready at {url}") as caught:
            await client.wait_ready(0.2)
    assert caught.value.exit_code == 3
    assert "connection refused" in caught.value.message


@pytest.mark.parametrize("split_bytes", [1, 2, 3, 5, 7])
async def test_fault_109_characters_cut_anywhere_are_whole_again(split_bytes: int) -> None:
    """Every write of head, chunks and events cut into a few bytes: the same text as in one piece."""
    texts = []
    for split in (split_bytes, None):
        settings = MockSettings(shape=Shape(split_bytes=split, letters="multibyte"))
        async with running_mock(settings) as mock, ServerClient(mock.base_url, keep_text=True) as client:
            answer = await client.stream_completion((1, 2, 3), 6)
            assert (answer.status, len(answer.chunk_ns)) == ("completed", 6)
            texts.append(answer.text)
    assert texts[0] == texts[1]
    assert not str(texts[0]).isascii()


@pytest.mark.parametrize("mark", ["\u0085", "\u2028", "\u2029"])
async def test_fault_110_odd_line_ends_and_a_missing_charset_cut_nothing(mark: str) -> None:
    """No charset is UTF-8, and only CR and LF end lines: one event, its text whole."""
    raw = f'data: {{"choices": [{{"text": "é{mark}b", "finish_reason": "stop"}}]}}\n\n'.encode()
    answer = await ask(timed((0.0, raw)), keep_text=True)
    assert (answer.status, answer.text, answer.chunk_tokens) == ("completed", f"é{mark}b", (1,))
