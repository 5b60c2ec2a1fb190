"""Chats whose template refuses them, and how they are told."""

from __future__ import annotations

import pytest

from radixbench.errors import RequestError
from radixbench.model.hub_tokenizer import HubTokenizer
from radixbench.model.tiny_tokenizer import VOCAB_SIZE, TinyTokenizer
from radixbench.server.order import chat_order
from radixbench.server.wire import ChatBody, read_chat
from tests.model.builders import small_tokenizer

SAID = "the model's chat template refuses these messages: "


def chat(role: str) -> ChatBody:
    """A chat of one message."""
    return read_chat({"messages": [{"role": role, "content": "x"}]}, vocab_size=VOCAB_SIZE)


def test_a_template_that_refuses_is_told_once() -> None:
    """The tokenizer's own word for it reaches the client as it is, not wrapped in a second one."""
    plain = small_tokenizer()
    plain.chat_template = "{{ raise_exception('no system message, please') }}"
    with pytest.raises(RequestError) as caught:
        chat_order(chat("system"), HubTokenizer(plain, frozenset()))
    assert str(caught.value) == f"{SAID}no system message, please"


def test_any_other_fault_of_a_template_is_the_requests_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a tokenizer raises unforeseen is a refusal of this request, not a fault of the server."""

    def render(*_: object) -> list[int]:
        raise KeyError("tool_calls")

    monkeypatch.setattr(TinyTokenizer, "render_chat", render)
    with pytest.raises(RequestError) as caught:
        chat_order(chat("user"), TinyTokenizer())
    assert str(caught.value) == f"{SAID}'tool_calls'"
