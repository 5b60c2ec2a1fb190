"""The law behind a factor: the time to the first token as a line over the tokens that had to be computed.

The line is that of the median request (``stats.median_plane``), one for each seed, over all cells of one setting: a
cell without its shared length and its turns. It describes this load and not the hardware: in a closed loop a request
also waits for the prompts of those in flight with it. Where cached tokens vary apart from computed ones, they have a
slope of their own, so that what a hit costs isn't taken for what a short prompt costs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median

from radixbench.capture.model import CellValue, Run
from radixbench.metrics.answers import Answers, prompt_length, sort_out
from radixbench.metrics.cache import reported_cached
from radixbench.metrics.latency import ttft
from radixbench.stats.estimate import Estimate
from radixbench.stats.interval import LEVEL, mean_interval
from radixbench.stats.median_plane import is_independent, median_plane
from radixbench.stats.sample import Absent, Sample

LENGTH_AXES = frozenset({"shared_tokens", "turns"})
"""What decides how many tokens are shared, and so how many are computed."""
BENT = 0.1
"""The share of the line from which on its bend is told."""
_LEVELS = 3
_MIDDLE = (0.2, 0.8)
_IN_MIDDLE = 3
"""Places that make a curve, and requests in the middle of the range, as shares of it, that hold it."""


@dataclass(slots=True)
class Points:
    """Requests of one seed: tokens computed, tokens found cached, seconds to the first token."""

    uncached: list[int] = field(default_factory=list)
    cached: list[int] = field(default_factory=list)
    ttft: list[float] = field(default_factory=list)

    def extend(self, others: Points) -> None:
        """Take in the requests of another run."""
        self.uncached += others.uncached
        self.cached += others.cached
        self.ttft += others.ttft


@dataclass(frozen=True, slots=True)
class Curve:
    """A parabola over uncached tokens from ``low`` to ``high``: the chord between its ends, and an arch upon it.

    Attention makes long prompts cost more than in proportion. ``end`` is the chord's rise, ``arch`` the height in the middle.
    """

    low: int
    high: int
    start: float
    end: float
    arch: float
    cached_slope: float

    @property
    def bend(self) -> float | None:
        """The arch as a share of the chord's middle; ``None`` where that isn't above 0."""
        middle = self.start + self.end / 2.0
        return self.arch / middle if middle > 0 else None

    def at(self, uncached: float, cached: float = 0.0) -> float:
        """As ``SeedLine.at``."""
        place = (uncached - self.low) / (self.high - self.low)
        rise = self.end * place + self.arch * 4.0 * place * (1.0 - place)
        return self.start + rise + self.cached_slope * cached


@dataclass(frozen=True, slots=True)
class SeedLine:
    """One seed's line with the points it was drawn through; ``cached_slope`` as in ``Law``.

    ``curve`` goes through the same points, ``None`` where nothing was measured in the middle.
    """

    intercept: float
    slope: float
    cached_slope: float | None
    curve: Curve | None
    points: Points

    def at(self, uncached: float, cached: float = 0.0) -> float:
        """Seconds to the first token of a request that computes ``uncached`` tokens and finds ``cached``."""
        return self.intercept + self.slope * uncached + (self.cached_slope or 0.0) * cached


Lines = Mapping[int, SeedLine]


@dataclass(frozen=True, slots=True)
class Law:
    """TTFT = ``intercept`` + ``slope`` x uncached tokens of one arm in one setting, seconds and seconds per token.

    All are means over seeds of each seed's own line, with intervals over seeds. ``cached_slope`` is what a token found
    cached adds, ``None`` where it can't be told apart from the rest. ``r_squared`` and ``residual_s`` (standard deviation of
    the residuals) are of all ``n_requests`` of ``n_seeds``, and the median request is off by ``deviation``, as a share of
    the line; ``uncached_low`` to ``uncached_high`` tokens were measured. ``bend`` is how far the middle of that range lies
    off the straight line between its ends, as a share of the line: below 0 where long prompts cost more than in
    proportion; ``None`` where nothing was measured in the middle. ``lines`` are the seeds' own.
    """

    intercept: Estimate
    slope: Estimate
    r_squared: float
    residual_s: float
    n_requests: int
    n_seeds: int
    uncached_low: int
    uncached_high: int
    bend: Estimate | None = None
    cached_slope: Estimate | None = None
    deviation: float = 0.0
    lines: Lines = field(default_factory=dict, repr=False)

    @property
    def is_bent(self) -> bool:
        """Bent by more than a tenth, and the seeds agree on the side."""
        bend = self.bend
        if bend is None or abs(bend.value) <= BENT:
            return False
        return bend.low is None or bend.high is None or bend.low > 0 or bend.high < 0


def setting_of(cell: Mapping[str, CellValue]) -> dict[str, CellValue]:
    """A cell without the axes that only decide how many tokens are shared."""
    return {axis: value for axis, value in cell.items() if axis not in LENGTH_AXES}


def points(run: Run) -> Points | Absent:
    """The run's requests with possible times and counts; a run without reuse has 0 cached tokens where nobody counts."""
    answers = sort_out(run)
    cached = _cached(answers)
    if isinstance(cached, Absent):
        return cached
    found = Points()
    for request in answers.timed:
        tokens, waited = cached.get(request.prompt), ttft(request)
        if tokens is not None and waited > 0:
            found.uncached.append(prompt_length(request) - tokens)
            found.cached.append(tokens)
            found.ttft.append(waited)
    return found if found.ttft else Absent(answers.why_none)


def law(runs: Sequence[Run], *, drawn: float = LEVEL) -> Law | Absent:
    """The law of one arm's runs in one setting, over the seeds that have a line; ``drawn`` as in ``law_of``."""
    lines = seed_lines(runs)
    return lines if isinstance(lines, Absent) else law_of(lines, drawn=drawn)


def seed_lines(runs: Iterable[Run]) -> dict[int, SeedLine] | Absent:
    """Each seed's line, over all its runs; seeds whose requests all computed the same number of tokens have none."""
    seeds: dict[int, Points] = {}
    why: dict[str, None] = {}
    for run in runs:
        found = points(run)
        if isinstance(found, Absent):
            why[found.reason] = None
        else:
            seeds.setdefault(run.seed, Points()).extend(found)
    varied = {seed: one for seed, one in seeds.items() if len(set(one.uncached)) > 1}
    if not varied:
        same = {"all requests computed the same number of tokens, which makes no line": None}
        return Absent("; ".join(same if seeds else why or {"no run": None}))
    with_cached = all(is_independent([one.uncached, one.cached]) for one in varied.values())
    lines = {seed: _line(one, with_cached=with_cached) for seed, one in sorted(varied.items())}
    drawn = {seed: line for seed, line in lines.items() if line is not None}
    return drawn or Absent("too few requests for a line")


def law_of(lines: Lines, *, drawn: float = LEVEL) -> Law:
    """The mean of the seeds' lines, with what all their requests say of them; ``drawn`` is the level of Student's t."""
    every = [lines[seed] for seed in sorted(lines)]
    intercept = _mean([one.intercept for one in every], drawn)
    slope = _mean([one.slope for one in every], drawn)
    assert intercept is not None, "a law has at least one line"
    assert slope is not None, "a law has at least one line"
    n = sum(len(one.points.ttft) for one in every)
    left = total = 0.0
    shares: list[float] = []
    for one in every:
        foretold = [one.at(*tokens) for tokens in zip(one.points.uncached, one.points.cached, strict=True)]
        mean = fmean(one.points.ttft)
        left += sum((y - f) ** 2 for y, f in zip(one.points.ttft, foretold, strict=True))
        total += sum((y - mean) ** 2 for y in one.points.ttft)
        shares += [abs(y / f - 1.0) for y, f in zip(one.points.ttft, foretold, strict=True) if f > 0]
    taken = len(every) * (2 if every[0].cached_slope is None else 3)
    return Law(
        intercept=intercept,
        slope=slope,
        r_squared=1.0 - left / total if total > 0 else 1.0,
        residual_s=math.sqrt(left / max(n - taken, 1)),
        n_requests=n,
        n_seeds=len(every),
        uncached_low=min(min(one.points.uncached) for one in every),
        uncached_high=max(max(one.points.uncached) for one in every),
        bend=_mean([None if one.curve is None else one.curve.bend for one in every], drawn),
        cached_slope=_mean([one.cached_slope for one in every], drawn),
        deviation=median(shares) if shares else math.inf,
        lines=lines,
    )


def _cached(answers: Answers) -> dict[int, int] | Absent:
    """Cached tokens by prompt number, of the requests with possible counts."""
    told = reported_cached(answers)
    if not isinstance(told, Absent):
        return {request.prompt: tokens for request, tokens in zip(answers.counted, told, strict=True)}
    if answers.run.mode == "off" and answers.counted:
        return {request.prompt: request.cached_tokens or 0 for request in answers.counted}
    return told


def _line(seed: Points, *, with_cached: bool) -> SeedLine | None:
    columns = [seed.uncached, seed.cached] if with_cached else [seed.uncached]
    plane = median_plane(columns, seed.ttft)
    if isinstance(plane, Absent):
        return None
    return SeedLine(
        intercept=plane.intercept,
        slope=plane.slopes[0],
        cached_slope=plane.slopes[1] if with_cached else None,
        curve=_curve(seed, columns[1:]),
        points=seed,
    )


def _curve(seed: Points, others: list[list[int]]) -> Curve | None:
    low, high = min(seed.uncached), max(seed.uncached)
    places = [(tokens - low) / (high - low) for tokens in seed.uncached]
    if len(set(places)) < _LEVELS or sum(_MIDDLE[0] <= x <= _MIDDLE[1] for x in places) < _IN_MIDDLE:
        return None
    plane = median_plane([places, [4.0 * x * (1.0 - x) for x in places], *others], seed.ttft)
    if isinstance(plane, Absent):
        return None
    end, arch, *cached = plane.slopes
    return Curve(low, high, plane.intercept, end, arch, cached[0] if cached else 0.0)


def _mean(values: Sequence[float | None], drawn: float) -> Estimate | None:
    """The mean over seeds that have the figure, with its interval; ``None`` where a seed lacks it."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    found = mean_interval(Sample(known), kind="arithmetic", level=drawn)
    return None if isinstance(found, Absent) else found
