"""A capture's long tables, taken out of its text while it is read, and decoded a block at a time.

Captures are written one record a line, so a table (requests, steps, finishes, GPU samples, the nodes of the
prompt tree) starts and ends at lines of its own. What remains is the frame: a small document with empty lists
where the tables stood. Whatever doesn't look exactly so is left to whoever decodes the text as a whole: this
file only ever accepts, it explains nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, NamedTuple

import orjson

from radixbench.capture.model import Run
from radixbench.units import Bytes

RUN_TABLES = ("requests", "steps", "finishes", "gpu")
NODES = "nodes"

Decode = Callable[[Any], tuple[Any, ...]]
"""Plain data of many records as these records; raises ``ValueError`` if one is wrong."""

_BLOCK: Bytes = 256 << 10
"""So little that what is decoded at a time stays in the processor's cache; larger blocks take longer and more memory."""


class Table(NamedTuple):
    """One table in the order of the file."""

    name: str
    records: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """A capture's text without its tables, and the tables."""

    text: bytes
    tables: tuple[Table, ...]


def split(stream: BinaryIO, decoders: Mapping[str, Decode]) -> Frame:
    """Read to the end; raises ``ValueError`` for a table with anything in it that isn't a record of its kind."""
    starts = {b'"%b": [\n' % name.encode(): name for name in decoders}
    text: list[bytes] = []
    tables: list[Table] = []
    open_table: _Open | None = None
    for line in _lines(stream):
        if open_table is None:
            text.append(line)
            if (name := starts.get(line)) is not None:
                open_table = _Open(name, decoders[name])
        elif line[:1] == b"]":
            tables.append(open_table.closed())
            open_table = None
            text.append(line)
        else:
            open_table.take(line)
    return Frame(b"".join(text), tuple(tables))


def places(document: Any) -> list[tuple[str, ...]] | None:
    """The names of each run's empty tables in the order of the file, ``None`` if one of them isn't empty.

    ``document`` is what the frame's text says.
    """
    found: list[tuple[str, ...]] = []
    for run in document["runs"]:
        held = [(name, value) for name, value in run.items() if name in RUN_TABLES]
        prompts = list(run).index("prompts") if isinstance(run.get("prompts"), dict) else None
        if prompts is not None and NODES in run["prompts"]:
            before = sum(name in RUN_TABLES for name in list(run)[:prompts])
            held.insert(before, (NODES, run["prompts"][NODES]))
        if any(value != [] for _, value in held):
            return None
        found.append(tuple(name for name, _ in held))
    return found


def filled(runs: Sequence[Run], names: Sequence[tuple[str, ...]], tables: Sequence[Table]) -> tuple[Run, ...]:
    """The runs with their tables in their places; the tables are those of ``names``, one after the other."""
    following = iter(tables)
    whole = []
    for run, held in zip(runs, names, strict=True):
        records = {name: next(following).records for name in held}
        tree = replace(run.prompts, nodes=records.get(NODES, ()))
        whole.append(
            replace(
                run,
                prompts=tree,
                requests=records.get("requests", ()),
                steps=records.get("steps", ()),
                finishes=records.get("finishes", ()),
                gpu=records.get("gpu", ()),
            )
        )
    return tuple(whole)


class _Open:
    """A table whose end hasn't come yet."""

    def __init__(self, name: str, decode: Decode) -> None:
        self._name = name
        self._decode = decode
        self._records: list[Any] = []
        self._lines: list[bytes] = []
        self._size = 0
        self._more = True

    def take(self, line: bytes) -> None:
        """One more record."""
        self._lines.append(line)
        self._size += len(line)
        if self._size > _BLOCK:
            self._flush()

    def closed(self) -> Table:
        """The whole table."""
        if self._lines:
            self._flush()
        if self._more and self._records:
            raise ValueError("a comma before the end of a table")
        return Table(self._name, tuple(self._records))

    def _flush(self) -> None:
        if not self._more:
            raise ValueError("no comma between two records")
        text = b"".join(self._lines)
        self._more = text.endswith(b",\n")
        self._records.extend(self._decode(orjson.loads(b"[%b]" % text.removesuffix(b",\n"))))
        self._lines.clear()
        self._size = 0


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    while block := stream.readlines(_BLOCK):
        yield from block
