"""From a comparison and its captures to a ``ReportView``: the one place where a report is put together.

Nothing is drawn here and no drawing library is loaded, so that a terminal table costs no more than
its figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from radixbench import __version__
from radixbench.capture.model import Capture
from radixbench.compare.arm import Arm as Gathered
from radixbench.compare.arm import gather
from radixbench.compare.change import ArmSummary, Caveat, CellClocks, Comparison, LawChange
from radixbench.compare.gate import gated
from radixbench.compare.law import capture_laws
from radixbench.metrics.registry import METRICS
from radixbench.report import text
from radixbench.report.brief import brief
from radixbench.report.caveats import caveat_views
from radixbench.report.client import client_section
from radixbench.report.clocks import clocks_figure
from radixbench.report.corpus import corpus_section
from radixbench.report.curves import THROUGHPUT, TTFT, Means, compared_means, curve, means_of
from radixbench.report.distribution import distribution_figure
from radixbench.report.evidence import Evidence, setting
from radixbench.report.failures import failures_section
from radixbench.report.forest import forest_figure
from radixbench.report.gantt import gantt_figure
from radixbench.report.hits import cached_figure
from radixbench.report.law import law_figure
from radixbench.report.law_section import law_section
from radixbench.report.levels import levels_figure
from radixbench.report.mode import cache_words
from radixbench.report.model import Arm, Figure, GlossaryRow, ReportView, Section
from radixbench.report.outputs import PairOutputs, outputs_section, paired_outputs
from radixbench.report.power import power_section
from radixbench.report.protocol import protocol_rows, run_order
from radixbench.report.questions import questions
from radixbench.report.same import comparability
from radixbench.report.scheduler import scheduler_figure
from radixbench.report.setting import chips, differences, environment
from radixbench.report.shortfall import shortfall_figure
from radixbench.report.slowest import slowest_section
from radixbench.report.sources import sources_section
from radixbench.report.spread import spread_section
from radixbench.report.table import factor_cells, single_cells
from radixbench.report.turns import turns_figure
from radixbench.report.verdict import comparison_headline, single_headline
from radixbench.report.words import HEADLINE_METRICS

__all__ = ["ReportView", "build_single_view", "build_view"]


def build_view(
    comparison: Comparison,
    a: Capture,
    b: Capture,
    *,
    arms: tuple[Gathered, Gathered] | None = None,
    gate: Sequence[str] = HEADLINE_METRICS,
) -> ReportView:
    """Everything a reader is shown of A against B.

    ``arms`` are the captures gathered, where the caller has compared them so; they are gathered otherwise, which
    summarises every run. The headline speaks of the metrics in ``gate``.
    """
    gathered_a, gathered_b = arms or (gather("A", a, None), gather("B", b, None))
    sides = (
        _evidence(_arm("a", comparison.a, comparison, a), gathered_a),
        _evidence(_arm("b", comparison.b, comparison, b), gathered_b),
    )
    where = setting(sides)
    figures = _figures(
        sides,
        compared_means(comparison.changes),
        forest_figure(gated(comparison, gate), comparison.threshold, gate),
        comparison.laws,
        comparison.clocks,
    )
    pairs = paired_outputs(sides)
    sections = _sections(sides, comparison, gate, comparison.laws, pairs)
    return ReportView(
        title=f"radixbench: {sides[0].arm.name} against {sides[1].arm.name}, {where}",
        kind="comparison",
        headline=comparison_headline(comparison, where, gate),
        chips=chips(sides),
        arms=tuple(side.arm for side in sides),
        cells=factor_cells(comparison, gate),
        figures=figures,
        caveats=caveat_views(comparison.caveats, comparison.changes, sides, gate),
        differences=differences(comparison),
        environment=environment(sides),
        protocol=protocol_rows(sides),
        run_order=run_order(sides),
        glossary=glossary(),
        footer=footer(sides),
        sections=sections,
        brief=brief(sides, figures, sections),
        questions=questions(sides, comparison, gate=gate, places=_places(figures, sections), pairs=pairs),
        alike=comparability(sides, comparison, pairs),
    )


def build_single_view(
    capture: Capture,
    *,
    path: str | None = None,
    gathered: Gathered | None = None,
    caveats: Sequence[Caveat] = (),
    gate: Sequence[str] = HEADLINE_METRICS,
) -> ReportView:
    """Everything a reader is shown of one capture: figures with their intervals, and no verdict.

    ``gathered`` is the capture with its runs summarised, where the caller has that already.
    """
    modes = {run.mode for run in capture.runs}
    name = f"cache {'/'.join(sorted(modes, reverse=True))}" if modes else "capture"
    cache = cache_words(capture.runs)
    arm = Arm("a", name, capture.scenario.name, path or "", capture.scenario.why, cache)
    sides = (_evidence(arm, gathered or gather("", capture, path)),)
    where = setting(sides)
    laws = capture_laws(capture, sides[0].summaries)
    figures = _figures(sides, means_of(sides[0]), laws=laws)
    sections = _sections(sides, laws=laws)
    return ReportView(
        title=f"radixbench: {capture.scenario.name}, {where}",
        kind="single",
        headline=single_headline(sides[0], where, gate),
        chips=chips(sides),
        arms=(arm,),
        cells=single_cells(sides[0], gate),
        figures=figures,
        caveats=caveat_views(caveats, (), sides, gate),
        differences=(),
        environment=environment(sides),
        protocol=protocol_rows(sides),
        run_order="",
        glossary=glossary(),
        footer=footer(sides),
        sections=sections,
        brief=brief(sides, figures, sections),
        questions=questions(sides, places=_places(figures, sections)),
    )


def _arm(slot: str, summary: ArmSummary, comparison: Comparison, capture: Capture) -> Arm:
    """Arms that differ in cache mode go by it; others by candidate and reference."""
    letter = "A" if slot == "a" else "B"
    if not summary.runs:
        name = f"{letter} (no runs)"
    elif comparison.a.mode != comparison.b.mode:
        name = f"{letter} (cache {summary.mode})"
    else:
        name = f"{letter} ({'candidate' if slot == 'a' else 'reference'})"
    file = Path(summary.path).name if summary.path else ""
    return Arm(
        "a" if slot == "a" else "b",
        name,
        summary.scenario,
        file,
        summary.path or "",
        cache_words(capture.runs),
    )


def _evidence(arm: Arm, gathered: Gathered) -> Evidence:
    runs = gathered.runs
    return Evidence(
        arm, gathered.capture, tuple(one.summary for one in runs), tuple(one.answers for one in runs)
    )


def _figures(
    sides: Sequence[Evidence],
    means: Means,
    forest: Figure | None = None,
    laws: Sequence[LawChange] = (),
    clocks: Sequence[CellClocks] = (),
) -> tuple[Figure, ...]:
    found = (
        forest,
        curve(TTFT, sides, means),
        distribution_figure(sides),
        law_figure(sides, laws),
        curve(THROUGHPUT, sides, means),
        levels_figure(sides, means),
        cached_figure(sides),
        shortfall_figure(sides),
        turns_figure(sides),
        gantt_figure(sides),
        scheduler_figure(sides),
        clocks_figure(sides, clocks),
    )
    return tuple(figure for figure in found if figure is not None)


def _sections(
    sides: Sequence[Evidence],
    comparison: Comparison | None = None,
    gate: Sequence[str] = (),
    laws: Sequence[LawChange] = (),
    pairs: Sequence[PairOutputs] = (),
) -> tuple[Section, ...]:
    changes = () if comparison is None else comparison.changes
    means = means_of(sides[0]) if comparison is None else compared_means(changes)
    found = (
        failures_section(sides),
        None if comparison is None else power_section(comparison, gate),
        law_section(sides, laws, means, changes),
        outputs_section(sides, pairs),
        sources_section(sides),
        client_section(sides),
        spread_section(sides),
        slowest_section(sides),
        corpus_section(sides),
    )
    return tuple(section for section in found if section is not None)


def _places(figures: Sequence[Figure], sections: Sequence[Section]) -> frozenset[str]:
    """Where a page has something to link to."""
    return frozenset(
        {
            "protocol",
            "environment",
            *(section.key for section in sections),
            *(f"figure-{figure.key}" for figure in figures),
        }
    )


def glossary() -> tuple[GlossaryRow, ...]:
    """Every metric with its formula."""
    directions = {"lower": "lower is better", "higher": "higher is better", None: "explains, no quality"}
    return tuple(
        GlossaryRow(
            name=metric.name,
            title=metric.title,
            unit=metric.unit,
            better=directions[metric.better],
            formula=metric.formula,
            warning=metric.warning or "",
        )
        for metric in METRICS.values()
    )


def footer(sides: Sequence[Evidence]) -> tuple[str, ...]:
    """What the page was made of, and by what."""
    made = [
        f"{side.arm.name}: {side.arm.source or side.capture.scenario.name}, captured {text.moment(side.capture.created_wall_ns)}"
        for side in sides
    ]
    return (
        *made,
        f"Rendered by radixbench {__version__} from the captures alone; the same files give the same page.",
    )
