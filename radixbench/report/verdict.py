"""The sentence people read first. It says what the verdicts of the gated rows allow, and no more.

A row without a verdict contributes its reason, a bounded factor the word "at most" or "at least", a
row within noise the effect that would have been seen. A figure is never quoted for a row that is
undecided or incomparable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from radixbench.compare.change import Change, Comparison
from radixbench.metrics.registry import METRICS
from radixbench.report import text
from radixbench.report.cells import cell_order, cell_title, shared_tokens
from radixbench.report.evidence import Evidence
from radixbench.report.model import Headline, Tone
from radixbench.report.phrases import clause, noise
from radixbench.report.table import mean_side, side
from radixbench.report.words import HEADLINE_METRICS, metric_prose


def comparison_headline(
    comparison: Comparison, setting: str, gate: Sequence[str] = HEADLINE_METRICS
) -> Headline:
    """The headline of a comparison; ``setting`` names model and device for its end."""
    if not comparison.eligible:
        return _refusal(comparison)
    gated = [change for change in comparison.changes if change.metric in gate]
    if not gated:
        return Headline(
            "No verdict: the captures share no cell with a gated figure.", (), "refused", "No verdict"
        )
    lead = _lead_cell(comparison, gated)
    control = _control_cell(comparison, gated, lead)
    told = [cell for cell in (lead, control) if cell is not None]
    where = f" at {cell_title(lead)}{f', on {setting}' if setting else ''}"
    sentence = _lead_sentence(comparison, _of(gated, lead), where)
    if control is not None:
        sentence += f"; {_control_clause(comparison, _of(gated, control), f'at {cell_title(control)}')}"
    tone, label = _tone(gated, _of(gated, lead))
    return Headline(f"{sentence}.", tuple(_details(comparison, gated, told)), tone, label)


def _refusal(comparison: Comparison) -> Headline:
    forbidding = [d for d in comparison.differences if not d.allowed]
    reasons = [f"{d.field} differs ({_short(d.a)} against {_short(d.b)})" for d in forbidding]
    rows = {change.reason: None for change in comparison.changes if change.reason}
    named = reasons or list(rows) or ["they don't describe the same experiment"]
    return Headline(
        f"No verdict: these captures can't be compared, because {text.several(named)}.",
        ("Figures of each side are shown; no factor between them means anything.",),
        "refused",
        "Incomparable",
    )


def _short(value: object, limit: int = 60) -> str:
    if value is None or value == "":
        return "nothing"
    shown = str(value)
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def _of(changes: Iterable[Change], cell: dict[str, int | str]) -> list[Change]:
    return [change for change in changes if change.cell == cell]


def _is_cache_test(comparison: Comparison) -> bool:
    return {comparison.a.mode, comparison.b.mode} == {"on", "off"}


def _lead_cell(comparison: Comparison, gated: Sequence[Change]) -> dict[str, int | str]:
    """The most reuse for cache on against off; the gravest change for a candidate against a reference."""
    largest = max(gated, key=lambda change: cell_order(change.cell))
    if _is_cache_test(comparison):
        return largest.cell
    worse = [c for c in gated if c.verdict == "worse" and c.factor is not None]
    if worse:
        return min(worse, key=lambda c: c.factor.value if c.factor else 1.0).cell
    better = [c for c in gated if c.verdict == "better" and c.factor is not None]
    if better:
        return max(better, key=lambda c: c.factor.value if c.factor else 1.0).cell
    return largest.cell


def _control_cell(
    comparison: Comparison, gated: Sequence[Change], lead: dict[str, int | str]
) -> dict[str, int | str] | None:
    if not _is_cache_test(comparison):
        return None
    cells = [
        change.cell
        for change in gated
        if shared_tokens(change.cell) == 0 and change.cell.get("turns", 1) == 1
    ]
    return cells[0] if cells and cells[0] != lead else None


def _lead_sentence(comparison: Comparison, rows: Sequence[Change], where: str) -> str:
    """What the rows of the leading cell allow to say: changes first, then what held still, then what is open."""
    subject, made, flat = _subject(comparison)
    changed = [row for row in rows if _is_change(row)]
    still = [row for row in rows if row.verdict == "within-noise"]
    parts: list[str] = []
    if changed:
        parts.append(f"{subject}{made}{text.several([clause(row) for row in changed])}{where}")
    if still:
        names = text.several([metric_prose(row.metric) for row in still], "or")
        parts.append(
            f"no measurable difference in {names} ({noise(still)})"
            if parts
            else f"{subject}{flat}{names}{where} ({noise(still)})"
        )
    for reason, metrics in _open_rows(rows).items():
        told = text.several([metric_prose(name) for name in metrics])
        parts.append(f"undecided for {told}: {reason}" if parts else f"Undecided for {told}{where}: {reason}")
    return "; ".join(parts)


def _is_change(row: Change) -> bool:
    return row.verdict in {"better", "worse"} and row.factor is not None


def _subject(comparison: Comparison) -> tuple[str, str, str]:
    modes = (comparison.a.mode, comparison.b.mode)
    if modes == ("on", "off"):
        return "Prefix caching", " made ", " made no measurable difference to "
    if modes == ("off", "on"):
        return "Switching prefix caching off", " made ", " made no measurable difference to "
    return "Candidate A against reference B", ": ", ": no measurable difference in "


def _open_rows(rows: Sequence[Change]) -> dict[str, list[str]]:
    """Metrics of the rows without a conclusion, by their reason."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        if row.verdict != "within-noise" and not _is_change(row):
            reason = row.reason or f"no reason given ({row.verdict or 'no verdict'})"
            by_reason.setdefault(reason, []).append(row.metric)
    return by_reason


def _control_clause(comparison: Comparison, rows: Sequence[Change], where: str) -> str:
    """The cell without reuse: what caching itself costs, and whether the arms differ in something else."""
    changed = [row for row in rows if _is_change(row)]
    clauses = text.several([clause(row) for row in changed])
    if changed and comparison.a.mode != "on":
        return f"{where} {clauses}"
    if any(row.verdict == "worse" for row in changed):
        return f"{where} it cost: {clauses}"
    if changed:
        return f"{where}, with nothing to reuse, {clauses}: more than reuse differs between the arms"
    if all(row.verdict == "within-noise" for row in rows):
        told = "it cost nothing measurable" if comparison.a.mode == "on" else "no measurable difference"
        return f"{where} {told} ({noise(rows)})"
    return f"{where} its cost is undecided ({text.several(list(_open_rows(rows)))})"


def _tone(gated: Sequence[Change], leading: Sequence[Change]) -> tuple[Tone, str]:
    verdicts = {change.verdict for change in gated}
    bounds = {change.bound for change in leading if change.bound and change.factor}
    bound = f", {bounds.pop()} bound of the factor" if len(bounds) == 1 else ""
    if "better" in verdicts and "worse" in verdicts:
        return "caution", "Mixed"
    if "worse" in verdicts:
        return "worse", f"Worse{bound}"
    if "better" in verdicts:
        return "better", f"Better{bound}"
    if verdicts == {"within-noise"}:
        return "neutral", "No difference seen"
    if "incomparable" in verdicts:
        return "refused", "Incomparable"
    return "caution", "Undecided"


def _details(
    comparison: Comparison, gated: Sequence[Change], told: Sequence[dict[str, int | str]]
) -> Iterable[str]:
    if len({cell_order(change.cell) for change in gated}) > 1:
        yield _tally(gated)
    rest = [change for change in gated if change.cell not in told]
    for change in rest:
        if change.verdict == "worse" and change.factor is not None:
            yield f"At {cell_title(change.cell)}: {clause(change)}."
    for change in rest:
        if change.verdict in {"undecided", "incomparable"}:
            name = metric_prose(change.metric)
            yield f"At {cell_title(change.cell)}, {name} is {change.verdict}: {change.reason or 'no reason given'}."
    serious = [caveat.code for caveat in comparison.caveats if caveat.severity == "serious"]
    if serious:
        codes = text.several(list(dict.fromkeys(serious)))
        yield f"Read the serious caveats before quoting a figure: {codes}."
    pairs = max((len(change.pairs) for change in gated), default=0)
    if pairs:
        yield (
            f"Intervals come from {text.plural(pairs, 'paired seed')}; a verdict needs an interval that excludes 1 "
            f"and an effect of {text.share(comparison.threshold)} or more."
        )


def _tally(gated: Sequence[Change]) -> str:
    names = (
        ("better", "better"),
        ("worse", "worse"),
        ("within-noise", "within noise"),
        ("undecided", "undecided"),
        ("incomparable", "incomparable"),
    )
    counts = [(sum(c.verdict == key for c in gated), word) for key, word in names]
    return f"Of {len(gated)} gated figures: {text.several([f'{n} {word}' for n, word in counts if n])}."


def single_headline(evidence: Evidence, where: str, gate: Sequence[str] = HEADLINE_METRICS) -> Headline:
    """The headline of one capture: its gated figures in the cell with the most reuse, and no verdict."""
    cells = evidence.cells()
    modes = text.several(evidence.modes)
    subject = f"Prefix caching {modes}" if modes else "This capture"
    alone = "One capture compares nothing: give a second one for a factor and a verdict."
    if not cells:
        return Headline(f"{subject}: no run was saved.", (alone,), "caution", "Empty")
    cell = cells[-1]
    runs = [summary for summary in evidence.summaries if summary.cell == cell]
    figures = []
    for name in gate:
        mean = mean_side([run.figures[name] for run in runs if name in run.figures], METRICS[name].aggregate)
        figures.append(f"{metric_prose(name)} {side(mean, METRICS[name].unit).whole}")
    sentence = f"{subject}: {text.several(figures)} at {cell_title(cell)}, mean of {text.plural(len(runs), 'run')}, on {where}."
    return Headline(sentence, (alone,), "neutral", "One capture")
