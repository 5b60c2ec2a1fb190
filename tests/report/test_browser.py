"""The page in a real browser, from a file, without a network: live, still, small, printed, and by keyboard."""

from __future__ import annotations

import csv
import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest

from radixbench.report.html import render
from tests.report.browser import Visit
from tests.report.hostile import hostile_view
from tests.report.views import view

NAMES = ("throttled", "multi_turn", "measured", "single")
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}


class Pages(dict[str, Path]):
    """A scene's page as a file, rendered when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def __missing__(self, name: str) -> Path:
        self[name] = self.folder / f"{name}.html"
        shown = hostile_view() if name == "hostile" else view(name)
        self[name].write_text(render(shown), encoding="utf-8")
        return self[name]


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Pages:
    """Every scene's page, and one whose names are hostile."""
    return Pages(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def desk(browser, pages):
    """The page of a sweep on a throttled card, open on a desk's screen; tests leave it as they found it."""
    with Visit(browser, pages["throttled"], viewport=DESK) as visit:
        yield visit


def panel_keys(name: str) -> list[str]:
    """The panels of a scene."""
    return [panel.key for figure in view(name).figures for panel in figure.panels]


@pytest.mark.parametrize(("name", "scheme"), [("throttled", "dark"), *((name, "light") for name in NAMES)])
def test_every_figure_is_drawn_live_and_nothing_is_fetched(browser, pages, name, scheme):
    """All panels come alive in both themes, the console stays silent, and the only request is for the file itself."""
    with Visit(browser, pages[name], color_scheme=scheme, viewport=DESK) as visit:
        live = visit.page.locator("[data-drawn=live]")
        assert live.count() == len(panel_keys(name))
        boxes = visit.page.eval_on_selector_all(
            ".live svg", "all => all.map(one => [one.clientWidth, one.clientHeight])"
        )
        assert len(boxes) == len(panel_keys(name))
        assert all(width > 200 and height > 20 for width, height in boxes)
        assert visit.said == []
        assert [url.split(":")[0] for url in visit.asked] == ["file"]


@pytest.mark.parametrize("name", ["throttled", "measured", "single"])
def test_without_scripts_the_page_is_whole(browser, pages, name):
    """Every figure stands there as a still picture, details open by a click, and nothing waits for anything."""
    with Visit(browser, pages[name], java_script_enabled=False, viewport=DESK) as visit:
        stills = visit.page.locator(".still svg")
        assert stills.count() == len(panel_keys(name))
        for still in stills.all():
            box = still.bounding_box()
            assert box is not None
            assert box["width"] > 200
            assert box["height"] > 20
        assert not visit.page.locator(".tools, #theme, .live").filter(visible=True).count()
        folded = visit.page.locator("main details:not([open])").first
        folded.locator("summary").click()
        assert folded.page.locator("main details").first.is_visible()
        assert "loading" not in visit.page.locator("main").inner_text().lower()


STICKING_OUT = """() => [...document.querySelectorAll('.plot')].flatMap(plot => {
  const box = plot.getBoundingClientRect();
  const words = [...plot.querySelectorAll('.live svg text')].filter(one => one.getAttribute('opacity') !== '0');
  return words
    .filter(one => { const at = one.getBoundingClientRect(); return at.right > box.right + 2 || at.left < box.left - 2; })
    .map(one => `${plot.dataset.panel}: ${one.textContent}`);
})"""


@pytest.mark.parametrize(
    ("name", "scripts"), [("throttled", False), ("throttled", True), ("measured", True), ("hostile", True)]
)
def test_a_phone_shows_it_without_scrolling_sideways(browser, pages, name, scripts):
    """At 390 pixels nothing sticks out of the page or its figure; what is wider scrolls in a box of its own."""
    with Visit(browser, pages[name], viewport=PHONE, java_script_enabled=scripts) as visit:
        right = visit.page.locator("body").evaluate(
            "body => Math.max(body.scrollWidth, document.documentElement.scrollWidth)"
        )
        assert right <= PHONE["width"]
        assert visit.page.evaluate(STICKING_OUT) == []


def test_hovering_tells_a_marks_figures(desk):
    """A pointer over a mark brings its text up beside it, and it goes when the pointer leaves."""
    plot = desk.page.locator("#figure-ttft .plot").first
    plot.scroll_into_view_if_needed()
    mark = plot.locator(".live .mark-symbol path").first
    bubble = desk.page.locator(".bubble")

    def hovered() -> bool:
        desk.page.mouse.move(2, 2)
        mark.hover(force=True)
        return bubble.is_visible()

    until(desk, hovered)
    assert re.search(r"\d", bubble.inner_text())
    desk.page.mouse.move(2, 2)
    desk.page.wait_for_function("document.querySelector('.bubble').hidden")


def test_the_arrow_keys_go_from_mark_to_mark(desk):
    """A focused figure tells its marks one by one, to the eye and to screen readers."""
    plot = desk.page.locator("#figure-ttft .plot").first
    plot.focus()
    told = []
    for _ in range(3):
        desk.page.keyboard.press("ArrowRight")
        assert desk.page.locator(".bubble").is_visible()
        told.append(desk.page.locator("[role=status]").inner_text())
    assert all(told)
    desk.page.keyboard.press("Home")
    assert desk.page.locator("[role=status]").inner_text() == told[0]
    desk.page.keyboard.press("Escape")
    assert desk.page.locator(".bubble").is_hidden()


def test_zoom_changes_the_axis_and_reset_brings_it_back(desk):
    """Buttons zoom in and out where a figure may be zoomed; reset and a double click show all of it again."""
    panel = desk.page.locator(".panel:has(.zooming:not([hidden]))").first
    panel.scroll_into_view_if_needed()

    def ticks() -> set[str]:
        return set(panel.locator(".live .role-axis-label text").all_text_contents())

    def press(name: str) -> None:
        panel.get_by_role("button", name=name).click()

    before = ticks()
    for undo in (lambda: press("Reset zoom"), lambda: panel.locator(".live svg").dblclick()):
        press("Zoom in")
        until(desk, lambda: ticks() != before)
        undo()
        until(desk, lambda: ticks() == before)


def until(visit: Visit, held) -> None:
    """Wait until something holds of the page."""
    for _ in range(100):
        if held():
            return
        visit.page.wait_for_timeout(20)
    assert held()


def test_a_wheel_over_a_figure_scrolls_the_page(desk):
    """Figures don't hold a reader up who scrolls past them."""
    panel = desk.page.locator(".panel:has(.zooming:not([hidden])) .live svg").first
    panel.scroll_into_view_if_needed()
    panel.hover()
    before = desk.page.evaluate("scrollY")
    desk.page.mouse.wheel(0, 200)
    desk.page.wait_for_function("before => scrollY !== before", arg=before)


@pytest.mark.parametrize("key", ["ttft", "clocks"])
def test_a_figure_is_saved_as_svg_png_and_csv(desk, tmp_path, key):
    """The files hold what is shown: colours spelled out, a picture of the right size, the table's own figures."""
    figure = desk.page.locator(f"#figure-{key}")
    saved = {kind: download(desk, figure, kind, tmp_path) for kind in ("svg", "png", "csv")}
    text = saved["svg"].read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("svg")
    assert "var(" not in text
    assert root[0].tag.endswith("title") or root[1].tag.endswith("title")
    head = saved["png"].read_bytes()[:24]
    assert head.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", head[16:24])
    assert width > 800
    assert height > 20
    rows = list(csv.reader(saved["csv"].read_text(encoding="utf-8").splitlines()))
    grid = next(one.grid for one in view("throttled").figures if one.key == key)
    assert grid is not None
    assert tuple(rows[0]) == grid.header
    assert len(rows) == 1 + len(grid.rows)


def download(visit: Visit, figure, kind: str, folder: Path) -> Path:
    """The file that a button of a figure gives."""
    with visit.page.expect_download() as coming:
        figure.locator(f"button[data-do={kind}]").first.click()
    target = folder / coming.value.suggested_filename
    coming.value.save_as(target)
    assert target.suffix == f".{kind}"
    return target


def test_the_theme_is_switched_and_remembered(browser, pages):
    """The button turns the page dark, and it stays so when the page is opened again."""
    with Visit(browser, pages["single"], color_scheme="light", viewport=DESK) as visit:
        light = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        visit.page.get_by_role("button", name="Dark theme").click()
        dark = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert light != dark
        visit.page.reload()
        assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == dark


@pytest.mark.parametrize("scripts", [True, False])
def test_it_prints_light_and_unfolded(browser, pages, scripts):
    """A printed page has what is folded on the screen, no menus, and figures on white, with scripts or without."""
    with Visit(
        browser, pages["throttled"], color_scheme="dark", viewport=DESK, java_script_enabled=scripts
    ) as visit:
        visit.page.emulate_media(media="print", color_scheme="dark")
        pdf = visit.page.pdf(format="A4")
        assert pdf.startswith(b"%PDF")
        assert b"/ToUnicode" in pdf  # words, not pictures of them
        assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") > 3
        assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert visit.page.locator("nav, .tools, #theme").filter(visible=True).count() == 0
        folded = visit.page.locator("details.every table").first
        assert folded.evaluate("table => table.getBoundingClientRect().height") > 50
        assert visit.page.locator(".still svg").first.is_visible()


def test_the_keyboard_reaches_everything(browser, pages):
    """Tab goes through skip link, menus, figures and buttons in order, each with a visible focus; Enter opens a menu."""
    with Visit(browser, pages["single"], viewport=DESK) as visit:
        page = visit.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        wanted = page.eval_on_selector_all(
            "a[href], button, summary, [tabindex='0']",
            "all => all.filter(one => one.checkVisibility({contentVisibilityAuto: true})).length",
        )
        seen = 1
        for _ in range(wanted - 1):
            page.keyboard.press("Tab")
            outline = page.evaluate(
                "(one => one.matches(':focus-visible') && getComputedStyle(one).outlineStyle)(document.activeElement)"
            )
            assert outline == "solid"
            seen += 1
        assert seen == wanted
        page.keyboard.press("Tab")
        assert page.evaluate(
            "document.activeElement === document.body || document.activeElement.className === 'skip'"
        )
        menu = page.locator(".top nav summary").first
        menu.focus()
        page.keyboard.press("Enter")
        assert page.locator(".top nav details[open]").count() == 1
        page.keyboard.press("Escape")
        assert page.locator(".top nav details[open]").count() == 0


def test_every_figure_has_a_name_for_those_who_dont_see_it(desk):
    """The accessibility tree names each figure by its summary, and has the landmarks of a page."""
    tree = desk.page.locator("body").aria_snapshot()
    for figure in view("throttled").figures:
        for panel in figure.panels:
            assert desk.page.get_by_role("img", name=panel.summary, exact=True).count() >= 1
    for landmark in ("banner", "navigation", "main", "contentinfo"):
        assert f"- {landmark}" in tree


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(browser, pages, scheme):
    """Every word that is shown, in figures too, has a contrast of at least 4.5 in both themes."""
    with Visit(browser, pages["throttled"], color_scheme=scheme, viewport=DESK) as visit:
        faint = visit.page.evaluate(CONTRAST)
        assert faint == []


def test_hostile_names_run_no_script(browser, pages):
    """Markup in models, cells, answers of servers and file names is text: no dialog, no element, no request."""
    with Visit(browser, pages["hostile"], viewport=DESK) as visit:
        assert visit.dialogs == []
        assert visit.page.locator("img, iframe, body > script[src]").count() == 0
        assert visit.page.evaluate("window.owned") is None
        assert visit.said == []
        assert [url.split(":")[0] for url in visit.asked] == ["file"]
        assert "<img src=x" in visit.page.locator("main").inner_text()


CONTRAST = """() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const part = (value) => { const c = value / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = rgb(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const faint = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("script, style, .skip")) continue;
    const style = getComputedStyle(element);
    const inside = element.closest("svg") !== null && element.namespaceURI.endsWith("svg");
    const own = rgb(inside ? style.fill : style.color);
    const [a, b] = [light(own), light(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) faint.add(`${element.tagName}.${element.getAttribute("class")}: ${walker.currentNode.data.trim().slice(0, 30)} ${contrast.toFixed(2)}`);
  }
  return [...faint];
}"""
