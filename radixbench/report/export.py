"""Captures as files that other programs read: flat keys as JSON, and tidy CSV tables.

Whatever stands in them is recomputed from the raw records by the same functions as the report's figures. Tables are
written row by row, so that a hundred thousand requests need no more memory than one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from radixbench.capture.model import Capture, Run
from radixbench.capture.output import replacing
from radixbench.compare.change import Comparison
from radixbench.compare.verdict import HEADLINE
from radixbench.metrics.flat import Flat, flat_cell, flat_run
from radixbench.report.cells import cell_key
from radixbench.report.sheet import written
from radixbench.report.tidy import Table, factors_table, requests_table, runs_table

SCHEMA = "radixbench.flat/1"
FLAT_FILES = frozenset({".json", ".jsonl"})

_UNSAFE = re.compile(r"[^\w.-]+", re.ASCII)
_LONGEST = 120
"""What a file name leaves out, and how long it may be: axes may have any text."""

Named = tuple[str, Capture]
"""A capture and the name it goes by in the files, such as its path."""


def write_flat(captures: Sequence[Named], path: Path) -> tuple[Path, ...]:
    """The flat keys of every run; says which files were written.

    ``.jsonl``: one line a run, as SGLang's tool appends them. ``.json``: one object with the lists ``runs`` and ``cells``,
    these pooled. Any other name is a directory: a file a run, with the lists of its requests, as vLLM's tool saves them.
    Raises ``OutputError`` for what can't be written.
    """
    kind = path.suffix.lower()
    if kind not in FLAT_FILES:
        return tuple(_one_a_run(captures, path))
    lines = _lines(_runs(captures)) if kind == ".jsonl" else _document(_runs(captures), _cells(captures))
    with replacing(path) as file:
        for line in lines:
            file.write(line.encode())
    return (path,)


def _runs(captures: Sequence[Named], *, detail: bool = False) -> Iterator[Flat]:
    for name, capture in captures:
        for run in capture.runs:
            yield {"capture": name, **flat_run(run, capture.scenario, detail=detail)}


def _one_a_run(captures: Sequence[Named], directory: Path) -> Iterator[Path]:
    """Numbered, so that runs of captures of one name don't meet in one file."""
    cells = (run.cell for _, capture in captures for run in capture.runs)
    for number, (cell, flat) in enumerate(zip(cells, _runs(captures, detail=True), strict=True), 1):
        words = (
            f"{number:03}",
            flat["mode"],
            f"seed{flat['seed']}",
            *(f"{axis}{at}" for axis, at in cell.items()),
        )
        path = directory / f"{_UNSAFE.sub('_', '-'.join(words))[:_LONGEST]}.json"
        with replacing(path) as file:
            file.write(_json(flat).encode())
        yield path


def write_csv(
    captures: Sequence[Named],
    directory: Path,
    *,
    comparisons: Sequence[Comparison] = (),
    gate: Collection[str] = HEADLINE,
) -> tuple[Path, ...]:
    """``runs.csv``, ``requests.csv`` and, for comparisons, ``factors.csv`` in ``directory``; files there are replaced.

    Units stand in the names of the columns; a cell that is empty is unknown. ``gate`` are the metrics whose rows are judged together. Text that a spreadsheet would take for
    a formula has a ``'`` before it. Raises ``OutputError`` for a folder that can't be written.
    """
    tables: dict[str, Table] = {
        "runs.csv": runs_table(captures),
        "requests.csv": requests_table(captures),
    }
    if comparisons:
        tables["factors.csv"] = factors_table(*comparisons, gate=gate)
    return tuple(written(directory / name, header, rows) for name, (header, rows) in tables.items())


def _cells(captures: Sequence[Named]) -> Iterator[Flat]:
    for name, capture in captures:
        runs: dict[object, list[Run]] = {}
        for run in capture.runs:
            runs.setdefault((run.mode, cell_key(run.cell)), []).append(run)
        for group in runs.values():
            yield {"capture": name, **flat_cell(group, capture.scenario)}


def _lines(rows: Iterable[Flat]) -> Iterator[str]:
    return (_json(row) + "\n" for row in rows)


def _document(runs: Iterable[Flat], cells: Iterable[Flat]) -> Iterator[str]:
    yield f'{{"schema": {_json(SCHEMA)},\n"runs": ['
    yield from _items(runs)
    yield '],\n"cells": ['
    yield from _items(cells)
    yield "]}\n"


def _items(rows: Iterable[Flat]) -> Iterator[str]:
    for index, row in enumerate(rows):
        yield (",\n" if index else "\n") + _json(row)


def _json(value: Any) -> str:
    """One line of ASCII, so that half characters of a foreign server's text are no trouble."""
    return json.dumps(value, allow_nan=False)
