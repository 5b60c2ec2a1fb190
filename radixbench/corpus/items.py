"""JSON items one by one, from an array of any size or from lines, in flat memory.

An array is decoded item by item from a buffer that only ever holds the piece being read and the item that
is not whole yet. One that breaks off is read to its last whole item; a line that is no JSON is handed on as
``Broken``, with the line it stands in, for the reader to judge.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from radixbench.errors import CorpusError

_BLANK = re.compile(r"\s*")
_BETWEEN = re.compile(r"[\s,]*")
_UNDECIDED: Final = 16
_GROWTH: Final = 1 << 20
_SHOWN: Final = 30


class Item(NamedTuple):
    """One decoded value, and the line it begins in (from 1)."""

    line: int
    value: object


class Broken(NamedTuple):
    """A line that is no JSON, and why."""

    line: int
    why: str


Found: TypeAlias = Item | Broken


class ItemReader:
    """Iterates over the items of one JSON text. ``cut`` is set once it turned out to break off."""

    def __init__(self, texts: Iterator[str], name: str) -> None:
        self._texts = texts
        self._name = name
        self._held = ""
        self._at = 0
        self._line = 1
        self._chars = 0
        self._items = 0
        self.cut: str | None = None

    def __iter__(self) -> Iterator[Found]:
        """Raises ``CorpusError`` for a text that is no JSON, with the line."""
        self._skip(_BLANK)
        if self._at == len(self._held):
            raise CorpusError(f"{self._name}: is empty", remedy="name a file of conversations or a trace")
        opening = self._held[self._at]
        if opening == "[":
            return self._array()
        if opening == "{":
            return self._lines()
        self._grow(_SHOWN)
        shown = self._held[self._at :].splitlines()[0][:_SHOWN]
        raise CorpusError(
            f"{self._name}:{self._line}: is no JSON: it begins with {shown!r}",
            remedy="give a JSON array or one JSON object per line",
        )

    def _array(self) -> Iterator[Item]:
        self._advance(self._at + 1)
        decoder = json.JSONDecoder()
        while True:
            self._skip(_BETWEEN)
            if self._held[self._at : self._at + 1] == "]":
                return
            item = self._whole(decoder) if self._at < len(self._held) else None
            if item is None:
                self.cut = (
                    f"the array breaks off after {_millions(self._chars)} characters:"
                    f" read to its last whole item, number {self._items:,}"
                )
                return
            yield item

    def _lines(self) -> Iterator[Found]:
        wanted = _GROWTH
        while True:
            self._held = self._held[self._at :]
            *whole, self._held = self._held.split("\n")
            self._at = 0
            for text in whole:
                if text.strip():
                    yield _decoded(text, self._line)
                self._line += 1
            wanted = _GROWTH if whole else wanted * 2
            if not self._grow(wanted):
                break
        if self._held.strip():
            last = _decoded(self._held, self._line)
            if isinstance(last, Broken):
                self.cut = f"line {self._line} breaks off ({last.why}); read to the line before"
            else:
                yield last

    def _skip(self, passed: re.Pattern[str]) -> None:
        """Pass over what stands between items."""
        while True:
            found = passed.match(self._held, self._at)
            if found is not None:
                self._advance(found.end())
            if self._at < len(self._held) or not self._grow(1):
                return

    def _whole(self, decoder: json.JSONDecoder) -> Item | None:
        """The next item, reading on until it is whole; ``None`` where the text ends before it."""
        wanted = _GROWTH
        while True:
            try:
                value, end = decoder.raw_decode(self._held, self._at)
            except json.JSONDecodeError as error:
                if not error.msg.startswith("Unterminated") and error.pos < len(self._held) - _UNDECIDED:
                    raise self._damaged(error.msg, error.pos) from None
            except (ValueError, RecursionError) as error:
                raise self._damaged(_reason(error), self._at) from None
            else:
                item = Item(self._line, value)
                self._items += 1
                self._advance(end)
                return item
            if not self._grow(wanted):
                return None
            wanted *= 2

    def _damaged(self, why: str, at: int) -> CorpusError:
        line = self._line + self._held.count("\n", self._at, at)
        return CorpusError(
            f"{self._name}:{line}: is no JSON: {why}", remedy="mend it, or cut the file before it"
        )

    def _grow(self, wanted: int) -> bool:
        """Hold at least ``wanted`` more characters, or all there are; whether there were any."""
        pieces, size = [self._held[self._at :]], 0
        for piece in self._texts:
            pieces.append(piece)
            size += len(piece)
            if size >= wanted:
                break
        self._held, self._at = "".join(pieces), 0
        return size > 0

    def _advance(self, to: int) -> None:
        self._line += self._held.count("\n", self._at, to)
        self._chars += to - self._at
        self._at = to


def _millions(count: int) -> str:
    return f"{count:,}" if count < 1_000_000 else f"{count / 1e6:.1f} million"


def _decoded(text: str, line: int) -> Found:
    try:
        return Item(line, json.loads(text))
    except (ValueError, RecursionError) as error:
        return Broken(line, _reason(error))


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)
