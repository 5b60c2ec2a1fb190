"""Panels as specifications, SVG and PNG."""

from __future__ import annotations

import re

import pytest

from radixbench.errors import OutputError
from radixbench.report import charts
from radixbench.report.marks import chart
from radixbench.report.palette import DARK, LIGHT, NAMED, Palette
from tests.report.views import NAMES, view


def panels(name):
    """Every panel of a scene."""
    return [panel for figure in view(name).figures for panel in figure.panels]


def luminance(colour: str) -> float:
    """Relative luminance after WCAG 2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio after WCAG 2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_ink_and_marks_stand_out_from_the_paper(palette: Palette):
    """4.5 to 1 for text, 3 to 1 for what is drawn, in both themes."""
    assert contrast(palette.ink, palette.paper) >= 4.5
    assert contrast(palette.muted, palette.paper) >= 4.5
    for colour in (
        palette.a,
        palette.b,
        palette.computed,
        palette.cached,
        palette.raced,
        palette.paged,
        palette.evicted,
        palette.unexplained,
    ):
        assert contrast(colour, palette.paper) >= 3


@pytest.mark.parametrize("name", NAMES)
def test_live_and_still_charts_differ_in_hover_and_zoom_only(name):
    """The still picture leaves out what nobody can hover over or zoom, and no data."""
    for panel in panels(name):
        live, still = charts.live(panel, NAMED), charts.spec(panel, NAMED)
        assert len(live["layer"]) >= len(still["layer"])
        assert live["width"] == "container"
        assert len(live["datasets"][live["data"]["name"]]) == len(panel.rows)
        assert not any("params" in layer for layer in still["layer"])
        check_zoom(panel, live)


def check_zoom(panel, live):
    """One selection by one name where the axis is of numbers; a wheel needs a key, a drag a mouse, no mark leaves its plot."""
    params = [param for layer in live["layer"] for param in layer.get("params", ())]
    if not charts.zooms(panel):
        assert params == []
        return
    (zoom,) = params
    assert (zoom["name"], zoom["bind"], zoom["select"]["encodings"]) == (charts.ZOOM, "scales", ["x"])
    assert "ctrlKey" in zoom["select"]["zoom"]
    assert "mouse" in zoom["select"]["translate"]
    assert all(layer["mark"]["clip"] for layer in live["layer"])


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_chart_keeps_to_the_schema(name):
    """What isn't checked while a page is made is checked here, with all marks."""
    for kind in {panel.kind for panel in panels(name)}:
        panel = next(panel for panel in panels(name) if panel.kind == kind)
        assert chart(panel, NAMED).to_dict(validate=True)


def test_colours_follow_the_arm_and_the_theme_by_name():
    """On the page every arm colour is a name that the theme resolves; in a file it is a value."""
    panel = next(p for p in panels("laptop") if p.key == "ttft-0")
    assert "var(--a)" in charts.svg(panel, NAMED)
    drawn = charts.svg(panel)
    assert LIGHT.a in drawn
    assert "var(" not in drawn


def test_one_arm_alone_keeps_its_colour():
    """B's own panel is drawn in B's colour, not in the first one of the list."""
    panel = next(p for p in panels("slower_candidate") if p.key == "cached-b")
    drawn = charts.svg(panel, NAMED)
    assert "var(--b)" in drawn
    assert "var(--a)" not in drawn


def test_a_wide_range_gets_a_logarithmic_axis_with_few_ticks():
    """102-fold differences are read on a logarithmic axis, from 1 and 3 of each decade."""
    ttft, throughput = (
        next(p for p in panels("laptop") if p.key == key) for key in ("ttft-0", "throughput-0")
    )
    assert ttft.log_y
    assert "logarithmic" in ttft.y_title
    scale = charts.spec(ttft)["layer"][0]["encoding"]["y"]
    assert scale["scale"]["type"] == "log"
    assert all(str(tick).strip("0.")[:1] in {"1", "3"} for tick in scale["axis"]["values"])
    assert not panels("single")[0].log_y
    assert throughput.y_title.startswith("output tokens per second")


def test_svg_files_are_written_for_every_panel_in_colours_of_their_own(tmp_path):
    """Files hold values, no names that only a page resolves."""
    written = charts.export_svg(view("multi_turn"), tmp_path / "figures")
    assert [path.name for path in written] == [f"{panel.key}.svg" for panel in panels("multi_turn")]
    for path in written:
        drawn = path.read_text(encoding="utf-8")
        assert drawn.startswith("<svg")
        assert "var(" not in drawn


def test_png_files_are_written_for_every_panel(tmp_path):
    """One picture a panel, named by its key."""
    written = charts.export_png(view("multi_turn"), tmp_path / "figures")
    assert [path.stem for path in written] == [panel.key for panel in panels("multi_turn")]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


def test_an_unwritable_directory_is_one_clear_line(tmp_path):
    """What, where and the remedy."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(OutputError, match=re.escape(str(blocked))):
        charts.export_png(view("multi_turn"), blocked / "figures")
    with pytest.raises(OutputError, match=re.escape(str(blocked))):
        charts.export_svg(view("multi_turn"), blocked / "figures")
