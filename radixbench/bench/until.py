"""``--until``: which cell gets another seed, and why a sweep had enough.

Each cell is an experiment of its own: one whose intervals are narrow gets no more seeds, the others go on, the one
with the fewest first and cells of one server setting before the next. Every cell has its first seeds before any gets
more, so that whatever ends the sweep finds all of them measured. Only pairs that a comparison would count
bring a cell nearer to its end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from radixbench.bench.progress import Further
from radixbench.bench.results import Results, Row
from radixbench.bench.schedule import RunPlan, alike, next_seed
from radixbench.capture.model import CellValue
from radixbench.scenario.model import Scenario
from radixbench.scenario.resolve import cells
from radixbench.stats.sequential import MIN_SEEDS

MOST_SEEDS = 50
"""Seeds of a cell after which it is given up, unless more were asked for anyway."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How ``--until`` ended: whether every interval is narrow enough, the widest of them, and why in words.

    ``seeds`` are those of each cell that were measured in every arm.
    """

    target: float
    reached: bool
    widest: float | None
    seeds: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Until:
    """Seeds are added until every gated interval of every cell is within ``target`` (0.05 is 5 %) of its value."""

    scenario: Scenario
    target: float
    results: Results

    @property
    def most(self) -> int:
        """Seeds of a cell at most."""
        return most_seeds(self.scenario.seeds)

    def more(self, plans: tuple[RunPlan, ...]) -> tuple[RunPlan, ...]:
        """The next pair after all that is planned, or of one arm the next run; none when every cell is at its end."""
        for group in alike(self.scenario):
            open_ = [index for index in group if self._is_open(index, plans)]
            if open_:
                return next_seed(self.scenario, plans, min(open_, key=lambda index: _seeds(plans, index)))
        return ()

    def further(self, plans: tuple[RunPlan, ...]) -> Further:
        """The seeds that open cells may still take beyond those planned, by the spread seen so far."""
        seeds, enough = {}, True
        for index, cell in enumerate(cells(self.scenario)):
            needed = [row.needed(self.target, self.most) for row in self.results.rows(cell)]
            most = max((count for count in needed if count is not None), default=0)
            least = 1 if most and self._is_open(index, plans) else 0
            seeds[index] = max(least, min(most, self.most) - _seeds(plans, index))
            enough = enough and most <= self.most
        return Further(seeds, enough)

    def ending(self, plans: tuple[RunPlan, ...], cut: str | None = None) -> Ending:
        """Why no seed is added any more; ``cut`` says what ended it from outside."""
        every = cells(self.scenario)
        rows = [(row, cell) for cell in every for row in self.results.rows(cell)]
        counted = all(self.results.rows(cell) for cell in every)
        reached = counted and all(row.enough(self.target) for row, _ in rows)
        counts = tuple(self.results.seeds(cell) for cell in every)
        widest = _widest(rows)
        if cut is None and max(_seeds(plans, index) for index in range(len(every))) >= self.most:
            cut = f"{self.most} seeds are the most"
        text = f"--until {self.target * 100:g}%: {_why(counts, widest, reached=reached, cut=cut)}"
        return Ending(self.target, reached, widest[0] if widest else None, counts, text)

    def _is_open(self, index: int, plans: tuple[RunPlan, ...]) -> bool:
        """Whether another seed may bring a cell's intervals nearer to the target: where none counts none will."""
        rows = self.results.rows(cells(self.scenario)[index])
        if not rows or _seeds(plans, index) >= self.most:
            return False
        return not all(row.enough(self.target) for row in rows)


_Widest = tuple[float, Row, dict[str, CellValue]]


def _widest(rows: Iterable[tuple[Row, dict[str, CellValue]]]) -> _Widest | None:
    widths = [(width, row, cell) for row, cell in rows if (width := row.width()) is not None]
    return max(widths, key=lambda found: found[0], default=None)


def _why(counts: tuple[int, ...], widest: _Widest | None, *, reached: bool, cut: str | None) -> str:
    seeds = f"{min(counts)} to {max(counts)} seeds" if len(set(counts)) > 1 else f"{counts[0]} seeds"
    if set(counts) == {1}:
        seeds = "1 seed"
    if widest is None:
        return f"nothing that could be narrowed was measured{f' in {seeds}' if max(counts) else ''}"
    width, row, cell = widest
    if reached:
        return f"every interval is within ±{width * 100:.1f} % after {seeds}"
    where = "".join(f", {value} {axis.replace('_', ' ')}" for axis, value in cell.items())
    of = f"{row.metric.title}{where}"
    why = cut or "no pair counts"
    return f"not reached, {why}: the widest interval is ±{width * 100:.1f} % ({of}) after {seeds}"


def _seeds(plans: tuple[RunPlan, ...], cell_index: int) -> int:
    """How many seeds of a cell are planned."""
    return len({plan.seed for plan in plans if plan.cell_index == cell_index})


def most_seeds(seeds: int) -> int:
    """How many seeds a cell has at most where ``seeds`` were asked for."""
    return max(MOST_SEEDS, seeds)


def floor(seeds: int) -> int:
    """How many seeds every cell has before its intervals are looked at."""
    return max(seeds, MIN_SEEDS)
