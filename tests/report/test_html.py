"""The page: one file, nothing from outside, nothing from inside that escapes its place."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from radixbench.report import charts
from radixbench.report.html import render
from radixbench.report.packed import unpacked
from tests.report.hostile import hostile_view
from tests.report.views import view

PAGES = ("throttled", "multi_turn", "incomparable", "single", "measured")
NAMESPACES = (
    "http://www.w3.org/2000/svg",
    "http://www.w3.org/1999/xlink",
    "https://vega.github.io/schema/vega-lite/",
)


@cache
def page(name: str) -> str:
    """A scene's page, rendered once."""
    return render(view(name))


class Elements(HTMLParser):
    """Collects start tags with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def elements(html: str) -> list[tuple[str, dict[str, str | None]]]:
    """Every element of a page."""
    parser = Elements()
    parser.feed(html)
    return parser.tags


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_small_and_refers_to_nothing_outside(name):
    """Under 1.5 MB; the only addresses are names of schemas, and no element loads anything."""
    html = page(name)
    assert len(html.encode()) < 1_500_000
    for address in re.findall(r"https?://[^\s\"'<>)\\]+", html):
        assert address.startswith(NAMESPACES), address
    for tag, attributes in elements(html):
        assert tag not in {"link", "img", "iframe", "object", "embed"}
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
    assert "default-src 'none'" in html


@pytest.mark.parametrize("name", PAGES)
def test_every_figure_is_drawn_without_scripts(name):
    """Each panel is an SVG in the page, and each has a live specification to go with it."""
    html = page(name)
    keys = [panel.key for figure in view(name).figures for panel in figure.panels]
    drawn = [a["data-panel"] for tag, a in elements(html) if tag == "div" and a.get("class") == "plot"]
    assert sorted(drawn) == sorted(keys)
    assert html.count("<svg ") == len(keys)
    assert sorted(specs(html)) == sorted(keys)


def specs(html: str) -> dict[str, object]:
    """The specifications that a page carries."""
    found = re.search(r'<script type="application/gzip" id="specs">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return json.loads(unpacked(found[1]))


def test_equal_views_give_equal_bytes():
    """Nothing of the moment or the process gets into the page."""
    assert render(view("multi_turn")) == page("multi_turn")


def test_ids_are_unique_across_all_drawings():
    """Several SVGs on one page share no clip path."""
    ids = [attributes["id"] for _, attributes in elements(page("throttled")) if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_hostile_names_stay_text():
    """Names that speak HTML or a template language are shown, not obeyed."""
    html = render(hostile_view())
    tags = [tag for tag, _ in elements(html)]
    assert tags.count("script") == 4
    assert "img" not in tags
    assert "alert(1)</script>" not in html
    assert "{{ 7*7 }}" in html
    assert specs(html)


@pytest.mark.parametrize("name", PAGES)
def test_headings_tables_and_figures_are_labelled(name):
    """One h1, headings without a gap, header cells in every table, a text for every picture."""
    found = elements(page(name))
    levels = [int(tag[1]) for tag, _ in found if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(a.get("scope") for tag, a in found if tag == "th")
    assert all(a.get("aria-label") for _, a in found if a.get("role") == "img" and "data-panel" in a)


@pytest.mark.parametrize("name", PAGES)
def test_links_within_the_page_lead_somewhere(name):
    """Every anchor has its target, those of the questions and chips too."""
    found = elements(page(name))
    ids = {a["id"] for _, a in found if "id" in a}
    targets = {str(a["href"]).removeprefix("#") for tag, a in found if tag == "a"}
    assert targets <= ids


def test_severity_is_told_in_words_and_marks():
    """Nothing depends on colour alone."""
    html = page("throttled")
    assert '<span class="severity">serious</span>' in html
    assert "‼" in html
    assert "▲ better" in html


def test_a_view_without_figures_carries_no_drawing_library():
    """An empty capture's page is text."""
    bare = replace(view("single"), figures=())
    assert len(render(bare)) < 100_000


def test_the_drawing_library_carries_no_time_stamp():
    """What is compressed once is compressed alike for ever."""
    packed = base64.b64decode(charts.runtime())
    assert packed[:2] == b"\x1f\x8b"
    assert packed[4:8] == bytes(4)
