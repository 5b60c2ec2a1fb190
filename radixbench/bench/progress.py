"""What a bench tells whoever watches; the command line draws it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Stage = Literal["start-server", "warm-up", "measure", "saved", "note"]


@dataclass(frozen=True, slots=True)
class Progress:
    """One event of a bench.

    ``run`` counts from 1 to ``runs`` over both arms; ``done`` of ``total`` requests are answered in
    the present run. ``left_s`` is the time left by what the finished runs took, ``None`` until one has.
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


OnProgress = Callable[[Progress], None]
