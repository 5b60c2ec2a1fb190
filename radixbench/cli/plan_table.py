"""A sweep's plan on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from radixbench.bench.plan import SweepPlan
from radixbench.report.cells import cell_title
from radixbench.units import Bytes, Seconds

_GIB = 1 << 30


def print_plan(plan: SweepPlan) -> None:
    """The cells as a table, then time and memory."""
    console = Console(highlight=False)
    console.print(
        f"{plan.scenario}: {plan.model} on {plan.device}, {plan.seeds} seeds, {plan.runs} runs, "
        f"question {plan.question_len}, output {plan.output_len} tokens"
    )
    table = Table("cell", "requests", "prompt", "computed on", "computed off", "output")
    table.columns[0].no_wrap = True
    for column in table.columns[1:]:
        column.justify = "right"
    for cell in plan.cells:
        counts = (cell.requests, cell.prompt_tokens, cell.computed_on, cell.computed_off, cell.output_tokens)
        table.add_row(cell_title(cell.cell), *(f"{count:,}" for count in counts))
    console.print(table)
    console.print(
        "counts are tokens per seed and arm; computed: prompt tokens to prefill with the cache on (at best, when no two first"
        " arrivals race) and off"
    )
    for line in _estimates(plan):
        console.print(line)


def _estimates(plan: SweepPlan) -> Iterable[str]:
    yield f"longest request: {plan.longest_request:,} tokens"
    if plan.seconds is not None:
        yield f"time: {_time(plan.seconds)}"
    if plan.weight_bytes is not None and plan.pool_bytes is not None:
        yield f"memory of both servers: weights {_size(plan.weight_bytes)}, KV pools {_size(plan.pool_bytes)}"
    for note in plan.notes:
        yield f"note: {note}"


def _time(seconds: Seconds) -> str:
    return f"about {max(seconds / 60, 0.1):.1f} minutes, by the model's shape and this CPU's speed (within a factor of two)"


def _size(size: Bytes) -> str:
    return f"{size / _GIB:.2f} GiB"
