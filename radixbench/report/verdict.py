"""The sentence people read first. It says what the verdicts of the gated rows allow, and no more.

The rows are judged together, so that noise makes this sentence false in 5 % of the comparisons at most, however
many cells there are: one that is better or worse only by itself is told as just that, without its factor. A row without a verdict contributes its reason, a bounded factor the word "at most" or "at least", a
row within noise the effect that would have been seen. A figure is never quoted for a row that is
undecided or incomparable.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from radixbench.compare.change import Change, Comparison, Difference
from radixbench.compare.eligible import UNMENDABLE
from radixbench.compare.family import Outcome, is_blind, is_withdrawn, outcome
from radixbench.compare.gate import gated as judged_together
from radixbench.compare.side import over_runs
from radixbench.compare.verdict import JUDGED
from radixbench.metrics.registry import METRICS
from radixbench.report import text
from radixbench.report.cells import at_cell, cell_order, shared_tokens
from radixbench.report.details import details
from radixbench.report.evidence import Evidence
from radixbench.report.model import Headline, Tone
from radixbench.report.null import null_sentence
from radixbench.report.phrases import clause, limit, noise, only_alone
from radixbench.report.table import side
from radixbench.report.words import HEADLINE_METRICS, metric_prose

_MUCH = 0.25
"""The share of a gain, on a logarithmic scale, from which on the same gain without reuse explains too much of it."""
_REUSE = ("shared_tokens", "turns")
_DIGEST_CHARS = 64
"""Characters of a content hash, whose first twelve tell it from another."""
_NULL_FAILED: tuple[Tone, str] = ("worse", "Null test failed")


def comparison_headline(
    comparison: Comparison, setting: str, gate: Sequence[str] = HEADLINE_METRICS
) -> Headline:
    """The headline of a comparison; ``setting`` names model and device for its end."""
    if not (comparison.a.runs or comparison.b.runs):
        return Headline("Nothing was measured: neither capture holds a run.", (), "refused", "Empty")
    if not comparison.eligible:
        return (
            _one_sided(comparison) if not (comparison.a.runs and comparison.b.runs) else _refusal(comparison)
        )
    gated = judged_together(comparison, gate)
    if not gated:
        return Headline("The captures share no cell with a gated figure.", (), "refused", "No verdict")
    by_hand = ", differences allowed by hand" if comparison.allowed else ""
    null = null_sentence(comparison, gated)
    if null is not None:
        failed = outcome(gated) != "within-noise"
        tone, label = _NULL_FAILED if failed else _still_tone(gated)
        return Headline(null, tuple(details(comparison, gated, [])), tone, f"{label}{by_hand}")
    lead = _lead_cell(comparison, gated)
    control = _control_cell(comparison, gated, lead)
    told = [cell for cell in (lead, control) if cell is not None]
    where = f" {at_cell(lead)}{f', on {setting}' if setting else ''}"
    sentence = _lead_sentence(comparison, _of(gated, lead), where)
    if control is not None:
        sentence += f"; {_control_clause(comparison, _of(gated, control), at_cell(control))}"
    tone, label = _tone(gated, _of(gated, lead))
    if control is not None and _is_of_something_else(_of(gated, lead), _of(gated, control)):
        tone, label = "caution", f"{label}, control failed"
    return Headline(f"{sentence}.", tuple(details(comparison, gated, told)), tone, f"{label}{by_hand}")


def _one_sided(comparison: Comparison) -> Headline:
    """A sweep that ended before the other arm's first run: nothing differs, the rest is missing."""
    empty = comparison.sides[0 if not comparison.a.runs else 1]
    arm = comparison.b if comparison.a.runs else comparison.a
    missing = text.plural(arm.planned_runs, "planned run")
    return Headline(
        f"No verdict yet: {empty} holds none of its {missing}.",
        ("The figures are those of the other side alone.", "An interrupted sweep goes on with --resume."),
        "refused",
        "Nothing to compare",
    )


def _refusal(comparison: Comparison) -> Headline:
    forbidding = [d for d in comparison.differences if d.forbids]
    unlike = [
        f"{d.field}{f' of {d.where}' if d.where else ''} ({_short(d.a)} against {_short(d.b)})"
        for d in forbidding
    ]
    rows = {change.reason: None for change in comparison.changes if change.reason}
    named = text.several(list(rows) or ["they don't describe the same experiment"])
    because = f"they differ in {text.several(unlike)}" if unlike else named
    return Headline(
        f"No verdict: these captures can't be compared, because {because}.",
        (
            "Figures of each side are shown; no factor between them means anything.",
            *_way_out(forbidding),
        ),
        "refused",
        "Incomparable",
    )


def _way_out(forbidding: Sequence[Difference]) -> Iterable[str]:
    """How to get a verdict all the same, where there is anything to compare."""
    fields = [one.field for one in forbidding]
    if fields and UNMENDABLE.isdisjoint(fields):
        names = ",".join(field.replace(" ", "-") for field in fields)
        yield f"For a verdict all the same, with this on the record: --allow {names}."


def _short(value: object, limit: int = 60) -> str:
    if value is None or value == "":
        return "nothing"
    shown = str(value)
    if len(shown) == _DIGEST_CHARS and shown.isalnum():
        return shown[:12]
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def _of(changes: Iterable[Change], cell: dict[str, int | float | str]) -> list[Change]:
    return [change for change in changes if change.cell == cell]


def _is_cache_test(comparison: Comparison) -> bool:
    return {comparison.a.mode, comparison.b.mode} == {"on", "off"}


def _lead_cell(comparison: Comparison, gated: Sequence[Change]) -> dict[str, int | float | str]:
    """The most reuse for cache on against off, where there is a verdict on it; the gravest change for a candidate."""
    largest = max(gated, key=lambda change: cell_order(change.cell))
    if _is_cache_test(comparison):
        told = [row for row in gated if row.verdict in JUDGED and not _is_control(row.cell)]
        return max(told or [largest], key=lambda change: cell_order(change.cell)).cell
    worse = [c for c in gated if c.verdict == "worse" and c.factor is not None]
    if worse:
        return min(worse, key=lambda c: c.factor.value if c.factor else 1.0).cell
    better = [c for c in gated if c.verdict == "better" and c.factor is not None]
    if better:
        return max(better, key=lambda c: c.factor.value if c.factor else 1.0).cell
    return largest.cell


def _control_cell(
    comparison: Comparison, gated: Sequence[Change], lead: dict[str, int | float | str]
) -> dict[str, int | float | str] | None:
    """The cell where nothing can be reused, as like the leading one as there is."""
    if not _is_cache_test(comparison):
        return None
    cells = [change.cell for change in gated if _is_control(change.cell)]
    alike = [cell for cell in cells if cell == lead | {key: cell[key] for key in _REUSE if key in cell}]
    control = next(iter(alike or cells), None)
    return control if control != lead else None


def _is_control(cell: dict[str, int | float | str]) -> bool:
    """Nothing can be reused. With more than one turn there is reuse even at 0 shared tokens."""
    return shared_tokens(cell) == 0 and cell.get("turns", 1) == 1


def _lead_sentence(comparison: Comparison, rows: Sequence[Change], where: str) -> str:
    """What the rows of the leading cell allow to say: changes first, then what held still, then what is open."""
    subject, made, flat, blur = _subject(comparison)
    changed = [row for row in rows if _is_change(row)]
    blind = [row for row in rows if is_blind(row)]
    alone = [row for row in rows if is_withdrawn(row)]
    still = [
        row for row in rows if row.verdict == "within-noise" and not (is_blind(row) or is_withdrawn(row))
    ]
    parts: list[str] = []
    if changed:
        parts.append(f"{subject}{made}{text.several([clause(row) for row in changed])}{where}")
    if still:
        names = _names(still, "or")
        parts.append(
            f"no measurable difference in {names} ({noise(still)})"
            if parts
            else f"{subject}{flat}{names}{where} ({noise(still)})"
        )
    if blind:
        names = _names(blind, "or")
        parts.append(
            f"too noisy to tell a difference in {names} ({limit(blind)})"
            if parts
            else f"{blur}{names}{where} ({limit(blind)})"
        )
    if alone:
        parts.append(only_alone(alone) if parts else f"{where.strip()} {only_alone(alone)}")
    for reason, metrics in _open_rows(rows).items():
        told = text.several([metric_prose(name) for name in metrics])
        parts.append(f"undecided for {told}: {reason}" if parts else f"No verdict on {told}{where}: {reason}")
    return _capital("; ".join(parts))


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _names(rows: Sequence[Change], word: str) -> str:
    return text.several([metric_prose(row.metric) for row in rows], word)


def _is_change(row: Change) -> bool:
    return row.verdict in {"better", "worse"} and row.factor is not None


def _subject(comparison: Comparison) -> tuple[str, str, str, str]:
    """Who did it, and how it goes on before a change and before figures that held still; the start of a
    sentence about runs that show nothing.
    """
    modes = (comparison.a.mode, comparison.b.mode)
    blur = "The runs were too noisy to tell what {} did to "
    flat = " made no measurable difference to "
    if modes == ("on", "off"):
        return "Prefix caching", " made ", flat, blur.format("prefix caching")
    if modes == ("off", "on"):
        return "Switching prefix caching off", " made ", flat, blur.format("switching prefix caching off")
    subject = "Candidate {} against reference {}".format(*comparison.sides)
    return (
        subject,
        ": ",
        ": no measurable difference in ",
        f"{subject}: the runs were too noisy to tell a difference in ",
    )


def _open_rows(rows: Sequence[Change]) -> dict[str, list[str]]:
    """Metrics of the rows without a conclusion, by their reason."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        if row.verdict != "within-noise" and not _is_change(row):
            reason = row.reason or f"no reason given ({row.verdict or 'no verdict'})"
            by_reason.setdefault(reason, []).append(row.metric)
    return by_reason


def _is_of_something_else(lead: Sequence[Change], control: Sequence[Change]) -> bool:
    """Whether a gain shows where nothing can be reused as well, and isn't small beside what reuse is said to bring."""
    gains = {row.metric: math.log(row.factor.value) for row in lead if row.factor and row.verdict == "better"}
    return any(
        math.log(row.factor.value) >= _MUCH * gains.get(row.metric, math.inf)
        for row in control
        if row.factor and row.verdict == "better"
    )


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
        return f"{where} {_still_control(rows, costs=comparison.a.mode == 'on')}"
    return f"{where} its cost is undecided ({text.several(list(_open_rows(rows)))})"


def _still_control(rows: Sequence[Change], *, costs: bool) -> str:
    """A control within noise. Rows that would have missed even a large cost don't pass for "no cost"."""
    alone = [row for row in rows if is_withdrawn(row)]
    if alone:
        rest = [row for row in rows if row not in alone]
        return f"{only_alone(alone)}{f'; {_still_control(rest, costs=costs)}' if rest else ''}"
    blind = [row for row in rows if is_blind(row)]
    seen = [row for row in rows if not is_blind(row)]
    told = "it cost nothing measurable" if costs else "no measurable difference"
    noisy = f"the runs were too noisy to tell {'what it cost' if costs else 'a difference'}"
    if not blind:
        return f"{told} ({noise(rows)})"
    if not seen:
        return f"{noisy} ({limit(blind)})"
    return f"{told} in {_names(seen, 'or')} ({noise(seen)}), and {noisy} in {_names(blind, 'or')} ({limit(blind)})"


def _tone(gated: Sequence[Change], leading: Sequence[Change]) -> tuple[Tone, str]:
    """Colour and word of the whole, from the rows as they are judged together.

    Where the sentence begins without a verdict, only the control, the cell without reuse, has one to tell.
    """
    bounds = {change.bound for change in leading if change.bound and change.factor}
    bound = f", {bounds.pop()} bound of the factor" if len(bounds) == 1 else ""
    partly = "" if all(change.verdict in JUDGED for change in gated) else ", partly undecided"
    what = outcome(gated)
    if what == "within-noise":
        return _still_tone(gated)
    if what in {"better", "worse", "mixed"} and not any(row.verdict in JUDGED for row in leading):
        return "caution", f"Undecided, {what} without reuse"
    told: dict[Outcome, tuple[Tone, str]] = {
        "mixed": ("caution", "Mixed"),
        "worse": ("worse", f"Worse{bound}{partly}"),
        "better": ("caution" if partly else "better", f"Better{bound}{partly}"),
        "incomparable": ("refused", "Incomparable"),
    }
    return told.get(what, ("caution", "Undecided"))


def _still_tone(gated: Sequence[Change]) -> tuple[Tone, str]:
    blind = sum(is_blind(change) for change in gated)
    if not blind:
        alone = any(is_withdrawn(change) for change in gated)
        return "neutral", "No difference that holds" if alone else "No difference seen"
    return "caution", "Too noisy to tell" if blind == len(gated) else "Partly too noisy to tell"


def single_headline(evidence: Evidence, where: str, gate: Sequence[str] = HEADLINE_METRICS) -> Headline:
    """The headline of one capture: its gated figures in the cell with the most reuse, and no verdict."""
    cells = evidence.cells()
    modes = text.several(evidence.modes)
    subject = f"Prefix caching {modes}" if modes else "This capture"
    alone = "One capture compares nothing: give a second one for a factor and a verdict."
    if not cells:
        return Headline(f"{subject}: no run was saved.", (alone,), "caution", "Empty")
    cell = cells[-1]
    runs = evidence.counted(cell)
    figures = []
    for name in gate:
        mean = over_runs(
            [run.figures[name] for run in runs if name in run.figures], METRICS[name], drawn=evidence.drawn
        )
        figures.append(f"{metric_prose(name)} {side(mean, METRICS[name].unit).whole}")
    sentence = f"{subject}: {text.several(figures)} {at_cell(cell)}, mean of {text.plural(len(runs), 'run')}, on {where}."
    return Headline(sentence, (alone,), "neutral", "One capture")
