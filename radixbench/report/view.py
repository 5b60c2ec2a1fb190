"""From a comparison and its captures to a ``ReportView``: the one place where a report is put together.

Nothing is drawn here and no drawing library is loaded, so that a terminal table costs no more than
its figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from radixbench import __version__
from radixbench.capture.model import Capture
from radixbench.compare.change import ArmSummary, Caveat, Comparison
from radixbench.metrics.registry import METRICS
from radixbench.metrics.summary import RunSummary, summarise
from radixbench.report import text
from radixbench.report.batches import prefill_figure
from radixbench.report.brief import brief
from radixbench.report.caveats import caveat_views
from radixbench.report.client import client_section
from radixbench.report.clocks import clocks_figure
from radixbench.report.corpus import corpus_section
from radixbench.report.curves import THROUGHPUT, TTFT, Means, compared_means, curve, means_of
from radixbench.report.evidence import Evidence, setting
from radixbench.report.failures import failures_section
from radixbench.report.hits import cached_figure
from radixbench.report.levels import levels_figure
from radixbench.report.mode import cache_words
from radixbench.report.model import Arm, Figure, GlossaryRow, ReportView, Section
from radixbench.report.protocol import protocol_rows, run_order
from radixbench.report.setting import chips, differences, environment
from radixbench.report.shortfall import shortfall_figure
from radixbench.report.slowest import slowest_section
from radixbench.report.sources import sources_section
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
    a_runs: Sequence[RunSummary] | None = None,
    b_runs: Sequence[RunSummary] | None = None,
    gate: Sequence[str] = HEADLINE_METRICS,
) -> ReportView:
    """Everything a reader is shown of A against B.

    ``a_runs`` and ``b_runs`` are the summaries of the captures' runs in their order, where the caller
    has them already; they are computed otherwise. The headline speaks of the metrics in ``gate``.
    """
    sides = (
        _evidence(_arm("a", comparison.a, comparison, a), a, a_runs),
        _evidence(_arm("b", comparison.b, comparison, b), b, b_runs),
    )
    where = setting(sides)
    figures, sections = _figures(sides, compared_means(comparison.changes)), _sections(sides)
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
        glossary=_glossary(),
        footer=_footer(sides),
        sections=sections,
        brief=brief(sides, figures, sections),
    )


def build_single_view(
    capture: Capture,
    *,
    path: str | None = None,
    runs: Sequence[RunSummary] | None = None,
    caveats: Sequence[Caveat] = (),
    gate: Sequence[str] = HEADLINE_METRICS,
) -> ReportView:
    """Everything a reader is shown of one capture: figures with their intervals, and no verdict."""
    modes = {run.mode for run in capture.runs}
    name = f"cache {'/'.join(sorted(modes, reverse=True))}" if modes else "capture"
    cache = cache_words(capture.runs)
    arm = Arm("a", name, capture.scenario.name, path or "", capture.scenario.why, cache)
    sides = (_evidence(arm, capture, runs),)
    where = setting(sides)
    figures, sections = _figures(sides, means_of(sides[0])), _sections(sides)
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
        glossary=_glossary(),
        footer=_footer(sides),
        sections=sections,
        brief=brief(sides, figures, sections),
    )


def _arm(slot: str, summary: ArmSummary, comparison: Comparison, capture: Capture) -> Arm:
    """Arms that differ in cache mode go by it; others by candidate and reference."""
    letter = "A" if slot == "a" else "B"
    if comparison.a.mode != comparison.b.mode:
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


def _evidence(arm: Arm, capture: Capture, runs: Sequence[RunSummary] | None) -> Evidence:
    return Evidence(
        arm, capture, tuple(summarise(run) for run in capture.runs) if runs is None else tuple(runs)
    )


def _figures(sides: Sequence[Evidence], means: Means) -> tuple[Figure, ...]:
    found = (
        curve(TTFT, sides, means),
        curve(THROUGHPUT, sides, means),
        levels_figure(sides, means),
        cached_figure(sides),
        shortfall_figure(sides),
        turns_figure(sides),
        clocks_figure(sides),
        prefill_figure(sides),
    )
    return tuple(figure for figure in found if figure is not None)


def _sections(sides: Sequence[Evidence]) -> tuple[Section, ...]:
    found = (
        failures_section(sides),
        sources_section(sides),
        client_section(sides),
        slowest_section(sides),
        corpus_section(sides),
    )
    return tuple(section for section in found if section is not None)


def _glossary() -> tuple[GlossaryRow, ...]:
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


def _footer(sides: Sequence[Evidence]) -> tuple[str, ...]:
    made = [
        f"{side.arm.name}: {side.arm.source or side.capture.scenario.name}, captured {text.moment(side.capture.created_wall_ns)}"
        for side in sides
    ]
    return (
        *made,
        f"Rendered by radixbench {__version__} from the captures alone; the same files give the same page.",
    )
