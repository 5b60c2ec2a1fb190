"""What the law comes to in words: what a token costs, from where on caching pays, what other lengths would bring.

Beside it stand both prefill throughputs, each under a heading that says what it counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from radixbench.capture.model import CellValue
from radixbench.compare.change import Bound, Change, Factor, LawChange, Prediction, Spread
from radixbench.report import text
from radixbench.report.cells import EVERYTHING, cell_key, cell_title
from radixbench.report.curves import Means
from radixbench.report.evidence import Evidence
from radixbench.report.law import (
    PER,
    ArmLaw,
    arm_laws,
    in_order,
    milliseconds,
    setting_title,
)
from radixbench.report.model import Grid, Section, Statement
from radixbench.report.table import side as side_value

_TITLE = "What computing a token costs, and from where on caching pays"
_FORETOLD = "TTFT of a request that finds everything shared cached: foretold by the laws, and measured"
_FORETOLD_HEADER = ("setting", "shared tokens", "factor foretold", "factor measured, median request", "")
_RATES = "Prefill throughput: computed tokens are work done, and a cache that saves work lowers them"
_RATES_HEADER = (
    "cell",
    "arm",
    "computed tokens per second of the whole run, decoding included",
    "nominal: counts cached tokens, no speed of the hardware",
)
_IF_STRAIGHT = "if the law is a straight line, which no length in the middle tells"
_RATE, _NOMINAL = "prefill_throughput", "input_throughput"
_MOST = 4
_BOUND_WORDS: dict[Bound, str] = {"upper": "at most ", "lower": "at least "}


def law_section(
    sides: Sequence[Evidence], laws: Sequence[LawChange], means: Means, changes: Sequence[Change] = ()
) -> Section | None:
    """``None`` where no arm has a law and no run a throughput. ``changes`` are those of the comparison."""
    ordered = in_order(laws)
    says = tuple(
        statement
        for change in ordered[:_MOST]
        for statement in _said(change, arm_laws(sides, change), _bound(change.setting, changes))
    )
    foretold = tuple(row for change in ordered for row in _foretold(change, changes))
    rates = tuple(_rates(sides, means))
    if not says and not rates:
        return None
    grids = ((_FORETOLD, Grid(_FORETOLD_HEADER, foretold)),) if foretold else ()
    if rates:
        grids = (*grids, (_RATES, Grid(_RATES_HEADER, rates)))
    return Section("law", _TITLE, says, grids)


def law_brief(section: Section) -> Iterator[Statement]:
    """The line that a terminal and a pull request have for it."""
    yield from section.says[-1:]


def _said(change: LawChange, arms: Sequence[ArmLaw], bound: Bound | None) -> Iterator[Statement]:
    where = f"{setting_title(change)}: " if change.setting else ""
    if change.reason is not None:
        yield Statement(f"{where}There is no line on both sides: {change.reason}.")
    for one in arms:
        yield Statement(f"{where}{_cost(one)}.")
    if change.reason is not None or change.b is None:
        return
    if change.break_even is None:
        yield Statement(f"{where}No break-even length is known: {change.break_even_reason}.")
        return
    outlook = _outlook(change.predictions, bound)
    yield Statement(f"{where}{_pays(change.break_even)}{f'; {outlook}' if outlook else ''}.")


def _cost(one: ArmLaw) -> str:
    """``A: 1,000 more computed tokens delay the first token by 41.0 ms (40.1–43.2)``."""
    law, cached = one.law, one.law.cached_slope
    average = " on average" if law.is_bent else ""
    shown = f"{one.name}: 1,000 more computed tokens{average} delay the first token by {milliseconds(law.slope, PER)}"
    if cached is None:
        return shown
    if cached.low is not None and cached.high is not None and cached.low <= 0 <= cached.high:
        return f"{shown}, 1,000 more found cached by nothing measurable"
    return f"{shown}, 1,000 more found cached by {milliseconds(cached, PER)}"


def _pays(pays: Spread) -> str:
    """From which length on; single tokens are as fine as it gets."""
    tokens = round(pays.value)
    told = pays.low is not None and pays.high is not None and round(pays.high) > max(tokens, 1)
    between = f" ({_tokens(pays.low or 0.0)}–{_tokens(pays.high or 0.0)})" if told else ""
    first = "the first shared token" if tokens < 2 else text.plural(tokens, "shared token")
    return f"Caching pays from {first} on{between}"


def _tokens(value: float) -> str:
    return text.count(round(value))


def _outlook(predictions: Sequence[Prediction], bound: Bound | None) -> str:
    """The nearest length beyond what was measured, above all else: what nobody has measured is what is asked for."""
    measured = max((one.shared_tokens for one in predictions if not one.beyond), default=0)
    further = [one for one in predictions if one.beyond and one.shared_tokens > measured]
    if not further:
        return ""
    nearest = min(further, key=lambda one: one.shared_tokens)
    length, factor = text.count(nearest.shared_tokens), _bounded(nearest.factor, bound)
    if_straight = f", {_IF_STRAIGHT}" if nearest.straight else ""
    return (
        f"at {length} shared tokens, beyond what was measured, the first token of a request that finds them cached comes "
        f"{factor} sooner by these laws{if_straight}"
    )


def _bounded(factor: Factor, bound: Bound | None) -> str:
    """``at most 24.1× (22.8–25.5)``."""
    shown = text.factor(factor.value, factor.low, factor.high).whole
    return f"{_BOUND_WORDS[bound]}{shown}" if bound else shown


def _foretold(change: LawChange, changes: Sequence[Change]) -> Iterator[tuple[str, ...]]:
    measured, bound = _measured(change.setting, changes), _bound(change.setting, changes)
    for one in change.predictions:
        yield (
            setting_title(change) or EVERYTHING,
            text.count(one.shared_tokens),
            _bounded(one.factor, bound),
            measured.get(one.shared_tokens, text.MISSING),
            "; ".join(_reservations(one)),
        )


def _reservations(one: Prediction) -> Iterator[str]:
    if one.beyond:
        yield "beyond what was measured"
    if one.straight:
        yield _IF_STRAIGHT


def _measured(setting: Mapping[str, CellValue], changes: Sequence[Change]) -> dict[int, str]:
    """Measured factors of TTFT by shared length."""
    return {
        length: _bounded(change.factor, change.bound)
        for change in _of_setting(setting, changes)
        if change.factor is not None and isinstance(length := change.cell["shared_tokens"], int)
    }


def _bound(setting: Mapping[str, CellValue], changes: Sequence[Change]) -> Bound | None:
    """What the clocks make of the factors measured, and so of those foretold; ``None`` where they disagree."""
    bounds = {change.bound for change in _of_setting(setting, changes)} - {None}
    return bounds.pop() if len(bounds) == 1 else None


def _of_setting(setting: Mapping[str, CellValue], changes: Sequence[Change]) -> list[Change]:
    """The rows of TTFT in cells that have no other axis than the setting's and a shared length."""
    return [
        change
        for change in changes
        if change.metric == "ttft_p50"
        and {**setting, "shared_tokens": change.cell.get("shared_tokens")} == change.cell
    ]


def _rates(sides: Sequence[Evidence], means: Means) -> Iterator[tuple[str, ...]]:
    for side in sides:
        for cell in side.cells():
            shown = [means.get((side.arm.slot, cell_key(cell), name)) for name in (_RATE, _NOMINAL)]
            if any(one is not None and one.value is not None for one in shown):
                values = (text.MISSING if one is None else side_value(one, "tokens/s").whole for one in shown)
                yield (cell_title(cell), side.arm.name, *values)
