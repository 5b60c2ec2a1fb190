"""A log read to the end: its figures, and everything that its notes are drawn from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from radixbench.logs.record import LineCounts
from radixbench.metrics.log_summary.figures import Group
from radixbench.metrics.log_summary.kept import Kept
from radixbench.metrics.log_summary.model import (
    Concurrency,
    DecodeFigures,
    Phase,
    PrefillFigures,
    Pressure,
    RankFigures,
    RequestFigures,
    Role,
    ServerWindow,
    Throughput,
    Window,
)
from radixbench.metrics.log_summary.quoting import Quote
from radixbench.metrics.log_summary.windows import Lane


@dataclass(frozen=True, slots=True)
class Figures:
    """What one dialect's lines come to. ``lanes`` are the ranks that count, over time; ``main_pool`` names their pool."""

    role: Role
    prefill: PrefillFigures
    decode: DecodeFigures
    requests: RequestFigures
    throughput: Throughput
    pressure: Pressure
    ranks: tuple[RankFigures, ...]
    lanes: tuple[Lane, ...]
    main_pool: str
    server_windows: tuple[ServerWindow, ...] = ()
    group: Group | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """Figures with what they came from. ``lines`` counts physical lines, ``others`` the lines of other dialects that counted."""

    kept: Kept
    dialect: str
    lines: LineCounts
    others: dict[str, int]
    figures: Figures
    windows: tuple[Window, ...]
    phases: tuple[Phase, ...]
    concurrency: tuple[Concurrency, ...]
    label: Callable[[float], str]
    quote: Quote
