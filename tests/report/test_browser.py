"""The page in a real browser, from a file, without a network.

Needs Chromium on the machine (``chromium``, ``chromium-browser`` or ``google-chrome``).
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from radixbench.report.html import render
from tests.report.views import view

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--enable-logging=stderr",
    "--virtual-time-budget=10000",
    "--dump-dom",
)


def visit(page: Path, profile: Path, *flags: str) -> tuple[str, list[str]]:
    """The page's elements once it has settled, and what it wrote to the console."""
    assert BROWSER is not None
    command = [BROWSER, *FLAGS, f"--user-data-dir={profile}", *flags, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.parametrize("name", ["throttled", "multi_turn"])
def test_every_chart_comes_alive_without_a_word_on_the_console(name, tmp_path):
    """All kinds of panels draw themselves, in the dark theme too, and nothing is blocked or warned of."""
    page = tmp_path / "report.html"
    page.write_text(render(view(name)), encoding="utf-8")
    dom, console = visit(page, tmp_path / "profile", "--blink-settings=preferredColorScheme=0")
    keys = [panel.key for figure in view(name).figures for panel in figure.panels]
    assert console == []
    assert 'data-ready="yes"' in dom
    assert dom.count('data-drawn="live"') == len(keys)
    assert "Light theme" in dom
