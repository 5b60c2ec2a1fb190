"""What a comparison says, as values: the compare document in types.

``to_document`` (in ``compare.document``) turns a ``Comparison`` into the JSON that
``radixbench compare --json`` prints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from radixbench.findings.model import Severity

__all__ = [
    "ArmSummary",
    "Bound",
    "Caveat",
    "Change",
    "Comparison",
    "Difference",
    "Factor",
    "Severity",
    "Side",
    "Spread",
    "VerdictName",
]

VerdictName = Literal["better", "worse", "within-noise", "undecided", "incomparable"]
Bound = Literal["upper", "lower"]


@dataclass(frozen=True, slots=True)
class Caveat:
    """What a reader must know before believing a number, and what would mend it."""

    code: str
    severity: Severity
    text: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs between the captures; ``allowed`` says whether a verdict may still be given."""

    field: str
    a: Any
    b: Any
    allowed: bool


@dataclass(frozen=True, slots=True)
class Side:
    """One arm's figure: mean over runs (geometric, or arithmetic for rates in 0–1), interval over runs."""

    value: float | None
    low: float | None
    high: float | None
    n_runs: int
    n_values: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Factor:
    """How many times better A is (> 1: A better), with its interval from paired log-ratios."""

    value: float
    low: float | None
    high: float | None
    level: float


@dataclass(frozen=True, slots=True)
class Spread:
    """A difference A − B with its interval, for figures that explain but are no quality."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """One metric in one cell, both sides, and what may be concluded.

    ``detectable`` belongs to ``within-noise``: the smallest relative effect (0.05 is 5 %) that this many
    pairs with this spread would have shown. ``bound`` says how the true factor may lie: at most
    (``upper``) or at least (``lower``) the one printed.
    ``pairs`` holds (seed, A's figure, B's figure) of every seed both sides have.
    """

    cell: dict[str, int | float | str]
    metric: str
    unit: str
    better: Literal["lower", "higher"] | None
    a: Side
    b: Side
    factor: Factor | None
    difference: Spread | None
    verdict: VerdictName | None
    detectable: float | None
    bound: Bound | None
    reason: str | None
    caveats: tuple[str, ...]
    pairs: tuple[tuple[int, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """How one side introduces itself; ``off_mode`` is how it came to be without reuse, where it is."""

    path: str | None
    mode: str
    model: str
    engine: str
    scenario: str
    runs: int
    planned_runs: int
    requests: int
    completed: int
    off_mode: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole comparison of capture A (candidate) with capture B (reference)."""

    a: ArmSummary
    b: ArmSummary
    eligible: bool
    differences: tuple[Difference, ...]
    changes: tuple[Change, ...]
    caveats: tuple[Caveat, ...]
    threshold: float
