"""Fixtures that tests of pages share."""

from __future__ import annotations

import pytest

from tests.report.browser import browser_or_skip


@pytest.fixture(scope="module")
def browser():
    """One browser for all tests of a module."""
    with browser_or_skip() as running:
        yield running
