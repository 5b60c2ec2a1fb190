"""What a header says of the prefix cache."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.report.mode import cache_words, origin_words
from radixbench.report.view import build_view
from tests.report import scenes


def runs(mode, *, verified=True, off_mode=None, cached=True):
    """Three runs of one cell."""
    made = scenes.laptop()[0 if mode == "on" else 1].runs[3:6]
    return [
        replace(
            run,
            protocol=replace(run.protocol, verified=verified, off_mode=off_mode),
            requests=run.requests
            if cached
            else tuple(replace(one, cached_tokens=None) for one in run.requests),
        )
        for run in made
    ]


def test_what_was_proved_is_told_plainly():
    """On, and off with how it came about."""
    assert cache_words(runs("on")) == "on"
    assert cache_words(runs("off")) == "off"
    assert cache_words(runs("off", off_mode="salt")) == "off, by a salt of its own on every request"


def test_what_was_only_declared_is_unknown():
    """A server that tells nothing proves nothing."""
    assert cache_words(runs("on", verified=None, cached=False)).startswith("unknown (declared on")
    assert cache_words(runs("off", verified=None)).startswith("unknown (declared off")
    assert cache_words([]) == "unknown (no run was saved)"


def test_hits_prove_that_the_cache_was_on():
    """Whatever the probes say."""
    assert cache_words(runs("on", verified=None)) == "on"
    assert "tokens were reused in 3 of 3 runs" in cache_words(runs("off", verified=False))


@pytest.mark.parametrize(
    ("off_mode", "told"),
    [("flag", "by a server flag"), ("flush", "by a flush before every request"), (None, "")],
)
def test_the_origin_of_an_off_arm(off_mode, told):
    """By flag, salt or flush; nothing where it wasn't recorded."""
    assert origin_words(runs("off", off_mode=off_mode)) == told
    assert origin_words(runs("on")) == ""


def test_an_arm_without_runs_is_called_that():
    """It has no cache mode to go by."""
    on, off = scenes.laptop()
    view = build_view(*scenes.compared((on, replace(off, runs=()))))
    assert [arm.name for arm in view.arms] == ["A (cache on)", "B (no runs)"]
