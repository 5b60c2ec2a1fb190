"""The page of logs: one file, nothing from outside, nothing from a log that escapes its place."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest

from radixbench.report.logs.html import MAX_ROWS, render
from radixbench.report.logs.timeline import timeline
from tests.report.hostile import HOSTILE
from tests.report.logs import summaries
from tests.report.test_html import NAMESPACES, elements, specs

PAGES = (
    ("sglang",),
    ("vllm",),
    ("llamacpp",),
    ("unknown",),
    ("sglang", "vllm", "unknown"),
    ("sglang", "sglang"),
)


@cache
def page(*names: str) -> str:
    """A page of made-up logs, rendered once."""
    return render([summaries.ALL[name]() for name in names])


@pytest.mark.parametrize("names", PAGES, ids="-".join)
def test_the_page_is_small_and_refers_to_nothing_outside(names):
    """The only addresses are names of schemas, and no element loads anything."""
    html = page(*names)
    assert len(html.encode()) < 1_000_000
    for address in re.findall(r"https?://[^\s\"'<>)\\]+", html):
        assert address.startswith(NAMESPACES), address
    for tag, attributes in elements(html):
        assert tag not in {"link", "img", "iframe", "object", "embed"}
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
    assert "default-src 'none'" in html


@pytest.mark.parametrize("names", PAGES, ids="-".join)
def test_every_figure_is_drawn_without_scripts_and_has_its_live_chart(names):
    """Each panel is an SVG with a key of its own."""
    html = page(*names)
    drawn = [a["data-panel"] for tag, a in elements(html) if tag == "div" and a.get("class") == "plot"]
    several = len(names) > 1
    keys = [
        panel.key
        for place, name in enumerate(names, 1)
        for panel in timeline(summaries.ALL[name](), f"log-{place}-" if several else "").panels
    ]
    assert drawn == keys
    assert html.count("<svg ") == len(keys)
    assert not keys or sorted(specs(html)) == sorted(keys)


@pytest.mark.parametrize("names", PAGES, ids="-".join)
def test_ids_are_unique_and_links_lead_somewhere(names):
    """Several logs share a page and no anchor."""
    found = elements(page(*names))
    ids = [a["id"] for _, a in found if "id" in a]
    assert len(ids) == len(set(ids))
    assert {str(a["href"]).removeprefix("#") for tag, a in found if tag == "a"} <= set(ids)
    labels = {str(a["aria-labelledby"]) for _, a in found if "aria-labelledby" in a}
    assert labels <= set(ids)


@pytest.mark.parametrize("names", PAGES, ids="-".join)
def test_headings_and_tables_are_labelled(names):
    """One h1, headings without a gap, header cells with a scope."""
    found = elements(page(*names))
    levels = [int(tag[1]) for tag, _ in found if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(a.get("scope") for tag, a in found if tag == "th")
    assert all(a.get("aria-label") for _, a in found if a.get("role") == "img" and "data-panel" in a)


def test_equal_logs_give_equal_bytes():
    """Nothing of the moment or the process gets into the page."""
    assert render([summaries.sglang()]) == page("sglang")


def test_what_a_log_says_stays_text():
    """Names, events, settings and notes that speak HTML or a template language are shown, not obeyed."""
    log = summaries.sglang()
    hostile = replace(
        log,
        file=f"/x/{HOSTILE}",
        dialect=HOSTILE,
        server={HOSTILE: HOSTILE},
        events=(replace(log.events[0], name=HOSTILE, text=HOSTILE, label=HOSTILE),),
        notes=(replace(log.notes[0], code=HOSTILE, text=HOSTILE),),
        ranks=(replace(log.ranks[0], rank=HOSTILE), *log.ranks),
        windows=tuple(
            replace(w, label=HOSTILE, pools={HOSTILE: 0.5}, events={HOSTILE: 1}) for w in log.windows
        ),
    )
    for html in (render([hostile]), render([hostile, log])):
        tags = [tag for tag, _ in elements(html)]
        assert tags.count("script") == 4
        assert "img" not in tags
        assert "alert(1)</script>" not in html
        assert "{{ 7*7 }}" in html
        assert specs(html)


def test_a_page_without_figures_carries_no_drawing_library():
    """A log without times is text."""
    assert len(page("llamacpp")) < 60_000


def test_a_long_log_makes_no_long_page():
    """Windows are added up in the table below the timeline, too, and their sums stay."""
    log = summaries.sglang()
    many = tuple(
        replace(log.windows[0], start_s=log.windows[0].start_s + 10.0 * i, cached_tokens=1)
        for i in range(12_345)
    )
    html = render([replace(log, windows=many)])
    assert len(html.encode()) < 1_500_000
    assert html.count("<tr>") < MAX_ROWS + 100
    assert '<td class="num">111,105,000</td><td class="num">12,345</td>' in html


def test_the_page_says_what_the_terminal_says():
    """Figure, equation, lower bound, notes with anchors."""
    html = page("sglang")
    assert "≥ 46.2 %" in html
    assert "127,500 cached / (127,500 cached + 148,425 new)" in html
    assert 'href="#note-1">page-rounding</a>' in html
    assert "New tokens are rounded up to pages of 64" in html
    assert "New tokens by cause" in html
