"""Stop strings: cut at the first, hold back what may begin one, lose nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from radixbench.model.tiny_tokenizer import TinyTokenizer
from radixbench.server.text import AnswerText, StopStrings

letters = st.text(alphabet="ab", max_size=12)


def _cut(text: str, stops: tuple[str, ...]) -> str:
    ends = [text.find(stop) for stop in stops if stop in text]
    return text[: min(ends)] if ends else text


@given(pieces=st.lists(letters), stops=st.lists(st.text("ab", min_size=1, max_size=4), max_size=3))
def test_the_pieces_shown_are_the_text_up_to_the_first_stop(pieces: list[str], stops: list[str]) -> None:
    """However text is cut into pieces, no shown piece is ever taken back, and all of it is shown."""
    watch, shown, seen = StopStrings(tuple(stops)), "", ""
    for piece in pieces:
        if watch.found:
            break
        seen += piece
        shown += watch.push(piece)
        assert _cut(seen, tuple(stops)).startswith(shown)
        assert watch.found == any(stop in seen for stop in stops)
    assert shown + watch.flush() == _cut(seen, tuple(stops))


def test_nothing_follows_a_stop() -> None:
    """Text pushed after the stop string was found is dropped."""
    watch = StopStrings(("x",))
    assert watch.push("axb") == "a"
    assert watch.push("more") == ""
    assert watch.flush() == ""


@given(text=st.text(max_size=30))
def test_an_answers_pieces_join_to_its_text(text: str) -> None:
    """Token by token or whole, an answer is the same text; an unfinished character ends as one U+FFFD."""
    tokenizer = TinyTokenizer()
    ids = tokenizer.encode(text)
    answer = AnswerText(tokenizer, ())
    assert "".join([answer.push(token) for token in ids]) + answer.flush() == text
    cut = AnswerText(tokenizer, ())
    assert "".join([cut.push(token) for token in ids[:-1]]) + cut.flush() == tokenizer.decode(ids[:-1])


def test_a_stop_string_over_several_tokens_is_reached_with_its_last() -> None:
    """A stop string whose bytes come one token at a time is found at its last byte."""
    answer = AnswerText(TinyTokenizer(), ("€!",))
    assert [answer.reaches_stop(token) for token in "a€!".encode()] == [False] * 4 + [True]
