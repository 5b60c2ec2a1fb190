"""Text, ids and streams of text."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models
from transformers import PreTrainedTokenizerFast

from radixbench.errors import RequestError
from radixbench.model.hub_tokenizer import HubTokenizer
from radixbench.model.tiny_tokenizer import VOCAB_SIZE, TinyTokenizer
from radixbench.model.tokenizer import IncrementalDecoder
from radixbench.model.tokenizer import Tokenizer as AnyTokenizer
from tests.model.builders import small_tokenizer

TINY = TinyTokenizer()


def _sentencepiece() -> HubTokenizer:
    vocab = {"<s>": 0, "</s>": 1, "▁Paris": 2, "▁": 3, "a": 4}
    vocab |= {f"<0x{byte:02X}>": 5 + byte for byte in range(256)}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[], byte_fallback=True))
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    return HubTokenizer(
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>"), frozenset({1})
    )


BYTE_LEVEL = HubTokenizer(small_tokenizer(), frozenset({1}))
SENTENCEPIECE = _sentencepiece()
ALL = pytest.mark.parametrize("tokenizer", [TINY, BYTE_LEVEL, SENTENCEPIECE], ids=["tiny", "bytes", "pieces"])


def _streamed(tokenizer: AnyTokenizer, ids: list[int]) -> list[str]:
    decoder = IncrementalDecoder(tokenizer)
    return [*map(decoder.push, ids), decoder.flush()]


@given(st.text())
def test_tiny_round_trip(text: str) -> None:
    """Any text comes back from tiny's ids."""
    assert TINY.decode(TINY.encode(text)) == text


@given(st.lists(st.integers(256, VOCAB_SIZE - 1), max_size=50))
def test_tiny_words_round_trip(ids: list[int]) -> None:
    """Ids of words come back from their text, so that text and ids prompt alike."""
    assert TINY.encode(TINY.decode(ids)) == ids


def test_tiny_words_are_distinct_printable() -> None:
    """8,192 ids: each byte, and distinct printable words with their leading space."""
    words = [TINY.token_bytes(token_id) for token_id in range(256, VOCAB_SIZE)]
    assert len(set(words)) == VOCAB_SIZE - 256
    assert all(word[:1] == b" " and word[1:].decode().isalpha() for word in words)


@ALL
def test_no_replacement_in_the_middle_of_a_character(tokenizer: AnyTokenizer) -> None:
    """A character spread over tokens appears whole, with its last token."""
    parts = _streamed(tokenizer, tokenizer.encode("a€😀é", add_special_tokens=False))
    assert "�" not in "".join(parts)
    assert "".join(parts) == "a€😀é"
    assert parts.count("€") == parts.count("😀") == 1


@ALL
def test_an_unfinished_character_is_flushed_as_one_replacement(tokenizer: AnyTokenizer) -> None:
    """A stream that stops inside a character says so once, at its end."""
    ids = tokenizer.encode("x€", add_special_tokens=False)[:-1]
    assert _streamed(tokenizer, ids)[-1] == "�"


@ALL
@given(data=st.data())
def test_stream_equals_decode(tokenizer: AnyTokenizer, data: st.DataObject) -> None:
    """For any ids, valid UTF-8 or not, the streamed pieces join to what ``decode`` gives."""
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocab_size - 1), max_size=40))
    assert "".join(_streamed(tokenizer, ids)) == tokenizer.decode(ids)


def test_sentencepiece_keeps_the_space_of_a_continuation() -> None:
    """A piece that begins a word brings its space, byte pieces their byte, marks nothing."""
    assert SENTENCEPIECE.decode([0, 2, 3, 4, 5 + 0xC3, 5 + 0xA9, 1]) == " Paris aé"


def test_added_tokens_are_text_unless_special() -> None:
    """An added token that isn't special shows its content, whatever letters it has."""
    plain = small_tokenizer()
    plain.add_tokens([AddedToken("→tool", special=False), AddedToken("<|mark|>", special=True)])
    tokenizer = HubTokenizer(plain, frozenset())
    ids = tokenizer.encode("a→tool<|mark|>")
    assert tokenizer.decode(ids) == "a→tool"
    assert ids[-1] in tokenizer.special_token_ids


def test_ids_beyond_the_tokens_have_no_text() -> None:
    """A model's vocabulary may be padded: such ids decode to nothing."""
    assert BYTE_LEVEL.token_bytes(10_000) == b""


def test_chat_without_a_template_is_plain_lines() -> None:
    """Without a template a conversation is role and content per line, and the answer's beginning."""
    messages = [{"role": "user", "content": "hi"}]
    assert TINY.decode(TINY.render_chat(messages)) == "user: hi\nassistant:"
    assert BYTE_LEVEL.decode(BYTE_LEVEL.render_chat(messages)) == "user: hi\nassistant:"


def test_chat_template() -> None:
    """A template is rendered with its generation prompt; one that refuses is the request's error."""
    plain = small_tokenizer()
    plain.chat_template = (
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "[{{ m.content }}]{% endfor %}{% if add_generation_prompt %}>{% endif %}"
    )
    tokenizer = HubTokenizer(plain, frozenset())
    assert tokenizer.decode(tokenizer.render_chat([{"role": "user", "content": "hi"}])) == "[hi]>"
    with pytest.raises(RequestError, match="no system"):
        tokenizer.render_chat([{"role": "system", "content": "x"}])


def test_needs_no_torch() -> None:
    """The tokenizer of tiny works where torch and transformers can't be imported."""
    code = (
        "import sys; sys.modules['torch'] = sys.modules['transformers'] = None\n"
        "import radixbench.model\n"
        "from radixbench.model.tiny_tokenizer import TinyTokenizer\n"
        "from radixbench.model.tokenizer import IncrementalDecoder\n"
        "print(IncrementalDecoder(TinyTokenizer()).push(300))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().isalpha()
