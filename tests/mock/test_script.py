"""The packets of an answer, before any socket."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from radixbench.mock.answer import Answer, decide
from radixbench.mock.asked import read_asked
from radixbench.mock.cache import Found
from radixbench.mock.frames import Frames
from radixbench.mock.packets import Packet
from radixbench.mock.script import script
from radixbench.mock.settings import Faults, MockSettings, Pace, Shape
from radixbench.mock.which import Which
from radixbench.units import NS_PER_MS
from tests.mock.raw import Seen

STREAM = b'{"prompt": [5, 6, 7, 8], "max_tokens": 5, "stream": true}'


def decided(settings: MockSettings, body: bytes = STREAM, number: int = 1, cached: int = 0) -> Answer:
    asked = read_asked("completion", body, vocab_size=settings.vocab_size, context_len=settings.context_len)
    return decide(asked, Found(cached, 0), number, settings)


def packets(settings: MockSettings, **fields: Any) -> list[Packet]:
    answer = decided(settings, **fields)
    return list(script(answer, settings, Frames(answer, settings, created_s=0)))


def joined(found: list[Packet]) -> bytes:
    return b"".join(packet.data for packet in found)


def dues_ms(found: list[Packet]) -> list[float]:
    """When packets with tokens are due."""
    return [packet.due_ns / NS_PER_MS for packet in found if packet.tokens]


@given(
    st.integers(1, 40),
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from(["lf", "crlf", "cr"]),
    st.booleans(),
)
def test_cutting_changes_no_byte(
    size: int, tokens: int, frames: int, line_end: Any, early_head: bool
) -> None:
    """However small the pieces, the bytes are those of the uncut response and the tokens add up."""
    shape = Shape(
        tokens_per_frame=tokens,
        frames_per_write=frames,
        line_end=line_end,
        early_head=early_head,
        letters="multibyte",
        comment_every=2,
    )
    plain = packets(MockSettings(shape=shape))
    cut = packets(MockSettings(shape=replace(shape, split_bytes=size)))
    assert joined(cut) == joined(plain)
    assert all(len(packet.data) <= size for packet in cut)
    assert sum(packet.tokens for packet in cut) == sum(packet.tokens for packet in plain) == 5
    assert [packet.ending for packet in cut] == ["more"] * (len(cut) - 1) + ["keep"]


@given(st.integers(0, 400), st.integers(1, 50))
def test_a_cut_is_at_its_byte(after: int, size: int) -> None:
    """The response ends after exactly so many bytes, with a reset, and tells only tokens that went out whole."""
    whole = packets(MockSettings())
    settings = MockSettings(faults=Faults(cut_after_bytes=after), shape=Shape(split_bytes=size))
    found = packets(settings)
    assert joined(found) == joined(whole)[:after]
    assert found[-1].ending == "reset"
    read = Seen([(0, joined(found))])
    assert sum(packet.tokens for packet in found) == sum(bool(event["choices"]) for event in read.events)


def test_each_request_is_cut_later_than_the_one_before() -> None:
    """With a step of 1 request n loses the connection after n - 1 bytes; past its end it is answered."""
    settings = MockSettings(faults=Faults(cut_after_bytes=0, cut_step=1))
    length = len(joined(packets(MockSettings())))
    for number in (1, 2, 50):
        assert len(joined(packets(settings, number=number))) == number - 1
    assert packets(settings, number=2 * length)[-1].ending == "keep"


def test_the_schedule_is_what_was_asked() -> None:
    """First token after TTFT and uncached tokens, each further event a gap later."""
    settings = MockSettings(pace=Pace(ttft_s=0.05, ttft_per_token_s=0.001, gap_s=0.02))
    assert dues_ms(packets(settings)) == [54, 74, 94, 114, 134]
    assert dues_ms(packets(settings, cached=3)) == [51, 71, 91, 111, 131]


def test_a_group_leaves_when_its_last_event_is_due() -> None:
    """Two events to a write: at the second, the fourth, and the fifth, which is alone."""
    settings = MockSettings(pace=Pace(gap_s=0.02), shape=Shape(frames_per_write=2))
    found = packets(settings)
    assert dues_ms(found) == [20, 60, 80]
    assert [packet.tokens for packet in found if packet.tokens] == [2, 2, 1]


def test_several_tokens_to_an_event() -> None:
    """Two tokens to an event are three events for five tokens, a gap apart."""
    found = packets(MockSettings(pace=Pace(gap_s=0.02), shape=Shape(tokens_per_frame=2)))
    assert dues_ms(found) == [0, 20, 40]
    assert [packet.tokens for packet in found if packet.tokens] == [2, 2, 1]


def test_jitter_is_seeded_and_bounded() -> None:
    """Waits vary within the spread, the same way for the same seed and number."""
    settings = MockSettings(pace=Pace(ttft_s=0.1, gap_s=0.1, jitter=0.2))
    one = dues_ms(packets(settings))
    assert one == dues_ms(packets(settings))
    assert one != dues_ms(packets(settings, number=2))
    waits = [b - a for a, b in zip([0.0, *one], one, strict=False)]
    assert all(80 <= wait <= 120 for wait in waits)
    assert len(set(waits)) > 1


def test_a_whole_answer_is_due_with_its_last_token() -> None:
    """Not streamed, the answer leaves when the last event would."""
    body = STREAM.replace(b"true", b"false")
    (only,) = packets(MockSettings(pace=Pace(ttft_s=0.05, gap_s=0.02)), body=body)
    assert only.due_ns / NS_PER_MS == 130
    assert only.tokens == 5


def test_a_stall_delays_the_rest() -> None:
    """After two events nothing for a second, then all the rest that much later."""
    settings = MockSettings(pace=Pace(gap_s=0.02), faults=Faults(stall_after_frames=2, stall_s=1.0))
    assert dues_ms(packets(settings)) == [0, 20, 1040, 1060, 1080]


def test_a_stall_for_ever_still_pings() -> None:
    """The next token is due in no reader's lifetime; pings go on."""
    settings = MockSettings(
        shape=Shape(ping_interval_s=0.5), faults=Faults(stall_after_frames=1, stalled=Which(every=1))
    )
    answer = decided(settings)
    found = list(islice(script(answer, settings, Frames(answer, settings, 0)), 50))
    assert sum(packet.tokens for packet in found) == 1
    assert [packet.due_ns // NS_PER_MS for packet in found[-3:]] == [23_000, 23_500, 24_000]
    assert all(b": ping" in packet.data for packet in found[2:])


def test_pieces_of_a_split_are_apart() -> None:
    """With a gap each piece of a write is due that much after the one before."""
    settings = MockSettings(shape=Shape(split_bytes=60, split_gap_s=0.003, early_head=False))
    found = packets(settings)
    assert [packet.due_ns / NS_PER_MS for packet in found[:4]] == [0, 3, 6, 9]
