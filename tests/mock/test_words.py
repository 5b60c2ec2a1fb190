"""The mock's language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.mock.settings import Letters
from radixbench.mock.words import SPECIAL_IDS, answer_ids, key_of_ids, key_of_messages, key_of_text, word


@given(st.text(), st.text())
def test_a_word_boundary_keeps_the_words_before(first: str, second: str) -> None:
    """Text that goes on with a space has the tokens it had, then more."""
    whole = key_of_text(f"{first.rstrip()} x{second}")
    assert whole.startswith(key_of_text(first.rstrip()))


def test_a_token_is_a_word_with_the_space_before_it() -> None:
    """Two words are two tokens of four bytes; white space at the end is one more."""
    assert len(key_of_text("hello there")) == 2 * 4
    assert len(key_of_text("hello there ")) == 3 * 4
    assert key_of_text("") == b""


@pytest.mark.parametrize("letters", ["plain", "multibyte"])
def test_an_answer_reads_back_as_as_many_tokens(letters: Letters) -> None:
    """Words of an answer joined are as many tokens of text."""
    ids = answer_ids(b"abcd", 50, vocab_size=8192, seed=0)
    assert len(key_of_text("".join(word(token, letters) for token in ids))) == 4 * 50


def test_history_that_comes_back_is_the_same_prefix() -> None:
    """A chat's next turn starts with the tokens of its first turn and of the answer."""
    first = [("system", "be brief"), ("user", "hi")]
    said = " w5 w9"
    again = key_of_messages([*first, ("assistant", said), ("user", "more")])
    assert again.startswith(key_of_messages(first) + key_of_text(said))


def test_answers_depend_on_prompt_and_seed() -> None:
    """The same prompt is answered the same; another prompt or seed otherwise; no id is special or out of range."""
    ask = {"vocab_size": 64, "seed": 0}
    one = answer_ids(key_of_ids([1, 2]), 200, **ask)
    assert one == answer_ids(key_of_ids([1, 2]), 200, **ask)
    assert one[:20] != answer_ids(key_of_ids([1, 3]), 20, **ask)
    assert one[:20] != answer_ids(key_of_ids([1, 2]), 20, vocab_size=64, seed=1)
    assert not set(one) & set(SPECIAL_IDS)
    assert max(one) < 64
