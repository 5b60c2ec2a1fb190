"""How much of what could be reused was reused, and where the rest went, cell by cell.

Tokens are summed over the seeds of a cell, each cause by itself. What the server didn't say, or what no order of
requests allows, is counted beside it and never mixed in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from radixbench.metrics.figure import CacheAccount, Shortfall
from radixbench.report import readings, text
from radixbench.report.cells import arm_at, arm_cell, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.model import Figure, Grid, Panel, Row
from radixbench.report.parts import CACHED, CONCURRENT, EVICTION, FIRST, PAGES, PARTS, UNEXPLAINED

_TITLE = "Hit efficiency: what was reused, and where the rest went"


class CellAccount(NamedTuple):
    """All runs of one cell of one arm that tell where their tokens went; tokens and requests, summed over seeds."""

    side: Evidence
    cell: dict[str, int | float | str]
    accounts: tuple[CacheAccount, ...]

    @property
    def explained(self) -> list[tuple[CacheAccount, Shortfall]]:
        """The accounts with a split."""
        return [(one, one.shortfall) for one in self.accounts if one.shortfall is not None]

    @property
    def parts(self) -> dict[str, int]:
        """Tokens by part of the bar; their sum is all that was shared."""
        splits = self.explained
        found = sum((one.cached_tokens or 0) - one.excess for one, _ in splits)
        return {
            CACHED: found,
            FIRST: sum(split.first_arrival for _, split in splits),
            CONCURRENT: sum(split.concurrent for _, split in splits),
            PAGES: sum(split.page_remainder for _, split in splits),
            EVICTION: sum(split.eviction for _, split in splits),
            UNEXPLAINED: sum(split.unexplained for _, split in splits),
        }

    @property
    def expected(self) -> tuple[int, int]:
        """What an unlimited cache would have found, at least and at most."""
        splits = self.explained
        return sum(one.expected_low for one, _ in splits), sum(one.expected_high for one, _ in splits)

    @property
    def efficiency(self) -> float | None:
        """Possible cached tokens over the upper end of the expectation; ``None`` where nothing was to be found."""
        high = self.expected[1]
        return self.parts[CACHED] / high if self.explained and high else None

    @property
    def name(self) -> str:
        """``A (cache on), 4,096 shared tokens``."""
        return arm_cell(self.side.arm.name, self.cell)


def efficiency_words(efficiency: float) -> str:
    """``93.1 %``; above 100 % there is no efficiency to speak of, for hits came from before the run."""
    if efficiency <= 1:
        return text.percent(efficiency)
    return f"above the maximum ({text.factor(efficiency).value} of it)"


def cell_accounts(sides: Sequence[Evidence]) -> list[CellAccount]:
    """The cells of all arms whose cache was on."""
    found = []
    for side in sides:
        for cell in side.cells():
            accounts = tuple(s.cache for s in side.summaries if s.cell == cell and s.mode == "on")
            if accounts:
                found.append(CellAccount(side, cell, accounts))
    return found


def shortfall_figure(sides: Sequence[Evidence]) -> Figure | None:
    """A bar for each cell with something to reuse; ``None`` where no arm had its cache on."""
    cells = cell_accounts(sides)
    if not cells:
        return None
    panels = tuple(panel for side in sides if (panel := _panel(side, cells)) is not None)
    return Figure(
        "shortfall",
        _TITLE,
        readings.SHORTFALL,
        panels,
        _grid(cells),
        absent="" if panels else _why_none(cells),
        notes=tuple(_notes(cells)),
    )


def _panel(side: Evidence, cells: Sequence[CellAccount]) -> Panel | None:
    shown = [one for one in cells if one.side is side and any(one.parts.values())]
    if not shown:
        return None
    rows = [row for one in shown for row in _bar(one)]
    present = {row["part"] for row in rows}
    return Panel(
        key=f"shortfall-{side.arm.slot}",
        kind="shortfall",
        title=side.arm.name,
        summary=f"What {side.arm.name} reused of all shared tokens: {'; '.join(map(_spoken, shown))}.",
        x_title="% of all tokens shared within a run",
        y_title="",
        series=tuple(part for part in PARTS if part in present),
        slots=(),
        rows=tuple(rows),
    )


def _bar(one: CellAccount) -> Iterator[Row]:
    parts = one.parts
    whole, at = sum(parts.values()), 0
    for part, tokens in parts.items():
        if tokens:
            yield {
                "cell": cell_title(one.cell),
                "part": part,
                "from": round(100 * at / whole, 3),
                "to": round(100 * (at + tokens) / whole, 3),
                "tip": f"{one.name}: {part} {text.count(tokens)} tokens, {text.percent(tokens / whole)}",
            }
        at += tokens


def _spoken(one: CellAccount) -> str:
    whole = sum(one.parts.values())
    told = [f"{part} {text.percent(tokens / whole)}" for part, tokens in one.parts.items() if tokens]
    return f"{cell_title(one.cell)}: {', '.join(told)}"


def _grid(cells: Sequence[CellAccount]) -> Grid:
    header = (
        "cell",
        "arm",
        "hit efficiency",
        "cached",
        "expected",
        "shared in all",
        *PARTS[1:],
        "requests: first / raced",
        "answers: unknown / impossible",
    )
    return Grid(header, tuple(_grid_row(one) for one in cells))


def _grid_row(one: CellAccount) -> tuple[str, ...]:
    parts, told = one.parts, bool(one.explained)
    low, high = one.expected
    expected = text.count(low) if low == high else f"{text.count(low)}–{text.count(high)}"
    return (
        cell_title(one.cell),
        one.side.arm.name,
        text.MISSING if one.efficiency is None else efficiency_words(one.efficiency),
        text.count(parts[CACHED]) if told else text.MISSING,
        expected if told else text.MISSING,
        text.count(sum(parts.values())) if told else text.MISSING,
        *(text.count(parts[part]) if told else text.MISSING for part in PARTS[1:]),
        f"{_sum(one, 'first_arrivals')} / {_sum(one, 'raced')}",
        f"{_sum(one, 'unknown')} / {_sum(one, 'impossible')}",
    )


def _sum(one: CellAccount, name: str) -> str:
    return text.count(sum(getattr(account, name) for account in one.accounts))


def _notes(cells: Sequence[CellAccount]) -> Iterator[str]:
    for one in cells:
        where = arm_at(one.side.arm.name, one.cell)
        yield from _room(one, where)
        yield from _races(one, where)
        unknown = sum(account.unknown for account in one.accounts)
        if unknown:
            yield f"{where}: {text.plural(unknown, 'answer')} said nothing of cached tokens."
        impossible = sum(account.impossible for account in one.accounts)
        if impossible:
            yield (
                f"{where}: {text.plural(impossible, 'answer')} told more cached tokens than possible; what is "
                "beyond that is left out here."
            )


def _room(one: CellAccount, where: str) -> Iterator[str]:
    short = [account.pressure for account in one.accounts if account.upper_bound_only and account.pressure]
    if short:
        worst = max(short, key=lambda room: room.working_set)
        yield (
            f"{where}, the expectation is an upper bound: the working set exceeds the pool "
            f"({text.count(worst.working_set)} against {text.count(worst.pool_tokens)} tokens)."
        )


def _races(one: CellAccount, where: str) -> Iterator[str]:
    races = [race for account in one.accounts for race in account.races]
    if not races:
        return
    requests = sum(race.requests for race in races)
    computed = [race.computed for race in races]
    known = [n for n in computed if n is not None]
    how = (
        f"{text.count(sum(known))} of them computed it"
        if len(known) == len(computed)
        else "who computed it is unknown"
    )
    yield (
        f"{where}, {text.plural(requests, 'request')} raced for {text.plural(len(races), 'prefix', 'prefixes')} "
        f"of up to {text.plural(max(race.tokens for race in races), 'token')} that nobody had computed before: {how}."
    )


def _why_none(cells: Sequence[CellAccount]) -> str:
    if any(one.explained for one in cells):
        return "Nothing is shared in any cell, so nothing could be reused."
    return (
        "Cached tokens are unknown, or not every prompt is known by its token ids: nothing can be explained."
    )
