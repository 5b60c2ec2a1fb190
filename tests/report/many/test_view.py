"""Several captures as one view: every candidate's own verdict, and all figures beside one another."""

from __future__ import annotations

import pytest

from radixbench.compare.many import compare_many
from radixbench.report.many.names import labels
from radixbench.report.many.view import build_many_view
from tests.builders import CARD, gpu_samples, make_sweep
from tests.compare.several import capture
from tests.report.many.views import eight, many, view


def row(metric: str = "ttft_p50"):
    """A metric's row in the only cell."""
    (cell,) = view().cells
    return next(row for row in cell.rows if row.metric == metric)


def test_the_first_sentence_says_what_became_of_every_candidate():
    """A word for each, and who the reference is."""
    assert view().sentence == (
        "Against D (main, reference): A (fast): better; B (other): can't be compared; C (slow): worse."
    )
    assert [one.headline.label for one in view().candidates] == ["Better", "Incomparable", "Worse"]
    assert [arm.slot for arm in view().arms] == ["a", "b", "c", "d"]


def test_headlines_call_captures_by_their_letters():
    """C is C in its own comparison, and the reference D."""
    assert view().candidates[2].headline.sentence.startswith("Candidate C against reference D: ")


def test_a_row_has_a_column_for_each_capture():
    """Candidates have a factor and a verdict, the reference its figure alone, and one that can't be compared no factor."""
    fast, other, slow, main = row().columns
    assert (fast.value.value, main.value.value) == ("500 ms", "1.00 s")
    assert fast.factor is not None
    assert fast.factor.value.startswith("2.0")
    assert (fast.verdict, slow.verdict) == ("▲ better", "▼ worse")
    assert (other.factor, other.verdict, other.value.value) == (None, "✕ incomparable", "500 ms")
    assert (main.factor, main.verdict) == (None, "")
    assert row().gated
    assert [one.verdict for one in row("hit_rate").columns] == ["explains", "", "explains", ""]


def test_a_reference_that_pairs_unlike_says_so():
    """B has two seeds of three: its factor is made of another mean of C than the table shows."""
    speeds = (1.0, 1.1, 1.5)
    captures = [capture(0.5), capture(0.5, seeds=2), capture(lambda seed: speeds[seed])]
    (cell,) = build_many_view(compare_many(captures, ["a.json", "b.json", "c.json"])).cells
    a, b, c = next(row for row in cell.rows if row.metric == "ttft_p50").columns
    assert c.value.value == "1.18 s"
    assert "against" not in a.note
    assert "against 1.05 s" in b.note
    assert "over the seeds that both have" in b.note


def test_a_cell_that_a_candidate_lacks_is_told():
    """The cell is there, with a reason in its place."""
    captures = [capture(0.5, shared=(0, 64)), capture(0.5), capture(1.0)]
    cells = build_many_view(compare_many(captures, ["a.json", "b.json", "c.json"])).cells
    assert [cell.title for cell in cells] == ["0 shared tokens", "64 shared tokens"]
    first = cells[0].rows[0].columns
    assert "C has no run of this cell" in first[0].note
    assert first[1].value.note == "no run of this cell"


def test_the_forest_has_one_axis_for_all_candidates():
    """Panels of a metric below one another, those that can't be compared named instead of drawn."""
    forest = view().figures[0]
    assert [panel.key for panel in forest.panels] == [
        "a-forest-ttft-p50",
        "c-forest-ttft-p50",
        "a-forest-output-throughput",
        "c-forest-output-throughput",
    ]
    assert len({panel.x_domain for panel in forest.panels}) == 1
    assert forest.notes == ("B (other) has no factor: it can't be compared with the reference.",)
    assert forest.grid is not None
    assert forest.grid.header[0] == "candidate"


def test_curves_lay_all_captures_over_one_another():
    """Each has a slot of its own, which decides colour, shape and stroke."""
    (panel,) = next(figure for figure in eight().figures if figure.key == "ttft").panels
    assert panel.slots == tuple("abcdefgh")
    assert len({row["series"] for row in panel.rows}) == 7


def test_differences_have_a_column_for_each_capture():
    """What forbids a verdict of whom comes first; who is like the reference says that."""
    first = view().differences[0]
    assert (first.name, first.tone) == ("weights_sha256", "refused")
    assert first.values == ("as the reference", "x" * 64, "as the reference", "w" * 64)
    assert first.status == "B: forbids a verdict"


def test_environment_stands_side_by_side():
    """Four values each; what differs says so."""
    rows = {row.name: row for row in view().environment}
    assert all(len(row.values) == 4 for row in rows.values())
    assert rows["model: weights_sha256"].status == "differs"
    assert rows["CPU"].status == ""


def test_caveats_name_whom_they_concern():
    """Of all candidates, or of some by their letters."""
    concerned = {one.caveat.code: one.who for one in view().caveats}
    assert concerned["clock-unknown"] == "all candidates"
    assert len(concerned) == len(view().caveats) == len(many().caveats)


def test_clocks_are_told_of_every_candidate():
    """Throttled or not, beside the reference; the chip of a candidate leads there."""
    held = {"gpu": gpu_samples(clock=1200, reasons=0x4), "devices": (CARD,), "identity": {"device": "cuda"}}
    cool = held | {"gpu": gpu_samples(clock=1900)}
    captures = [make_sweep(on=0.5, on_options=options)[0] for options in (held, cool, cool)]
    shown = build_many_view(compare_many(captures, ["a.json", "b.json", "c.json"]))
    (section,) = [section for section in shown.sections if section.key == "clocks"]
    assert [(one.word, one.tone) for one in section.says] == [
        ("throttled", "worse"),
        ("not throttled", "better"),
    ]
    assert section.says[0].text.startswith("A (a): ")
    links = {chip.label: chip.link for chip in shown.candidates[0].alike}
    assert (links["Clocks"], links["Prompts"]) == ("clocks", "")
    assert "throttled" in {one.caveat.code for one in shown.serious}


@pytest.mark.parametrize(
    ("paths", "told"),
    [
        (("a.json", "b.json.gz", "c.json.zst"), ("a", "b", "c")),
        (("x/on.json", "y/on.json", "y/off.json"), ("x/on", "y/on", "y/off")),
        ((None, "x/a.json"), ("", "a")),
        (("d/" + "n" * 60 + "1.json", "b.json"), ("…" + "n" * 30 + "1", "b")),
    ],
)
def test_captures_go_by_what_tells_their_files_apart(paths, told):
    """Names without endings, with folders where the names are one; of long ones the end."""
    assert labels(paths) == told
