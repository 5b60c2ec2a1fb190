"""What a bench tells whoever watches; the command line draws it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Stage = Literal["start-server", "warm-up", "measure", "saved", "note"]


@dataclass(frozen=True, slots=True)
class Running:
    """What the pairs of the present cell say so far: the factor of the first arm over the second, above 1 is better.

    ``low`` and ``high`` are ``None`` with fewer than 2 pairs. With one arm ``value`` is the figure itself, in ``unit``.
    """

    metric: str
    value: float
    low: float | None
    high: float | None
    n: int
    unit: str = "x"


class Further(NamedTuple):
    """Seeds still to be added, by the number of their cell, and whether these are ``enough`` by the spread seen so far."""

    seeds: Mapping[int, int]
    enough: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """One event of a bench.

    ``run`` counts from 1 to ``runs`` over both arms; ``done`` of ``total`` requests are answered in
    the present run. ``left_s`` is the time left by what the finished runs took, ``None`` until one has.
    ``arm`` names the arm where two share a mode; ``running`` are the present cell's estimates, ``clock`` the card's state
    at its last reading in words, ``errors`` the failed requests of the present run, ``failed_runs`` the runs that failed
    or are incomplete so far. Where seeds are added until intervals are within ``target`` of their values ``runs`` are those
    planned by now, ``left_s`` is the time to the end of these, and ``target_left_s`` about that to the end of all, which
    is not ``target_near`` where even the most seeds may not be enough. ``limit_s`` is the time to a limit that comes before.
    """

    stage: Stage
    text: str
    run: int
    runs: int
    done: int = 0
    total: int = 0
    left_s: float | None = None
    cell: dict[str, int | float | str] = field(default_factory=dict)
    mode: str | None = None
    seed: int | None = None
    arm: str | None = None
    running: tuple[Running, ...] = ()
    clock: str | None = None
    errors: int = 0
    failed_runs: int = 0
    target: float | None = None
    target_left_s: float | None = None
    target_near: bool = True
    limit_s: float | None = None


OnProgress = Callable[[Progress], None]
