"""The made-up logs as views, each built once for a test process: views are frozen."""

from __future__ import annotations

from functools import cache

from radixbench.report.logs.model import LogView, SideBySide
from radixbench.report.logs.side_by_side import build_side_by_side
from radixbench.report.logs.view import build_log_view
from tests.report.logs import summaries

NAMES = tuple(summaries.ALL)


@cache
def view(name: str, *, brief: bool = False) -> LogView:
    """One of ``NAMES``."""
    return build_log_view(summaries.ALL[name](), brief=brief)


@cache
def side(*names: str) -> SideBySide:
    """Several of ``NAMES`` next to each other."""
    return build_side_by_side([view(name) for name in names])
