"""How alike a run's requests and its time are: the steady part, trends, outliers, and who was served in time.

Nothing here is left out of any figure: a part of a run is shown beside the whole, and outliers are counted where
they stand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from radixbench.capture.model import CellValue
from radixbench.findings.drift import NAMES
from radixbench.findings.outliers import Spread, request_spreads, run_spreads
from radixbench.metrics.answers import Answers
from radixbench.metrics.drift import LEAST_CHANGE, Drift, drifts
from radixbench.metrics.figure import RunSummary
from radixbench.metrics.goodput import asked, met
from radixbench.metrics.steady import SteadyPart, steady_part
from radixbench.report import text
from radixbench.report.cells import CellKey, arm_at, cell_key, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.model import Grid, Section, Statement
from radixbench.report.words import metric_prose
from radixbench.stats.sample import Absent

TITLE = "Spread and drift within the runs"
DIFFERS = 0.10
"""How far the steady part's median must lie from the whole run's to be told in a sentence."""

_MOST_TOLD = 6
_STEADY = (
    "arm",
    "cell",
    "steady part of the run",
    "requests in it",
    "TTFT in it",
    "TTFT of the run",
    "TPOT in it",
    "TPOT of the run",
)
_DRIFT = ("arm", "cell", "runs", "TTFT", "E2EL", "decode pace", "drifted")
_OUTLIERS = ("arm", "cell", "of", "n", "low severe", "low mild", "high mild", "high severe", "worst / median")
_GOODPUT = ("arm", "cell", "goodput", "met all targets", "missed, by target")


@dataclass(frozen=True, slots=True)
class _Place:
    """The runs of one arm in one cell."""

    side: Evidence
    cell: dict[str, CellValue]
    runs: tuple[tuple[Answers, RunSummary], ...]

    @property
    def start(self) -> tuple[str, str]:
        """How its rows begin."""
        return self.side.arm.name, cell_title(self.cell)


def spread_section(sides: Sequence[Evidence]) -> Section | None:
    """``None`` where nobody asked for goodput and no run was long enough for anything else."""
    places = [place for side in sides for place in _places(side)]
    parts = [part for part in (_goodput(places), _steady(places), _drift(places), _outliers(sides)) if part]
    if not parts:
        return None
    return Section(
        "spread",
        TITLE,
        tuple(statement for says, _ in parts for statement in says),
        tuple(grid for _, grids in parts for grid in grids),
    )


_Part = tuple[tuple[Statement, ...], tuple[tuple[str, Grid], ...]]
"""Sentences, and the tables with their captions."""


def _places(side: Evidence) -> Iterator[_Place]:
    sorted_out: dict[CellKey, list[tuple[Answers, RunSummary]]] = {}
    for answers, summary in zip(side.answers, side.summaries, strict=True):
        sorted_out.setdefault(cell_key(answers.run.cell), []).append((answers, summary))
    for cell in side.cells():
        yield _Place(side, cell, tuple(sorted_out[cell_key(cell)]))


def _goodput(places: Sequence[_Place]) -> _Part | None:
    rows, targets = [], dict[str, None]()
    for place in places:
        figures = [summary.figures["goodput"] for _, summary in place.runs]
        if not any(asked(figure) for figure in figures):
            continue
        rates = [figure.value for figure in figures if figure.value is not None]
        shares = [v for _, summary in place.runs if (v := summary.figures["goodput_share"].value) is not None]
        targets |= dict.fromkeys(f"{answers.goodput}" for answers, _ in place.runs)
        rows.append(
            (
                *place.start,
                text.quantity(fmean(rates), "requests/s").value if rates else text.MISSING,
                text.percent(fmean(shares)) if shares else text.MISSING,
                _missed(place),
            )
        )
    if not rows:
        return None
    says = Statement(
        f"Goodput counts the requests that met {text.several(list(targets), 'or')} (ms): a failed request met none, an"
        " answer of one token any pace."
    )
    return (says,), (("Goodput, mean over runs", Grid(_GOODPUT, tuple(rows))),)


def _missed(place: _Place) -> str:
    """How many answered requests missed each target, and how many weren't answered."""
    missed: dict[str, int] = {}
    failed = 0
    for answers, _ in place.runs:
        failed += max(answers.run.requested - len(answers.timed), 0)
        for request in answers.timed:
            for name, held in met(request, answers.goodput).items():
                missed[name] = missed.get(name, 0) + (not held)
    told = [f"{name} {text.count(n)}" for name, n in missed.items()]
    return ", ".join([*told, *([f"failed {text.count(failed)}"] if failed else [])]) or text.MISSING


def _steady(places: Sequence[_Place]) -> _Part | None:
    rows: list[tuple[str, ...]] = []
    says: list[Statement] = []
    reasons: Counter[str] = Counter()
    for place in places:
        found: list[tuple[SteadyPart, RunSummary]] = []
        for answers, summary in place.runs:
            part = steady_part(answers)
            if isinstance(part, Absent):
                reasons[part.reason] += 1
            else:
                found.append((part, summary))
        ttft = _beside(found, "ttft_p50")
        if ttft is None:
            continue
        share = text.percent(fmean(part.share for part, _ in found))
        requests = text.count(sum(part.requests for part, _ in found))
        rows.append((*place.start, share, requests, *_shown(ttft), *_shown(_beside(found, "tpot_p50"))))
        if abs(ttft[0] / ttft[1] - 1.0) >= DIFFERS:
            says.append(
                Statement(
                    f"{arm_at(place.side.arm.name, place.cell)}: the median TTFT is {text.duration(ttft[0])} in the"
                    f" steady part of the runs ({share} of their time) and {text.duration(ttft[1])} over all of them."
                )
            )
    says += [
        Statement(f"{text.plural(n, 'run')} had no steady part: {reason}.", "caution", "short")
        for reason, n in reasons.items()
    ]
    grid = (
        ("Steady part: all at work, none finished for good; means over runs", Grid(_STEADY, tuple(rows))),
    )
    return (tuple(says), grid if rows else ()) if says or rows else None


def _beside(found: Sequence[tuple[SteadyPart, RunSummary]], name: str) -> tuple[float, float] | None:
    """A figure of the steady parts and of the whole runs, over the runs that have both."""
    pairs = [
        (steady, whole)
        for part, summary in found
        if (steady := getattr(part, name)) is not None and (whole := summary.figures[name].value)
    ]
    return (fmean(own for own, _ in pairs), fmean(whole for _, whole in pairs)) if pairs else None


def _shown(pair: tuple[float, float] | None) -> tuple[str, str]:
    return (text.MISSING, text.MISSING) if pair is None else (text.duration(pair[0]), text.duration(pair[1]))


def _drift(places: Sequence[_Place]) -> _Part | None:
    rows, told, judged, short = [], [], 0, 0
    for place in places:
        trends = [(answers, drifts(answers)) for answers, _ in place.runs]
        known = [(answers, own) for answers, own in trends if not isinstance(own, Absent)]
        judged, short = judged + len(known), short + len(trends) - len(known)
        if not known:
            continue
        drifted = 0
        for answers, own in known:
            found = [one for one in own if one.found]
            drifted += bool(found)
            told += [
                f"{arm_at(place.side.arm.name, place.cell)}, seed {answers.run.seed}: {NAMES[one.figure]}"
                f" {_moved(one)}"
                for one in found
            ]
        every = [one for _, own in known for one in own]
        columns = (_worst(every, "ttft"), _worst(every, "e2e"), _worst(every, "step", "tpot"))
        rows.append((*place.start, text.count(len(known)), *columns, text.count(drifted)))
    if not rows:
        return None
    says = [Statement(f"{one}.", "caution", "drift") for one in told[:_MOST_TOLD]]
    if len(told) > _MOST_TOLD:
        says.append(
            Statement(f"And {text.plural(len(told) - _MOST_TOLD, 'trend')} more.", "caution", "drift")
        )
    if not told:
        says.append(
            Statement(
                f"No drift in {text.plural(judged, 'run')}: no figure of like requests changed by {text.share(LEAST_CHANGE)}"
                " or more over a run beyond chance.",
                "better",
                "level",
            )
        )
    if short:
        says.append(Statement(f"{text.plural(short, 'run')} had too few like requests to tell a trend."))
    caption = "Trends over a run, the largest of each cell's runs"
    return tuple(says), ((caption, Grid(_DRIFT, tuple(rows))),)


def _moved(one: Drift) -> str:
    word = "rose" if one.change > 0.0 else "fell"
    grew = ""
    if one.backlog is not None:
        grew = (
            f", as the backlog grew from {one.backlog[0]:.0f} to {one.backlog[1]:.0f} requests: an overload"
        )
    return f"{word} from {text.duration(one.first)} to {text.duration(one.last)} over the run{grew}"


def _worst(every: Sequence[Drift], *figures: str) -> str:
    own = [one for one in every if one.figure in figures]
    if not own:
        return text.MISSING
    worst = max(own, key=lambda one: abs(one.change))
    sign = "+" if worst.change > 0.0 else "−"
    return f"{sign}{text.percent(abs(worst.change))} (p {worst.p:.2g})"


def _outliers(sides: Sequence[Evidence]) -> _Part | None:
    rows = [
        _outlier_row(side, one)
        for side in sides
        for one in (*request_spreads(side.answers), *run_spreads(side.capture.runs, side.summaries))
    ]
    if not rows:
        return None
    says = Statement(
        "Outliers are classed by Tukey's fences (1.5 and 3 interquartile ranges) and kept in every figure. A request's TTFT"
        " is held against those of its run that computed as much of as long a prompt, after the first wave."
    )
    of_runs = any(row[2] not in ("hits", "misses") for row in rows)
    chance = Statement(
        "Of few runs some lie beyond the fences by chance: among five, one is severe in 13 % of cases."
    )
    caption = f"Outliers of TTFT{' and of runs' if of_runs else ''}"
    return ((says, chance) if of_runs else (says,)), ((caption, Grid(_OUTLIERS, tuple(rows))),)


def _outlier_row(side: Evidence, one: Spread) -> tuple[str, ...]:
    classes = one.outliers
    of = one.what if one.prompt is not None else f"runs: {metric_prose(one.what)}"
    counts = (classes.low_severe, classes.low_mild, classes.high_mild, classes.high_severe)
    where = f"seed {one.seed}" + ("" if one.prompt is None else f", request {one.prompt}")
    return (
        *(side.arm.name, cell_title(dict(one.cell)), of, text.count(classes.n)),
        *(f"{text.count(n)} ({text.percent(n / classes.n)})" if n else "0" for n in counts),
        f"{text.factor(one.worst).value} ({where})",
    )
