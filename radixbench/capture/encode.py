"""A capture as JSON, one record a line, so that ``grep``, ``diff`` and ``less`` work on it.

What is ``None`` or empty by default is left out: an absent key means absent. Everything else is written
even where it equals a default, so that a later default can't change old evidence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from math import isfinite
from typing import Any

import orjson

from radixbench.capture.model import Capture, PromptTree, Run
from radixbench.capture.tables import NODES, RUN_TABLES
from radixbench.scenario.load import dump

_AS_IS = frozenset((int, str, bool, type(None)))


def encode(capture: Capture) -> Iterator[bytes]:
    """The file's bytes, piece by piece; a record is in memory as text only while it is written."""
    head = {
        "schema": capture.schema,
        "scenario": dump(capture.scenario),
        "environment": plain(capture.environment),
        "created_wall_ns": capture.created_wall_ns,
        "planned_runs": capture.planned_runs,
        "interrupted": capture.interrupted,
    }
    for key in ("calibration", "failures", "until"):
        value = getattr(capture, key)
        if value not in (None, ()):
            head[key] = plain(value)
    yield b"{\n"
    for key, value in head.items():
        yield b"%b: %b,\n" % (_text(key), _text(value))
    yield b'"runs": ['
    for index, run in enumerate(capture.runs):
        yield b"\n" if index == 0 else b",\n"
        yield from _run(run)
    yield b"]\n}\n" if not capture.runs else b"\n]\n}\n"


def _run(run: Run) -> Iterator[bytes]:
    yield b"{\n"
    head = plain(run, skip=("prompts", *RUN_TABLES))
    for key, value in head.items():
        yield b"%b: %b,\n" % (_text(key), _text(value))
    yield b'"prompts": '
    yield from _tree(run.prompts)
    for name in RUN_TABLES:
        if records := getattr(run, name):
            yield b",\n"
            yield from _table(name, records)
    yield b"\n}"


def _tree(tree: PromptTree) -> Iterator[bytes]:
    yield b"{\n"
    if tree.nodes:
        yield from _table(NODES, tree.nodes)
    else:
        yield b'"nodes": [\n]'
    for key, value in plain(tree, skip=(NODES,)).items():
        yield b",\n%b: %b" % (_text(key), _text(value))
    yield b"\n}"


def _table(name: str, records: Sequence[Any]) -> Iterator[bytes]:
    """A table with at least one record."""
    yield b"%b: [\n" % _text(name)
    for index, record in enumerate(records):
        yield (b",\n" if index else b"") + _text(plain(record))
    yield b"\n]"


@cache
def _absent_values(kind: type) -> dict[str, Any]:
    """For each field of a dataclass the value that is left out; ``MISSING`` where none is."""
    absent: dict[str, Any] = {}
    for item in fields(kind):
        default = item.default_factory() if item.default_factory is not MISSING else item.default
        absent[item.name] = default if default in (None, (), {}) else MISSING
    return absent


def plain(value: Any, *, skip: tuple[str, ...] = ()) -> Any:
    """A dataclass as a dictionary, all the way down; tuples of numbers stay, since they are written as lists.

    A number that isn't finite is an assertion's business: no reading and no setting of ours is one.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {
            name: item if type(item) in _AS_IS else plain(item)
            for name, absent in _absent_values(type(value)).items()
            if name not in skip and (item := getattr(value, name)) != absent
        }
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list) or (isinstance(value, tuple) and value and is_dataclass(value[0])):
        return [plain(item) for item in value]
    assert not isinstance(value, float) or isfinite(value), "a capture holds finite numbers only"
    return value


def _text(value: Any) -> bytes:
    """JSON text of one line.

    What orjson refuses, the slower standard library writes, so that no run is lost for it: integers
    beyond 64 bits as they are, half characters of a foreign server's text as question marks.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", errors="replace")
