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
    table = Table(
        "cell", "requests", "prompt tokens", "computed, cache on", "computed, cache off", "output tokens"
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for cell in plan.cells:
        counts = (cell.requests, cell.prompt_tokens, cell.computed_on, cell.computed_off, cell.output_tokens)
        table.add_row(cell_title(cell.cell), *(f"{count:,}" for count in counts))
    console.print(table)
    console.print("counts are per seed and arm; computed: at best, when no two first arrivals race")
    for line in _estimates(plan):
        console.print(line)


def _estimates(plan: SweepPlan) -> Iterable[str]:
    yield f"longest request: {plan.longest_request:,} tokens"
    yield f"time: {_time(plan.seconds)}"
    yield f"memory of both servers: weights {_size(plan.weight_bytes)}, KV pools {_size(plan.pool_bytes)}"


def _time(seconds: Seconds | None) -> str:
    if seconds is None:
        return "unknown: no shape of this model, or no measure of this device, is at hand"
    return f"about {max(seconds / 60, 0.1):.1f} minutes, by the model's shape and this CPU's speed (within a factor of two)"


def _size(size: Bytes | None) -> str:
    return "unknown" if size is None else f"{size / _GIB:.2f} GiB"
