"""The scenes as views, each built once for a test process: views are frozen."""

from __future__ import annotations

from functools import cache

from radixbench.report.model import ReportView
from radixbench.report.view import build_single_view, build_view
from tests.report import evidence, scenes

NAMES = ("laptop", "throttled", "multi_turn", "slower_candidate", "incomparable", "single", "measured")


@cache
def view(name: str) -> ReportView:
    """One of ``NAMES``."""
    if name == "single":
        return build_single_view(scenes.laptop()[0], path="captures/laptop/on.json")
    if name == "incomparable":
        return build_view(*scenes.compared((scenes.laptop()[0], scenes.other_model())))
    pair = {
        "laptop": scenes.laptop,
        "throttled": scenes.throttled,
        "multi_turn": scenes.multi_turn,
        "slower_candidate": scenes.slower_candidate,
        "measured": evidence.measured,
    }[name]()
    return build_view(*scenes.compared(pair))
