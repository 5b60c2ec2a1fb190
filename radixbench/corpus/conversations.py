"""Recorded conversations from a file or a hub data set, one by one, with an account of what was left out.

The shape is told for each item by itself, since files mix them. What an item gets wrong is mended and noted, or the
item is dropped and counted; a file that gives no conversation at all is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from radixbench.corpus.hub import HubRows
from radixbench.corpus.items import Broken, Found, ItemReader
from radixbench.corpus.shapes import Shaped, shape
from radixbench.corpus.source import Source
from radixbench.corpus.tally import Tally
from radixbench.corpus.turns import Refused
from radixbench.errors import CorpusError
from radixbench.records import CorpusRecord
from radixbench.scenario.model import CorpusFormat
from radixbench.workloads.chats import Chat

_PARQUET = ".parquet"
_TRACES = ("mooncake", "bailian")
_SHAPES = "conversations in ShareGPT's or OpenAI's shape, or prompts with an output length, are read"


class Conversations(NamedTuple):
    """Chats in the order of the file, and how they came about."""

    chats: tuple[Chat, ...]
    record: CorpusRecord


def load_conversations(
    path: Path | None = None,
    *,
    dataset: str | None = None,
    split: str | None = None,
    format: CorpusFormat = "auto",
    limit: int | None = None,
) -> Conversations:
    """The first ``limit`` usable conversations of a file, or of a hub data set's ``split``.

    Raises ``CorpusError`` with file, line and remedy for what can't be read or holds none.
    """
    reader = ConversationReader(path, dataset=dataset, split=split, format=format)
    chats = []
    for shaped in reader:
        chats.append(shaped.chat)
        if limit is not None and len(chats) >= limit:
            reader.notes.append(f"read up to the first {limit} usable conversations")
            break
    if not chats:
        reasons = ", ".join(f"{count} x {reason}" for reason, count in reader.tally.dropped.most_common(3))
        why = "; ".join((reasons or "it has no whole item", *reader.notes))
        raise CorpusError(f"{reader.name}: no conversation in it: {why}", remedy=_SHAPES)
    return Conversations(tuple(chats), reader.record())


class ConversationReader:
    """Iterates over the usable conversations of one file or data set, in flat memory.

    ``tally`` counts as it goes; ``record`` is the account so far.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        dataset: str | None = None,
        split: str | None = None,
        format: CorpusFormat = "auto",
    ) -> None:
        if (path is None) == (dataset is None):
            raise CorpusError("conversations come from a file or a data set", remedy="name one of the two")
        if format in _TRACES:
            raise CorpusError(
                f"{path or dataset}: {format} is a trace without text", remedy="replay it as a trace"
            )
        self.tally = Tally()
        self.notes: list[str] = []
        self._format = format
        self._source: Source | None = None
        if path is not None and not path.is_dir() and path.suffix != _PARQUET:
            self._source = Source(path)
            self.name = str(path)
        else:
            self.name = str(path) if dataset is None else dataset
        self._split = split

    def __iter__(self) -> Iterator[Shaped]:
        for found in self._found():
            shaped = self._judged(found)
            if isinstance(shaped, Refused):
                self.tally.drop(shaped.reason)
            else:
                self.tally.use(shaped)
                yield shaped

    def record(self) -> CorpusRecord:
        """What was read so far and what became of it."""
        sha256 = None if self._source is None else self._source.sha256()
        name = self.name
        if self._source is not None and self._source.member is not None:
            name = f"{name}:{self._source.member}"
        return self.tally.record(name, sha256, self.notes)

    def _judged(self, found: Found) -> Shaped | Refused:
        if isinstance(found, Broken):
            return Refused("a line that is no JSON")
        shaped = shape(found.value, f"item {self.tally.read + 1}")
        if isinstance(shaped, Shaped) and self._format not in ("auto", shaped.format):
            return Refused(f"{shaped.format}, while {self._format} was asked for")
        return shaped

    def _found(self) -> Iterator[Found]:
        if self._source is None:
            rows = HubRows(self.name, self._split)
            yield from rows
            self.notes.extend(rows.notes)
            return
        items = ItemReader(self._source.texts(), self.name)
        yield from items
        self.notes.extend(note for note in (self._source.problem, items.cut) if note is not None)
