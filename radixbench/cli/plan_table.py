"""A sweep's plan on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from radixbench.bench.plan import SweepPlan
from radixbench.report.cells import cell_title
from radixbench.report.text import share
from radixbench.stats.sequential import STOPPED_COVERAGE
from radixbench.units import Bytes, Seconds

_GIB = 1 << 30
_STATES = {"cold": "an empty cache", "primed": "the shared prefixes cached", "warm": "everything cached"}
_OFF_MODES = {
    "flag": "a server without its cache",
    "salt": "a salt of its own in every request",
    "flush": "a flush before every request",
}


def print_plan(plan: SweepPlan) -> None:
    """The cells as a table, then time and memory."""
    console = Console(highlight=False)
    fixed = {axis: value for axis, value in plan.cells[0].cell.items() if axis not in _axes(plan)}
    console.print(
        f"{plan.scenario}: {plan.workload} on {plan.model}, {plan.device}, {_seeds(plan)}{_lengths(plan)}"
    )
    console.print(_arms(plan))
    if plan.until is not None:
        console.print(
            f"seeds are added to each cell until TTFT and output throughput are within ±{share(plan.until)} of their"
            f" values; an interval stopped so holds the truth in {share(STOPPED_COVERAGE)} of cases at least"
        )
    if fixed and len(plan.cells) > 1:
        console.print(f"every cell: {cell_title(fixed)}")
    console.print(_table(plan))
    console.print(
        "counts are tokens per seed and arm; computed on: prompt tokens to prefill with the cache on, at best, when no"
        " two first arrivals race; off computes all of the prompt"
    )
    for line in _estimates(plan):
        console.print(line)


def _seeds(plan: SweepPlan) -> str:
    if plan.most_seeds is None:
        return f"{plan.seeds} seeds, {plan.runs} runs"
    return f"{plan.seeds} to {plan.most_seeds} seeds, {plan.runs} runs or more"


def _arms(plan: SweepPlan) -> str:
    """What a run of either arm begins with."""
    begin = f"each run begins with {_STATES[plan.cache_state]}"
    modes = {arm.partition("-")[0] for arm in plan.arms}
    if len(plan.arms) > len(modes):
        (mode,) = modes
        how = _OFF_MODES[plan.off_mode] if mode == "off" else _STATES[plan.cache_state]
        return f"null test, {' against '.join(plan.arms)}: both with {how}"
    return f"{begin}; off: {_OFF_MODES[plan.off_mode]}" if "off" in modes else begin


def _axes(plan: SweepPlan) -> list[str]:
    """The axes that tell the cells apart; all of a single cell's."""
    first = plan.cells[0].cell
    if len(plan.cells) == 1:
        return list(first)
    return [axis for axis in first if any(planned.cell[axis] != first[axis] for planned in plan.cells)]


def _table(plan: SweepPlan) -> Table:
    """A row for each cell: its axes, then its counts, of which no digit is cut off."""
    axes = _axes(plan)
    rows = []
    for planned in plan.cells:
        counts = (planned.requests, planned.prompt_tokens, planned.computed_on, planned.output_tokens)
        shown = [_shown(planned.cell[axis]) for axis in axes] or [cell_title({})]
        rows.append([*shown, *("?" if count is None else f"{count:,}" for count in counts)])
    names = [axis.replace("_", " ") for axis in axes] or ["cell"]
    table = Table(*names, "requests", "prompt", "computed on", "output")
    for column, texts in zip(table.columns, zip(*rows, strict=True), strict=True):
        words = [*texts, *str(column.header).split()]
        column.justify, column.min_width = "right", max(map(len, words))
    for row in rows:
        table.add_row(*row)
    return table


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,}"


def _lengths(plan: SweepPlan) -> str:
    known = {"question": plan.question_len, "output": plan.output_len}
    said = ", ".join(f"{name} {length:,}" for name, length in known.items() if length is not None)
    return f", {said} tokens" if said else ""


def _estimates(plan: SweepPlan) -> Iterable[str]:
    if plan.longest_request is not None:
        yield f"longest request: {plan.longest_request:,} tokens"
    if plan.seconds is not None:
        yield f"time: {'' if plan.until is None else 'at least '}{_time(plan.seconds)}"
    if plan.weight_bytes is not None and plan.pool_bytes is not None:
        yield f"memory of the servers: weights {_size(plan.weight_bytes)}, KV pools {_size(plan.pool_bytes)}"
    for note in plan.notes:
        yield f"note: {note}"


def _time(seconds: Seconds) -> str:
    long = seconds > 2 * 3600
    amount = f"{seconds / 3600:,.1f} hours" if long else f"{max(seconds / 60, 0.1):.1f} minutes"
    return f"about {amount}, by the model's shape and this CPU's speed (within a factor of two)"


def _size(size: Bytes) -> str:
    return f"{size / _GIB:.2f} GiB"
