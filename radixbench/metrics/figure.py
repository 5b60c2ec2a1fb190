"""What summarising a run leaves: figures by metric name, and the account of its cached tokens."""

from __future__ import annotations

from dataclasses import dataclass, field

from radixbench.capture.model import CellValue
from radixbench.records import Mode


@dataclass(frozen=True, slots=True)
class RunFigure:
    """One metric of one run; ``value`` is ``None`` exactly when ``reason`` says why. ``n_values`` went into it."""

    metric: str
    value: float | None
    n_values: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class CacheAccount:
    """Tokens of one run: asked, reused by the server's word, and what an unlimited cache would have reused.

    ``expected_low`` to ``expected_high`` is a range where requests in flight together race for a
    prefix. ``turns`` holds the same per turn number for workloads with turns: (turn, prompt, cached, low, high).
    """

    prompt_tokens: int | None
    cached_tokens: int | None
    expected_low: int
    expected_high: int
    page_size: int
    turns: tuple[tuple[int, int | None, int | None, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class RunSummary:
    """All figures of one run by metric name.

    ``completed`` requests ended well, ``answered`` of them brought tokens with possible stamps.
    ``excluded`` counts, by cause, what stayed out of the figures.
    """

    cell: dict[str, CellValue]
    seed: int
    mode: Mode
    order: int
    requested: int
    completed: int
    figures: dict[str, RunFigure]
    cache: CacheAccount
    answered: int = 0
    excluded: dict[str, int] = field(default_factory=dict)
