"""The law as a picture, a table and sentences: right figures, few marks, and reasons where there is none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from radixbench.capture.model import Capture
from radixbench.compare.comparison import compare
from radixbench.compare.law import capture_laws
from radixbench.metrics.summary import summarise
from radixbench.report.charts import live, svg
from radixbench.report.curves import compared_means, means_of
from radixbench.report.evidence import Evidence
from radixbench.report.law import law_figure
from radixbench.report.law_rows import MAX_MARKS, curve_rows, line_rows, marks, residual_rows
from radixbench.report.law_section import law_brief, law_section
from radixbench.report.model import Arm, Figure, Section
from radixbench.report.palette import NAMED
from radixbench.report.view import build_single_view, build_view
from tests.builders import make_capture
from tests.lawful import Cost, lawful_arm, lawful_sweep
from tests.report.views import view

ON = Cost(0.010, 2e-4, cached=1e-5)
OFF = Cost(0.004, 2e-4)
BENT = Cost(0.004, 1e-4, squared=4e-8)
LENGTHS = (0, 1024, 2048, 4096)


def seeds(cost: Cost) -> list[Cost]:
    """Three seeds, 1 % apart."""
    return [
        replace(cost, base=cost.base * by, computed=cost.computed * by, cached=cost.cached * by)
        for by in (0.99, 1.0, 1.01)
    ]


def sides(a: Capture, b: Capture) -> tuple[Evidence, ...]:
    """Both captures as sides of a report."""
    arms = (Arm("a", "A (cache on)", "", "", ""), Arm("b", "B (cache off)", "", "", ""))
    return tuple(
        Evidence(arm, capture, tuple(summarise(run) for run in capture.runs))
        for arm, capture in zip(arms, (a, b), strict=True)
    )


def told(a: Capture, b: Capture) -> tuple[Figure, Section | None]:
    """Figure and section of a comparison."""
    comparison, both = compare(a, b), sides(a, b)
    means = compared_means(comparison.changes)
    return law_figure(both, comparison.laws), law_section(both, comparison.laws, means, comparison.changes)


def texts(section: Section | None) -> list[str]:
    """What a section says."""
    assert section is not None
    return [one.text for one in section.says]


def column(rows: Sequence[Sequence[str]], header: Sequence[str], name: str) -> list[str]:
    """One column of a table by its heading."""
    return [row[header.index(name)] for row in rows]


def test_two_panels_for_the_setting() -> None:
    """Requests with their lines, and what is left of them beside a rule at 1."""
    figure, _ = told(*lawful_sweep(seeds(ON), seeds(OFF)[::-1]))
    lines, residuals = figure.panels
    assert (lines.key, lines.kind, residuals.kind) == ("law-0", "fit", "fit")
    assert {row["mark"] for row in lines.marks} == {"line"}
    assert residuals.rules == ({"y": 1.0},)
    assert residuals.marks == ()
    assert lines.summary.startswith(
        "Time to first token against computed tokens: A (cache on) 10.0 ms, and 200 ms more"
    )


def test_the_table_has_every_figure_with_its_interval() -> None:
    """Slope for a thousand tokens, its rate turned round, and what a cached token costs."""
    figure, _ = told(*lawful_sweep(seeds(ON), seeds(OFF)[::-1]))
    assert figure.grid is not None
    header, rows = figure.grid.header, figure.grid.rows
    assert column(rows, header, "1,000 more computed tokens") == ["200 ms (195–205)", "200 ms (195–205)"]
    assert (
        column(rows, header, "so, tokens per second as one request sees it")
        == ["5,000 tokens/s (4,879–5,127)"] * 2
    )
    assert column(rows, header, "1,000 more cached tokens") == ["10.0 ms (9.8–10.2)", "–"]
    assert column(rows, header, "R²") == ["1.00", "1.00"]
    assert column(rows, header, "requests, seeds") == ["108, 3", "108, 3"]


def test_the_section_says_what_tokens_cost_and_from_where_caching_pays() -> None:
    """A sentence an arm, and one on what follows, with its intervals."""
    _, section = told(*lawful_sweep(seeds(ON), seeds(OFF)[::-1]))
    a, b, pays = texts(section)
    assert a == (
        "A (cache on): 1,000 more computed tokens delay the first token by 200 ms (195–205), 1,000 more found cached by "
        "10.0 ms (9.8–10.2)."
    )
    assert b == "B (cache off): 1,000 more computed tokens delay the first token by 200 ms (195–205)."
    assert pays.startswith(
        "Caching pays from 32 shared tokens on (27–36); at 8,192 shared tokens, beyond what was"
    )
    assert section is not None
    assert [one.text for one in law_brief(section)] == [pays]


def test_foretold_factors_stand_beside_those_measured() -> None:
    """Whoever doubts the law sees where it was measured, and which lengths lie beyond."""
    _, section = told(*lawful_sweep(seeds(ON), seeds(OFF)[::-1]))
    assert section is not None
    (_, foretold), (caption, rates) = section.grids
    by_length = {row[1]: row for row in foretold.rows}
    assert by_length["4,096"][2].startswith("14.5×")
    assert by_length["4,096"][3].startswith("14.5×")
    assert by_length["4,096"][4] == ""
    assert by_length["8,192"][3:] == ("–", "beyond what was measured")
    assert caption.startswith("Prefill throughput")
    assert "no speed of the hardware" in rates.header[3]
    assert len(rates.rows) == 6
    assert all(cell != "–" for row in rates.rows for cell in row)


@pytest.mark.parametrize(
    ("on", "said"),
    [
        (Cost(0.003, 2e-4), "Caching pays from the first shared token on; at 8,192"),
        (
            Cost(0.010, 2e-4, cached=3e-4),
            "No break-even length is known: even at 4,096 shared tokens, the most that were found cached,",
        ),
    ],
    ids=["at once", "never"],
)
def test_caching_that_pays_at_once_or_never(on: Cost, said: str) -> None:
    """Both are said in words, with no length."""
    _, section = told(*lawful_sweep(seeds(on), seeds(OFF)))
    assert texts(section)[-1].startswith(said)


def test_a_bound_on_what_was_measured_bounds_what_is_foretold() -> None:
    """Where the reference was throttled, no factor foretold from it is more than an upper bound."""
    section = next(one for one in view("throttled").sections if one.key == "law")
    assert "comes at most" in section.says[-1].text
    (_, foretold), _ = section.grids
    assert all(row[2].startswith("at most ") for row in foretold.rows)
    assert {row[3][:7] for row in foretold.rows} == {"–", "at most"}


def test_two_lengths_promise_nothing_of_those_between() -> None:
    """Sentence and table say that they rest on a straight line, but for the length that was measured."""
    _, section = told(*lawful_sweep(seeds(ON), seeds(OFF), lengths=(0, 4096)))
    assert texts(section)[-1].endswith(
        "by these laws, if the law is a straight line, which no length in the middle tells."
    )
    assert section is not None
    reserved = {row[1]: row[4] for row in section.grids[0][1].rows}
    assert reserved["2,048"] == "if the law is a straight line, which no length in the middle tells"
    assert reserved["4,096"] == ""
    assert reserved["8,192"].startswith("beyond what was measured; if the law")


def test_a_bent_law_costs_so_much_on_average() -> None:
    """No sentence speaks of one price for every thousand where long prompts cost more."""
    _, section = told(*lawful_sweep(seeds(ON), seeds(BENT), lengths=LENGTHS))
    assert texts(section)[0].startswith("A (cache on): 1,000 more computed tokens delay")
    assert texts(section)[1].startswith("B (cache off): 1,000 more computed tokens on average delay")


def test_a_bent_law_has_a_dashed_curve() -> None:
    """The curve is drawn where the line alone would mislead."""
    figure, _ = told(*lawful_sweep(seeds(ON), seeds(BENT), lengths=LENGTHS))
    curves = [row for row in figure.panels[0].marks if row["mark"] == "curve"]
    assert {row["series"] for row in curves} == {"B (cache off)"}
    assert len(curves) == 25


def test_few_marks_stand_for_many_requests() -> None:
    """However many requests there were, the picture has few, from all over the range, extremes among them."""
    capture = make_capture(lawful_arm(seeds(OFF), mode="off", requests=2000, noise=lambda n: 1 + n / 2000))
    (found,) = capture_laws(capture, [summarise(run) for run in capture.runs])
    assert found.a is not None
    assert found.a.n_requests == 18_000
    shown = marks(found.a)
    assert len(shown) <= MAX_MARKS
    assert {one.uncached for one in shown} == {32, 1056, 4128}
    every = [y for line in found.a.lines.values() for y in line.points.ttft]
    assert (min(one.ttft for one in shown), max(one.ttft for one in shown)) == (min(every), max(every))
    assert len(list(residual_rows(found.a, "A"))) == len(shown)


def test_one_seed_has_a_line_without_a_band() -> None:
    """Nothing is shaded where no interval is known; the picture is drawn all the same."""
    figure, section = told(*lawful_sweep(seeds(ON)[:1], seeds(OFF)[:1]))
    assert {row["low"] for row in figure.panels[0].marks} == {None}
    assert "(" not in texts(section)[1].removeprefix("B (cache off)")
    assert svg(figure.panels[0]).startswith("<svg")


def test_a_single_capture_has_its_own_law() -> None:
    """One arm, no break-even, the same picture."""
    capture = make_capture(lawful_arm(seeds(OFF), mode="off"))
    (side,) = sides(capture, capture)[:1]
    laws = capture_laws(capture, side.summaries)
    figure = law_figure([side], laws)
    section = law_section([side], laws, means_of(side))
    assert [panel.series for panel in figure.panels] == [("A (cache on)",)] * 2
    assert len(texts(section)) == 1
    assert section is not None
    assert [caption for caption, _ in section.grids] == [
        "Prefill throughput: computed tokens are work done, and a cache that saves work lowers them"
    ]


def test_without_a_line_there_is_a_reason() -> None:
    """All requests alike, or none at all: absent, in words."""
    flat, section = told(*lawful_sweep(seeds(ON), seeds(OFF), lengths=(0,)))
    assert flat.panels == ()
    assert "all requests computed the same number of tokens" in flat.absent
    assert texts(section)[0].startswith("There is no line on both sides: A: all requests computed")
    empty, nothing = told(make_capture(()), make_capture(()))
    assert "no pair of runs counts" in empty.absent
    assert nothing is not None


def test_one_arm_without_a_law_leaves_the_other_s() -> None:
    """A server that doesn't count cached tokens costs one line, and a note says which."""
    a = make_capture(lawful_arm(seeds(ON), mode="on", told=False))
    figure, _ = told(a, make_capture(lawful_arm(seeds(OFF), mode="off")))
    assert figure.panels[0].series == ("B (cache off)",)
    assert any("A: the server doesn't report cached tokens" in note for note in figure.notes)


def test_constant_times_are_drawn() -> None:
    """A slope of 0 has no tokens per second, and the picture still stands."""
    figure, _ = told(*lawful_sweep(seeds(Cost(0.1, 0.0)), seeds(Cost(0.1, 0.0))))
    assert figure.grid is not None
    assert column(figure.grid.rows, figure.grid.header, "so, tokens per second as one request sees it") == [
        "–",
        "–",
    ]
    assert all(svg(panel).startswith("<svg") for panel in figure.panels)


def test_panels_draw_alive_and_still() -> None:
    """Both as a specification for a page, in named colours, and as SVG; every mark says what it is."""
    figure, _ = told(*lawful_sweep(seeds(ON), seeds(BENT), lengths=LENGTHS))
    for panel in figure.panels:
        assert all(row["tip"] for row in panel.rows)
        assert "var(--a)" in json.dumps(live(panel, NAMED))
        assert svg(panel).startswith("<svg")


def test_lines_end_where_measuring_did() -> None:
    """No line and no curve leaves the measured range."""
    capture = make_capture(lawful_arm(seeds(BENT), mode="off", lengths=LENGTHS))
    (found,) = capture_laws(capture, [summarise(run) for run in capture.runs])
    assert found.a is not None
    for rows in (list(line_rows(found.a, "A")), list(curve_rows(found.a, "A"))):
        xs = [float(row["x"]) for row in rows]
        assert (min(xs), max(xs)) == (32, 4128)


def test_views_have_the_figure_and_the_section() -> None:
    """Comparisons and single captures alike, and the brief has its line."""
    a, b = lawful_sweep(seeds(ON), seeds(OFF)[::-1])
    both, single = build_view(compare(a, b), a, b), build_single_view(a)
    for one in (both, single):
        assert "law" in {figure.key for figure in one.figures}
        assert "law" in {section.key for section in one.sections}
    assert any(line.text.startswith("Caching pays from 32 shared tokens") for line in both.brief)
