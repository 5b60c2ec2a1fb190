"""Request bodies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from radixbench.errors import RequestError
from radixbench.mock.asked import Asked, Kind, read_asked


def read(kind: Kind = "completion", **fields: Any) -> Asked:
    return read_asked(kind, json.dumps(fields).encode(), vocab_size=100, context_len=50)


def test_token_ids_count_as_they_are() -> None:
    """A prompt of ids has as many tokens; a list of one prompt is that prompt; 16 tokens are the default answer."""
    asked = read(prompt=[5, 6, 7])
    assert (asked.prompt_tokens, asked.prompt_ids, asked.max_tokens) == (3, (5, 6, 7), 16)
    assert read(prompt=[[5, 6, 7]]).prompt == asked.prompt


def test_text_counts_words() -> None:
    """A text's tokens are its words; a chat has two more for each message and one for the answer's role."""
    assert read(prompt="one two three").prompt_tokens == 3
    chat = read("chat", messages=[{"role": "user", "content": "one two"}], max_completion_tokens=3)
    assert (chat.prompt_tokens, chat.max_tokens) == (5, 3)
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": " two"}]
    assert read("chat", messages=[{"role": "user", "content": parts}]).prompt == chat.prompt


def test_salts_keep_apart() -> None:
    """cache_salt and extra_key make a namespace; an empty one is none; cache_prompt false asks for no reuse."""
    assert read(prompt=[5]).namespace == read(prompt=[5], cache_salt="").namespace == ""
    assert read(prompt=[5], cache_salt="a").namespace != read(prompt=[5], extra_key="a").namespace
    assert not read(prompt=[5], cache_prompt=False).reuse


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "prompt must be"),
        ({"prompt": []}, "prompt must be"),
        ({"prompt": ["a", "b"]}, "prompt must hold token ids"),
        ({"prompt": [5, "x"]}, "prompt must hold token ids"),
        ({"prompt": [5, 2**40]}, "prompt must hold token ids"),
        ({"prompt": [5, 100]}, "holds token id 100"),
        ({"prompt": [-1]}, "holds token id -1"),
        ({"prompt": [5] * 50}, "66 tokens, the context holds 50"),
        ({"prompt": [5], "max_tokens": 0}, "max_tokens must be"),
        ({"prompt": [5], "max_tokens": "4"}, "max_tokens must be"),
        ({"prompt": [5], "n": 2}, "n must be 1"),
        ({"prompt": [5], "stream_options": 3}, "stream_options must be an object"),
        ({"prompt": [5], "cache_salt": 3}, "cache_salt must be a string"),
    ],
)
def test_a_wrong_completion_is_told_why(fields: dict[str, Any], message: str) -> None:
    """Each refusal names the field."""
    with pytest.raises(RequestError, match=message):
        read(**fields)


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        (None, "must be a list of messages"),
        ([], "must be a list of messages"),
        (["hi"], r"messages\[0\] must be an object with a role"),
        ([{"role": "user", "content": 3}], r"messages\[0\].content"),
        ([{"role": "user", "content": [{"type": "image"}]}], r"messages\[0\].content"),
    ],
)
def test_a_wrong_chat_is_told_why(messages: Any, message: str) -> None:
    """Each refusal names the place."""
    with pytest.raises(RequestError, match=message):
        read("chat", messages=messages)


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'"x"'])
def test_a_body_that_is_no_object(body: bytes) -> None:
    """What isn't a JSON object is refused."""
    with pytest.raises(RequestError, match="JSON"):
        read_asked("completion", body, vocab_size=100, context_len=50)
