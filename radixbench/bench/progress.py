"""What a bench tells whoever watches; the command line draws it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

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


@dataclass(frozen=True, slots=True)
class Progress:
    """One event of a bench.

    ``run`` counts from 1 to ``runs`` over both arms; ``done`` of ``total`` requests are answered in
    the present run. ``left_s`` is the time left by what the finished runs took, ``None`` until one has.
    ``arm`` names the arm where two share a mode; ``running`` are the present cell's estimates, ``clock`` the card's state
    at its last reading in words, ``errors`` the failed requests of the present run.
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


OnProgress = Callable[[Progress], None]
