"""A real Chromium for tests of pages: found on the machine, driven by Playwright, kept away from any network.

Without one the tests are skipped, or fail where ``RADIXBENCH_NEED_BROWSER`` is set, as CI sets it.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NEEDED = bool(os.environ.get("RADIXBENCH_NEED_BROWSER"))
PATIENCE_MS = 15_000
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic"]


def browser_or_skip():
    """A running browser as a context manager; skips where there is none, unless one is needed."""
    missing = _missing()
    if missing and NEEDED:
        pytest.fail(f"RADIXBENCH_NEED_BROWSER is set, but {missing}")
    if missing:
        pytest.skip(missing)
    return _running(importlib.import_module("playwright.sync_api"))


def _missing() -> str:
    """What is missing, and what brings it; "" where all is there."""
    if BROWSER is None:
        return "no Chromium is installed (apt-get install chromium, or Google Chrome)"
    if importlib.util.find_spec("playwright") is None:
        return "playwright isn't installed (pip install -e '.[dev]')"
    return ""


@contextmanager
def _running(playwright) -> Iterator[object]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """A page that was opened from a file: what it asked for, and what it wrote to the console."""

    def __init__(self, browser, file: Path, **context) -> None:
        self.context = browser.new_context(accept_downloads=True, **context)
        self.context.set_default_timeout(PATIENCE_MS)
        self.page = self.context.new_page()
        self.asked: list[str] = []
        self.said: list[str] = []
        self.dialogs: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", self._dialog)
        self.page.goto(file.as_uri())
        if context.get("java_script_enabled", True):
            self.page.wait_for_selector("html[data-ready=yes]", state="attached")

    def _dialog(self, dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_error) -> None:
        self.context.close()
