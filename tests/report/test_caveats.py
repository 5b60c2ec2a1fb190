"""How much of a caveat the short forms of a report tell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.compare.change import Caveat
from radixbench.report.caveats import caveat_views
from tests.report import scenes
from tests.report.evidence import side_of, with_cached
from tests.report.rows import change

REMARK = Caveat("few-values", "info", "of few values", "ask more")


def shorts(caveats, changes=(), sides=()):
    """How much of each is told in short, by code."""
    return {one.code: one.short for one in caveat_views(caveats, changes, sides)}


def test_what_may_change_a_verdict_is_told_whole():
    """Warnings and serious caveats; the rest by its code."""
    caveats = [Caveat("x", "serious", "", ""), Caveat("y", "warning", "", ""), Caveat("z", "info", "", "")]
    assert shorts(caveats) == {"x": "whole", "y": "whole", "z": "code"}


@pytest.mark.parametrize(
    ("metric", "short"), [("ttft_p50", "code"), ("hit_rate", "code"), ("e2e_p50", ""), ("ttft_p99", "")]
)
def test_a_remark_on_rows_that_are_not_shown_is_left_out(metric, short):
    """The short table has the gated rows and the hit rate."""
    row = replace(change(metric), caveats=("few-values",))
    assert shorts([REMARK], [row, change("ttft_p50")]) == {"few-values": short}


def test_too_many_hits_are_told_once():
    """Where they are why a run is set aside, the witnesses' contradiction repeats it; a fact of its own stays."""
    on, _ = scenes.laptop()
    told = replace(on, runs=tuple(with_cached(run, 3.0) for run in on.runs))
    caveats = [Caveat("cold-not-cold", "serious", "", ""), Caveat("sources-disagree", "warning", "", "")]
    assert shorts(caveats, sides=[side_of(told)]) == {"cold-not-cold": "whole", "sources-disagree": "code"}
    assert shorts(caveats, sides=[side_of(on)])["sources-disagree"] == "whole"
    assert shorts(caveats[1:], sides=[side_of(told)])["sources-disagree"] == "whole"
