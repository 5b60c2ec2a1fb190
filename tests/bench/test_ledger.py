"""What a server was sent before."""

from __future__ import annotations

from pathlib import Path

import pytest

from radixbench.bench import ledger
from radixbench.bench.ledger import Ledger, Repeats, ledger_file

A, B, C = tuple(range(100)), tuple(range(100, 200)), (*range(16), *range(500, 600))


def test_a_first_page_sent_twice_is_a_repeat() -> None:
    """Prompts are the same to a cache as far as their first page is; one token of it makes another."""
    book = Ledger(16)
    assert book.repeats([A, B]) == Repeats(0, 0)
    book.note([A])
    assert book.repeats([A, B, C]) == Repeats(ever=2, unflushed=2)
    assert book.repeats([(*range(15), 99)]) == Repeats(0, 0)


def test_a_server_that_only_says_so_has_flushed_too() -> None:
    """Its word is no proof that pages are gone, but a later refusal is then one run's alone."""
    book = Ledger(16)
    book.note([A])
    book.complied()
    assert book.ever_flushed
    assert book.repeats([A]) == Repeats(ever=1, unflushed=1)


def test_a_proved_flush_keeps_both_numbers() -> None:
    """What was sent before a flush is still known, and known to be dropped; sent again it is there again."""
    book = Ledger(16)
    book.note([A, B])
    assert not book.ever_flushed
    book.flushed()
    assert book.ever_flushed
    assert book.repeats([A, B]) == Repeats(ever=2, unflushed=0)
    book.note([A])
    assert book.repeats([A, B]) == Repeats(ever=2, unflushed=1)


def test_a_namespace_repeats_nothing() -> None:
    """What was sent under a salt isn't found by a prompt without one."""
    book = Ledger(16)
    book.note([A], namespace="radixbench-1")
    assert book.repeats([A]) == Repeats(0, 0)


def test_pages_of_one_token_are_told_by_four() -> None:
    """A single token may repeat by accident in a large sweep, four together don't."""
    book = Ledger(1)
    book.note([A])
    assert book.repeats([(0, 7, 7, 7)]) == Repeats(0, 0)


def test_a_ledger_outlives_the_invocation(tmp_path: Path) -> None:
    """A server that isn't ours is remembered by address and identity; another identity is another server."""
    path = ledger_file(tmp_path, "http://127.0.0.1:1", "model a")
    book = Ledger(16, path)
    book.note([A])
    book.flushed()
    book.note([B])
    book.keep()
    assert Ledger(16, path).repeats([A, B]) == Repeats(ever=2, unflushed=1)
    assert ledger_file(tmp_path, "http://127.0.0.1:1", "model b") != path


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"schema": "radixbench.ledger/1", "pages": 3, "flushes": 0}']
)
def test_a_damaged_ledger_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    """What can't be read is begun anew, without a word: it only ever adds evidence."""
    path = tmp_path / "ledger.json"
    path.write_text(text)
    assert Ledger(16, path).repeats([A]) == Repeats(0, 0)


def test_a_kept_ledger_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest pages are forgotten first; one that is sent again counts as new."""
    monkeypatch.setattr(ledger, "MOST_PAGES", 2)
    path = tmp_path / "ledger.json"
    book = Ledger(16, path)
    book.note([A, B, tuple(range(300, 400)), A])
    book.keep()
    again = Ledger(16, path)
    assert again.repeats([A]).ever == 1
    assert again.repeats([B]).ever == 0


def test_an_unwritable_ledger_still_holds(tmp_path: Path) -> None:
    """Without room in the cache directory the ledger serves this invocation."""
    (tmp_path / "file").write_text("")
    book = Ledger(16, tmp_path / "file" / "ledger.json")
    book.note([A])
    book.keep()
    assert book.repeats([A]).ever == 1
