"""``simulate hits`` on a terminal: a row for each cache, and what the rates mean below it.

A row that leaves requests out is marked: its rate is of fewer prompt tokens than the others'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from radixbench.cli.hit_lines import (
    definition_line,
    hit_lines,
    left_out_words,
    percent,
    room_words,
    traffic_lines,
)
from radixbench.report.text import count

_MARK = "*"


def print_hits(document: Mapping[str, Any], console: Console | None = None) -> None:
    """A table on a terminal; elsewhere the lines, which nothing breaks."""
    console = console or Console(highlight=False)
    if not console.is_terminal:
        for line in hit_lines(document):
            console.print(Text(line), soft_wrap=True)
        return
    for line in traffic_lines(document):
        console.print(Text(line))
    console.print(_table(document["rows"]))
    for row in document["rows"]:
        if left_out_words(row):
            place = f"page {row['page_size']}, {room_words(row)}"
            console.print(Text(f"{_MARK} {place}: {left_out_words(row)}"))
    console.print(Text(definition_line(document), style="dim"))


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Columns that no row fills are left out."""
    columns = {
        "page": [count(row["page_size"]) for row in rows],
        "capacity": [
            "unlimited" if row["capacity_tokens"] is None else count(row["capacity_tokens"]) for row in rows
        ],
        "hit rate": [percent(row["hit_rate"]) + (_MARK if row["skipped_requests"] else "") for row in rows],
        "cached": [count(row["cached_tokens"]) for row in rows],
        "prompt": [count(row["prompt_tokens"]) for row in rows],
        "requests": [count(row["requests"]) for row in rows],
    }
    if any(row["reuse_rate"] is not None for row in rows):
        columns["reuse rate"] = [percent(row["reuse_rate"]) for row in rows]
    if any(row["blocks"] is not None for row in rows):
        columns["block hits"] = [percent(row["block_hit_rate"]) for row in rows]
    if any(row["evicted_tokens"] for row in rows):
        columns["evicted"] = [count(row["evicted_tokens"]) for row in rows]
    table = Table(padding=(0, 0))
    for name, values in columns.items():
        table.add_column(name, justify="right", min_width=max(map(len, [*values, *name.split()])))
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    return table
