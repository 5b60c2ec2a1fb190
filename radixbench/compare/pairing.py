"""Runs of both arms paired by cell and seed: the pair is what statistics count.

A run whose cache wasn't in the state that was declared, by its own witnesses or by the other arm's speed, or whose
server others used as well, is set aside with its pair: marked, never averaged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from radixbench.compare.arm import Arm, ArmRun
from radixbench.compare.untold import untold_hits
from radixbench.findings.alone import disturbed
from radixbench.findings.cell import CellKey
from radixbench.findings.state import state_fault


@dataclass(frozen=True, slots=True)
class Pair:
    """One seed of one cell on both arms."""

    seed: int
    a: ArmRun
    b: ArmRun

    @property
    def runs(self) -> tuple[ArmRun, ArmRun]:
        """Both runs, A first."""
        return self.a, self.b

    @property
    def is_one_run(self) -> bool:
        """Both sides are the same run, as where a capture is compared with a copy of itself."""
        return self.a.run == self.b.run


@dataclass(frozen=True, slots=True)
class CellPairs:
    """A cell's pairs that count, those set aside, and all runs either arm has of it; ``sides`` are the arms' letters.

    ``open_loop``: requests were sent at a pace of their own, whether or not the server kept up.
    """

    key: CellKey
    pairs: tuple[Pair, ...]
    set_aside: tuple[Pair, ...]
    a_runs: tuple[ArmRun, ...]
    b_runs: tuple[ArmRun, ...]
    sides: tuple[str, str] = ("A", "B")
    open_loop: bool = False

    @property
    def all_pairs(self) -> tuple[Pair, ...]:
        """Every pair, set aside or not."""
        return self.pairs + self.set_aside


def pair_up(a: Arm, b: Arm) -> tuple[CellPairs, ...]:
    """Every cell of either arm, A's order first. Two captures without any run have one empty cell."""
    cells_a, cells_b = a.by_cell(), b.by_cell()
    keys = list(dict.fromkeys([*cells_a, *cells_b])) or [()]
    open_loop = any(arm.capture.scenario.load.arrival != "closed" for arm in (a, b))
    found = (_pair_cell(key, cells_a.get(key, {}), cells_b.get(key, {}), (a.side, b.side)) for key in keys)
    return tuple(replace(cell, open_loop=open_loop) for cell in found)


def _pair_cell(key: CellKey, a: dict[int, ArmRun], b: dict[int, ArmRun], sides: tuple[str, str]) -> CellPairs:
    pairs = [Pair(seed, a[seed], b[seed]) for seed in sorted(a.keys() & b.keys())]
    faulty = {pair.seed for pair in pairs if _is_faulty(pair)}
    return CellPairs(
        key=key,
        pairs=tuple(pair for pair in pairs if pair.seed not in faulty),
        set_aside=tuple(pair for pair in pairs if pair.seed in faulty),
        a_runs=tuple(a.values()),
        b_runs=tuple(b.values()),
        sides=sides,
    )


def _is_faulty(pair: Pair) -> bool:
    if any(disturbed(one.run) or state_fault(one.run, one.summary) is not None for one in pair.runs):
        return True
    return untold_hits(pair.a, pair.b) is not None
