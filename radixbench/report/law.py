"""The law behind the factors as a picture: each request by the tokens it computed, and the line of either arm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from radixbench.compare.change import LawChange
from radixbench.metrics.law import Law
from radixbench.report import readings, text
from radixbench.report.axes import MAX_PANELS
from radixbench.report.cells import EVERYTHING, cell_order, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.law_rows import MAX_MARKS, curve_rows, line_rows, request_rows, residual_rows
from radixbench.report.model import Figure, Grid, Panel
from radixbench.stats.estimate import Estimate

PER = 1000
"""Slopes are told for a thousand tokens."""
_INSET = 44
_MAX_SETTINGS = MAX_PANELS // 2
_TITLE = "The law behind the factors: time to first token against computed tokens"
_HEADER = (
    "setting",
    "arm",
    "requests, seeds",
    "intercept",
    "1,000 more computed tokens",
    "so, tokens per second as one request sees it",
    "1,000 more cached tokens",
    "half of the requests lie within",
    "R²",
    "residual (sd)",
    "bend in the middle",
)


class ArmLaw(NamedTuple):
    """One arm's law in one setting."""

    side: Evidence
    law: Law

    @property
    def name(self) -> str:
        """The arm's name, as legends and tables have it."""
        return self.side.arm.name


def law_figure(sides: Sequence[Evidence], laws: Sequence[LawChange]) -> Figure:
    """Two panels for each setting: requests with their lines, and what is left of them."""
    shown = [(change, arm_laws(sides, change)) for change in in_order(laws)]
    drawn = [(change, arms) for change, arms in shown if arms]
    if not drawn:
        return Figure("law", _TITLE, readings.LAW, (), absent=_absence(laws))
    panels = tuple(
        panel
        for number, (change, arms) in enumerate(drawn[:_MAX_SETTINGS])
        for panel in (_lines(number, change, arms), _residuals(number, change, arms))
    )
    grid = Grid(_HEADER, tuple(_row(change, one) for change, arms in drawn for one in arms))
    return Figure("law", _TITLE, readings.LAW, panels, grid, notes=tuple(_notes(shown)))


def in_order(laws: Sequence[LawChange]) -> list[LawChange]:
    """Settings in the order of their axes."""
    return sorted(laws, key=lambda change: cell_order(change.setting))


def arm_laws(sides: Sequence[Evidence], change: LawChange) -> list[ArmLaw]:
    """The arms that have a law in a setting."""
    pairs = zip(sides, (change.a, change.b), strict=False)
    return [ArmLaw(side, law) for side, law in pairs if law is not None]


def setting_title(change: LawChange) -> str:
    """What tells settings apart; "" where there is but one."""
    return cell_title(change.setting) if change.setting else ""


def computed_rate(slope: Estimate) -> text.Shown | None:
    """Tokens per second that a slope comes to, its interval turned round; ``None`` where tokens cost nothing."""
    if slope.value <= 0:
        return None
    if slope.low is None or slope.high is None or slope.low <= 0:
        return text.quantity(1 / slope.value, "tokens/s")
    return text.quantity(1 / slope.value, "tokens/s", 1 / slope.high, 1 / slope.low)


def milliseconds(estimate: Estimate, times: int = 1) -> str:
    """An estimate in seconds, or in seconds per token for so many tokens: ``41.0 ms (40.1–43.2)``.

    As fine as the interval's larger end asks for, so that a slope of nearly nothing doesn't look precise.
    """
    ends = [None if end is None else 1e3 * times * end for end in (estimate.low, estimate.high)]
    value = 1e3 * times * estimate.value
    decimals = text.decimals_for(max(abs(end) for end in (value, *ends) if end is not None))
    low, high = ("" if end is None else text.number(end, decimals) for end in ends)
    shown = f"{text.number(value, decimals)} ms"
    if not low or low == high:
        return shown
    return f"{shown} ({low}{' to ' if low.startswith('−') else '–'}{high})"


def _absence(laws: Sequence[LawChange]) -> str:
    reasons = dict.fromkeys(change.reason for change in laws if change.reason)
    return f"There is no line to draw: {'; '.join(reasons) or 'no run was saved'}."


def _notes(shown: Sequence[tuple[LawChange, list[ArmLaw]]]) -> Iterator[str]:
    if any(one.law.n_requests > MAX_MARKS for _, arms in shown for one in arms):
        yield "Marks are some of the requests, from all over what was measured; lines and tables are of all requests."
    for change, _ in shown:
        if change.reason:
            where = f"{setting_title(change)}: " if change.setting else ""
            yield f"{where}no line on both sides: {change.reason}."
    left_out = sum(bool(arms) for _, arms in shown) - _MAX_SETTINGS
    if left_out > 0:
        yield f"{text.plural(left_out, 'more setting is', 'more settings are')} in the table only."


def _lines(number: int, change: LawChange, arms: Sequence[ArmLaw]) -> Panel:
    spoken = "; ".join(_spoken(one) for one in arms)
    return Panel(
        key=f"law-{number}",
        kind="fit",
        title=setting_title(change),
        summary=f"Time to first token against computed tokens{_where(change)}: {spoken}.",
        x_title="computed (uncached) prompt tokens",
        y_title="time to first token (ms)",
        series=tuple(one.name for one in arms),
        slots=tuple(one.side.arm.slot for one in arms),
        rows=tuple(row for one in arms for row in request_rows(one.law, one.name)),
        marks=tuple(
            row for one in arms for row in (*line_rows(one.law, one.name), *curve_rows(one.law, one.name))
        ),
        inset=_INSET,
    )


def _residuals(number: int, change: LawChange, arms: Sequence[ArmLaw]) -> Panel:
    spoken = "; ".join(
        f"half of the requests of {one.name} lie within {text.percent(one.law.deviation)} of its law"
        for one in arms
    )
    return Panel(
        key=f"law-{number}-residuals",
        kind="fit",
        title="",
        summary=f"Each request as a multiple of what the law says{_where(change)}: {spoken}.",
        x_title="computed (uncached) prompt tokens",
        y_title="measured / law",
        series=tuple(one.name for one in arms),
        slots=tuple(one.side.arm.slot for one in arms),
        rows=tuple(row for one in arms for row in residual_rows(one.law, one.name)),
        rules=({"y": 1.0},),
        log_y=True,
        legend=False,
        inset=_INSET,
    )


def _where(change: LawChange) -> str:
    return f" ({setting_title(change)})" if change.setting else ""


def _spoken(one: ArmLaw) -> str:
    start = text.duration(one.law.intercept.value)
    slope = text.duration(one.law.slope.value * PER)
    return f"{one.name} {start}, and {slope} more for each 1,000 tokens"


def _row(change: LawChange, one: ArmLaw) -> tuple[str, ...]:
    law = one.law
    rate = computed_rate(law.slope)
    return (
        setting_title(change) or EVERYTHING,
        one.name,
        f"{text.count(law.n_requests)}, {law.n_seeds}",
        milliseconds(law.intercept),
        milliseconds(law.slope, PER),
        text.MISSING if rate is None else rate.whole,
        text.MISSING if law.cached_slope is None else milliseconds(law.cached_slope, PER),
        f"{text.percent(law.deviation)} of the law",
        text.number(law.r_squared, 2),
        text.duration(law.residual_s),
        text.MISSING if law.bend is None else _percent(law.bend),
    )


def _percent(share: Estimate) -> str:
    low, high = (None if end is None else text.number(100 * end, 1) for end in (share.low, share.high))
    return f"{text.number(100 * share.value, 1)} %{'' if low is None else f' ({low} to {high})'}"
