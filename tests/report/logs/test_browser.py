"""The page of logs in a real browser; needs Chromium on the machine."""

from __future__ import annotations

import pytest

from radixbench.report.logs.html import render
from radixbench.report.logs.timeline import timeline
from tests.report.logs import summaries
from tests.report.test_browser import BROWSER, visit

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")


def test_every_chart_comes_alive_without_a_word_on_the_console(tmp_path):
    """Clock times at the ticks, dashes and marks included; nothing is blocked or warned of."""
    names = ("sglang", "vllm", "unknown")
    page = tmp_path / "logs.html"
    page.write_text(render([summaries.ALL[name]() for name in names]), encoding="utf-8")
    dom, console = visit(page, tmp_path / "profile", "--blink-settings=preferredColorScheme=0")
    panels = [panel for name in names for panel in timeline(summaries.ALL[name]()).panels]
    assert console == []
    assert 'data-ready="yes"' in dom
    assert dom.count('data-drawn="live"') == len(panels)
    assert dom.count(">09:07<") >= 2
