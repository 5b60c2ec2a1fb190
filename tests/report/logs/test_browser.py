"""The page of logs in a real browser."""

from __future__ import annotations

import pytest

from radixbench.report.logs.html import render
from radixbench.report.logs.timeline import timeline
from tests.report.browser import Visit
from tests.report.logs import summaries

NAMES = ("sglang", "vllm", "unknown")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Three logs side by side, as a file."""
    file = tmp_path_factory.mktemp("logs") / "logs.html"
    file.write_text(render([summaries.ALL[name]() for name in NAMES]), encoding="utf-8")
    return file


def test_every_chart_comes_alive_without_a_word_on_the_console(browser, page):
    """Clock times at the ticks, dashes and marks included; nothing is blocked or warned of, nothing is fetched."""
    panels = [panel for name in NAMES for panel in timeline(summaries.ALL[name]()).panels]
    with Visit(browser, page, color_scheme="dark") as visit:
        assert visit.page.locator("[data-drawn=live]").count() == len(panels)
        assert visit.page.get_by_text("09:07", exact=True).count() >= 2
        assert visit.said == []
        assert [url.split(":")[0] for url in visit.asked] == ["file"]


@pytest.mark.parametrize("scripts", [True, False])
def test_a_phone_shows_it_without_scrolling_sideways(browser, page, scripts):
    """At 390 pixels nothing sticks out of the page."""
    with Visit(browser, page, viewport={"width": 390, "height": 844}, java_script_enabled=scripts) as visit:
        width = visit.page.evaluate(
            "Math.max(document.body.scrollWidth, document.documentElement.scrollWidth)"
        )
        assert width <= 390
