"""Page rounding makes a hit rate a lower bound, where the numbers say so."""

from __future__ import annotations

import pytest

from radixbench.metrics.log_summary.pages import PageSigns
from radixbench.metrics.log_summary.version import NEWEST, OLDEST, Span
from tests.metrics.log_summary.records import arguments, codes, decode, event, note, prefill, step, summarise

ANY = Span(OLDEST, NEWEST)


def test_fault_85_new_tokens_rounded_up_to_pages() -> None:
    """10,048 cached and 64 new tokens, all whole pages of 64: at least 99.3 %, and the note names the page and that it is a guess."""
    summary = summarise([prefill(64, 10_048)])
    assert summary.prefill.hit_rate == pytest.approx(0.99367, abs=1e-5)
    assert summary.prefill.hit_rate_bound == "lower"
    told = note(summary, "page-rounding")
    assert "seems to be 64" in told
    assert "at least 99.3 %" in told
    assert "at most 99.99 %" in told
    assert summary.prefill.hit_rate_upper == pytest.approx(10_048 / 10_049)


def test_a_stated_page_size_is_no_guess() -> None:
    """With page_size in the arguments the note states it."""
    summary = summarise([arguments(page_size=64), prefill(64, 10_048)])
    assert "pages of 64 tokens" in note(summary, "page-rounding")
    assert "seems" not in note(summary, "page-rounding")


def test_new_tokens_that_are_no_pages_are_exact() -> None:
    """Cached tokens in pages of 64 but 70 new ones: printed as they are, so the rate is exact."""
    for first in ([], [arguments(page_size=64)]):
        summary = summarise([*first, prefill(70, 640), prefill(64, 128, at=1)])
        assert summary.prefill.hit_rate_bound is None
        assert "page-rounding" not in codes(summary)


def test_versions_before_and_after_do_not_round() -> None:
    """A cumulative rate (up to 0.4.3), replay tokens (from 0.5.21) or a stated version tell that nothing is rounded."""
    old = summarise([prefill(64, 640, cache_hit_rate_pct=90.91)])
    new = summarise([prefill(64, 640, pending_token=0, input_throughput=1.0, extra={"#replay-token": 3})])
    stated = summarise([arguments(page_size=64, version="0.5.22"), prefill(64, 640)])
    for summary in (old, new, stated):
        assert summary.prefill.hit_rate_bound is None


def test_the_line_of_the_tree_tells_a_version() -> None:
    """Since 0.5.22 it ends with ``hicache_attached``; with ``streaming_wrapped`` too, or cut, it may be older."""
    lines = [prefill(64, 640)]
    later = event("tree_cache", extra={"impl": "RadixCache", "hicache_attached": False})
    older = event("tree_cache", extra={"hicache_attached": False, "streaming_wrapped": False})
    cut = later._replace(values={**later.values, "truncated": True})
    assert summarise([later, *lines]).prefill.hit_rate_bound is None
    for one in (older, cut):
        assert summarise([one, *lines]).prefill.hit_rate_bound == "lower"


def test_tokens_in_use_make_a_page_size_doubtful() -> None:
    """Prompts of round lengths look like pages; with other numbers of tokens in use the bound stays, for it is never false, but says so."""
    log = [prefill(1152), prefill(128, 1024, at=1), decode(at=2, token=1283)]
    summary = summarise(log)
    assert summary.prefill.hit_rate_bound == "lower"
    assert "tokens in use are not" in note(summary, "page-rounding")
    assert "in use" not in note(summarise(log[:2]), "page-rounding")


def test_only_a_bound_has_an_upper_end() -> None:
    """An exact rate has none."""
    assert summarise([prefill(70, 640)]).prefill.hit_rate_upper is None


def test_nothing_cached_has_no_bound() -> None:
    """A hit rate of 0 is 0 however new tokens are rounded."""
    assert (
        summarise([arguments(page_size=64), prefill(64), prefill(128, at=1)]).prefill.hit_rate_bound is None
    )


def test_our_own_lines_are_exact() -> None:
    """radixbench never rounds, whatever its counts look like."""
    summary = summarise([step(0, 0, 10, new_seq=1, new_tokens=64, cached_tokens=640)])
    assert (summary.dialect, summary.prefill.hit_rate_bound) == ("radixbench", None)


def test_a_page_is_a_usual_size() -> None:
    """Of a common divisor of 96 or 1024 the page is a power of two, at most 256; below 16 there is none."""
    for divisor, page in ((96, 32), (1024, 256), (24, 1), (7, 1)):
        signs = PageSigns()
        signs.cached = divisor
        assert signs.page_size() == page
    signs = PageSigns()
    signs.cached, signs.new = 64, 32
    rounding = signs.rounding(None, ANY)
    assert rounding is not None
    assert rounding.page_size == 32
