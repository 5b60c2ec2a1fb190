"""The page of several captures: whole without scripts, alive with them, on a phone, and inert whatever names hold."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

import pytest

from radixbench.report.many.html import render
from tests.report.browser import Visit
from tests.report.many.views import eight, hostile, view
from tests.report.test_html import NAMESPACES, elements, specs

VIEWS = {"four": view, "eight": eight, "hostile": hostile}
DESK = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}


@cache
def page(name: str) -> str:
    """A page, rendered once."""
    return render(VIEWS[name]())


def keys(name: str) -> list[str]:
    """The panels of a page."""
    return [panel.key for figure in VIEWS[name]().figures for panel in figure.panels]


@pytest.mark.parametrize("name", VIEWS)
def test_it_is_one_small_file(name):
    """Nothing from outside, every panel drawn still and live, all ids and links its own."""
    html = page(name)
    found = elements(html)
    assert len(html.encode()) < 1_500_000
    assert "default-src 'none'" in html
    assert html.count("<svg ") == len(keys(name))
    assert sorted(specs(html)) == sorted(keys(name))
    ids = [a["id"] for _, a in found if "id" in a]
    assert len(ids) == len(set(ids))
    assert {str(a["href"]).removeprefix("#") for tag, a in found if tag == "a"} <= set(ids)
    if name != "hostile":
        for address in re.findall(r"https?://[^\s\"'<>)\\]+", html):
            assert address.startswith(NAMESPACES), address


@pytest.mark.parametrize("name", VIEWS)
def test_headings_tables_and_figures_are_labelled(name):
    """One h1, headings without a gap, scopes, a text for every picture, how to read each."""
    found = elements(page(name))
    levels = [int(tag[1]) for tag, _ in found if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(a.get("scope") for tag, a in found if tag == "th")
    assert page(name).count("How to read this") == len(VIEWS[name]().figures)


def test_hostile_names_stay_text():
    """Shown, not obeyed."""
    tags = [tag for tag, _ in elements(page("hostile"))]
    assert tags.count("script") == 4
    assert "img" not in tags
    assert "alert(1)</script>" not in page("hostile")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The pages as files."""
    folder = tmp_path_factory.mktemp("many")
    for name in VIEWS:
        (folder / f"{name}.html").write_text(page(name), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in VIEWS}


@pytest.mark.parametrize(("name", "scheme"), [("four", "dark"), ("eight", "light"), ("hostile", "light")])
def test_every_figure_comes_alive_in_silence(browser, files, name, scheme):
    """Nothing on the console, nothing asked for but the file, no dialog."""
    with Visit(browser, files[name], color_scheme=scheme, viewport=DESK) as visit:
        assert visit.page.locator("[data-drawn=live]").count() == len(keys(name))
        assert visit.said == []
        assert visit.dialogs == []
        assert [url.split(":")[0] for url in visit.asked] == ["file"]


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("name", ["four", "eight"])
def test_a_phone_shows_it_without_scrolling_sideways(browser, files, name, scripts):
    """At 390 pixels nothing sticks out, and every still picture is there where scripts are off."""
    with Visit(browser, files[name], viewport=PHONE, java_script_enabled=scripts) as visit:
        right = visit.page.locator("body").evaluate(
            "body => Math.max(body.scrollWidth, document.documentElement.scrollWidth)"
        )
        assert right <= PHONE["width"]
        if not scripts:
            assert visit.page.locator(".still svg").filter(visible=True).count() == len(keys(name))
