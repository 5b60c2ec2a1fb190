"""What a comparison says, as values: the compare document in types.

``to_document`` (in ``compare.document``) turns a ``Comparison`` into the JSON that
``radixbench compare --json`` prints.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from radixbench.findings.model import Finding, Severity
from radixbench.metrics.law import Law
from radixbench.stats.power import ALPHA

__all__ = [
    "ArmSummary",
    "Bound",
    "Caveat",
    "CellClocks",
    "Change",
    "Clocks",
    "Comparison",
    "Difference",
    "Factor",
    "LawChange",
    "Power",
    "Prediction",
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
    """One thing that differs between the captures; ``allowed`` says whether a verdict may still be given.

    ``overridden`` is a difference that forbids one by itself, and that the reader allowed by name. ``where`` says in
    which pairs of runs it was found, "" where it holds for the captures.
    """

    field: str
    a: Any
    b: Any
    allowed: bool
    overridden: bool = False
    where: str = ""

    @property
    def forbids(self) -> bool:
        """Whether it stands in the way of a verdict."""
        return not (self.allowed or self.overridden)


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
class Power:
    """What these pairs could have shown, whatever they did show.

    ``spread`` is the standard deviation of the paired log-ratios (0.03 is 3 %), ``detectable`` the smallest relative
    effect that leads to a verdict with 80 % chance, ``chance`` the chance of a verdict by true relative effect.
    ``with_pairs`` is what ``detectable`` would be with so many pairs of the same spread: the remedy. Too few pairs for
    any verdict have neither ``detectable`` nor ``chance``.
    """

    n_pairs: int
    spread: float
    detectable: float | None
    chance: dict[float, float]
    with_pairs: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """One metric in one cell, both sides, and what may be concluded.

    ``detectable`` belongs to ``within-noise``: the smallest relative effect (0.05 is 5 %) that this many
    pairs with this spread would have shown. ``bound`` says how the true factor may lie: at most
    (``upper``) or at least (``lower``) the one printed.
    ``pairs`` holds (seed, A's figure, B's figure) of every seed both sides have. ``alpha`` is the level at which Student's
    t decides the row by itself: where seeds were added until intervals were narrow it is stricter than what it comes to;
    ``threshold`` is the smallest |factor − 1| that counts.
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
    power: Power | None = None
    alpha: float = ALPHA
    threshold: float = 0.03


@dataclass(frozen=True, slots=True)
class Clocks:
    """One arm's cards in one cell. Clocks in MHz, shares 0 to 1, power in mW; ``None`` is what nobody tells.

    ``median`` is that of the slowest device, the geometric mean over runs, ``floor`` the lowest reading of any that had work. ``throttled_share`` is the largest of a
    run, ``source`` whether the driver's time counters or samples tell it, ``reasons`` the share of each reason.
    ``firmware_hidden``: the device's clock was low while no reason was set, so that limits below NVML may be at work.
    """

    devices: tuple[str, ...]
    median: float | None
    floor: int | None
    maximum: int | None
    throttled_share: float | None
    source: Literal["counters", "samples"] | None
    reasons: dict[str, float]
    start_temperature_c: int | None
    power_limit_mw: int | None
    firmware_hidden: bool = False
    why_unknown: str | None = None


@dataclass(frozen=True, slots=True)
class CellClocks:
    """Both arms' clocks in one cell and what they mean for its factors.

    ``gap`` is how far the medians are apart, as a share of the faster; ``explains`` the largest factor that the clocks
    alone could make, ``None`` also in an open loop, where waiting has no such limit; ``text`` says the direction in words, "" where nothing speaks against the factors.
    """

    cell: dict[str, int | float | str]
    a: Clocks
    b: Clocks
    gap: float | None
    bound: Bound | None
    explains: float | None
    text: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """The factor of TTFT that the laws of both arms foretell at a shared length, for a request that finds it cached.

    ``beyond`` says that the length lies outside of what was measured. ``straight``: it holds only if B's law is a straight
    line, as nothing was measured in the middle that could tell.
    """

    shared_tokens: int
    factor: Factor
    beyond: bool
    straight: bool = False


@dataclass(frozen=True, slots=True)
class LawChange:
    """The law behind the factors of one setting (a cell without its shared length): a line per arm, and what follows.

    ``a`` and ``b`` are ``None`` with a reason where no line can be drawn. ``break_even`` is the shared length in tokens
    from which on A's first token comes sooner, with its interval; ``None`` with ``break_even_reason``.
    """

    setting: dict[str, int | float | str]
    a: Law | None
    b: Law | None
    reason: str | None
    break_even: Spread | None
    break_even_reason: str | None
    predictions: tuple[Prediction, ...]


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """How one side introduces itself; ``off_mode`` is how it came to be without reuse, where it is.

    ``until`` is the share of their values that intervals should be within, where seeds were added for it.
    """

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
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole comparison of capture A (candidate) with capture B (reference).

    ``null_test``: A and B are the two arms of one sweep that measured an arm against itself. ``sides`` are the letters
    that they go by in words. ``beside`` are the rows of comparisons of other candidates with the same reference: gated
    rows of all of them are judged together. ``findings`` are what the caveats are made of.
    """

    a: ArmSummary
    b: ArmSummary
    eligible: bool
    differences: tuple[Difference, ...]
    changes: tuple[Change, ...]
    caveats: tuple[Caveat, ...]
    threshold: float
    allowed: tuple[str, ...] = ()
    clocks: tuple[CellClocks, ...] = ()
    laws: tuple[LawChange, ...] = ()
    null_test: bool = False
    sides: tuple[str, str] = ("A", "B")
    beside: tuple[Change, ...] = ()
    findings: tuple[Finding, ...] = ()
