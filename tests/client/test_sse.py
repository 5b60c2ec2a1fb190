"""Events come out whole however the network cut the bytes."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.client import sse
from radixbench.client.sse import EventStreamError, SseParser


def parse(*pieces: bytes) -> list[bytes]:
    parser = SseParser()
    events = list(itertools.chain.from_iterable(parser.feed(piece) for piece in pieces))
    return events + parser.close()


STREAM = ': ping\n\ndata: {"text": "é😀"}\r\n\r\nevent: x\ndata:{"a":\ndata: 1}\nid: 3\n\n\ndata: [DONE]\n\n'.encode()
EVENTS = ['{"text": "é😀"}'.encode(), b'{"a":\n1}', b"[DONE]"]


@pytest.mark.parametrize("cut", range(len(STREAM) + 1))
def test_a_stream_may_be_cut_at_any_byte(cut: int) -> None:
    """Fault 109: characters, line ends and events cut anywhere give the same events."""
    assert parse(STREAM[:cut], STREAM[cut:]) == EVENTS


def test_a_stream_may_come_byte_by_byte() -> None:
    """The extreme case: one byte per read."""
    assert parse(*(STREAM[place : place + 1] for place in range(len(STREAM)))) == EVENTS


@given(
    texts=st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))),
    newline=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    cuts=st.lists(st.integers(0, 400), max_size=12),
)
def test_any_text_any_line_end_any_cuts(texts: list[str], newline: bytes, cuts: list[int]) -> None:
    """What was sent comes out, whatever the line ends and wherever the reads fall."""
    sent = [text.encode() for text in texts]
    stream = b"".join(b"data: " + data + 2 * newline for data in sent)
    edges = sorted({0, len(stream), *(min(cut, len(stream)) for cut in cuts)})
    assert parse(*(stream[a:b] for a, b in itertools.pairwise(edges))) == sent


def test_several_events_in_one_read() -> None:
    """A read may complete many events; they keep their order."""
    assert parse(b"".join(b"data: %d\n\n" % number for number in range(50))) == [b"%d" % n for n in range(50)]


@pytest.mark.parametrize("mark", ["\u0085", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c"])
def test_only_cr_and_lf_end_lines(mark: str) -> None:
    """Fault 110: marks that Python's ``splitlines`` cuts at stay inside one payload."""
    payload = f'{{"text": "a{mark}b"}}'.encode()
    assert parse(b"data: " + payload + b"\n\n") == [payload]


@pytest.mark.parametrize(
    "quiet", [b": ping\n\n", b":\n\n", b"event: ping\n\n", b"retry: 3\n\n", b"\n\n\n\n", b"x\n\n"]
)
def test_comments_and_other_fields_are_no_events(quiet: bytes) -> None:
    """Keep-alives and fields without data give nothing."""
    assert parse(quiet + b"data: 1\n\n" + quiet) == [b"1"]


def test_a_last_event_without_its_empty_line_counts() -> None:
    """Servers that close right after the last line lose nothing."""
    assert parse(b"data: 1\n\ndata: 2") == [b"1", b"2"]
    assert parse(b"data: 1\n\ndata: 2\r\n") == [b"1", b"2"]


def test_a_byte_order_mark_is_skipped() -> None:
    """The standard allows one at the start of a stream."""
    assert parse(b"\xef\xbb\xbfdata: 1\n\n") == [b"1"]


def test_an_endless_event_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that never form an event stop the request instead of filling memory."""
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 100)
    parser = SseParser()
    parser.feed(b"data: " + b"x" * 60)
    with pytest.raises(EventStreamError, match="never ended"):
        parser.feed(b"x" * 60)
