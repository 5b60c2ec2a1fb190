"""A model's tokenizer alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from radixbench.errors import ModelError
from radixbench.model.hub_tokenizer import HubTokenizer
from radixbench.model.load_tokenizer import chat_render, load_tokenizer
from radixbench.workloads.conversation import Message
from tests.model.builders import small_tokenizer


def test_tiny_needs_no_files() -> None:
    """It renders chats as plain lines."""
    tokenizer = load_tokenizer("tiny")
    ids = chat_render(tokenizer)([Message("user", "hi")])
    assert tokenizer.decode(ids) == "user: hi\nassistant:"


def test_what_is_not_there_is_one_line(tmp_path: Path) -> None:
    """A missing directory, and one without a tokenizer."""
    with pytest.raises(ModelError, match="doesn't exist"):
        load_tokenizer(str(tmp_path / "none"))
    with pytest.raises(ModelError, match="its tokenizer can't be loaded"):
        load_tokenizer(str(tmp_path))


def test_a_directory_gives_the_models_own(tmp_path: Path) -> None:
    """The same ids and template as the model's tokenizer, with no weights beside it."""
    small = small_tokenizer()
    small.chat_template = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"
    small.save_pretrained(tmp_path)
    loaded = load_tokenizer(str(tmp_path))
    assert loaded.encode("some text") == HubTokenizer(small, frozenset()).encode("some text")
    ids = chat_render(loaded)([Message("user", "hi")])
    assert loaded.decode(ids).endswith("[user]hi[assistant]")
