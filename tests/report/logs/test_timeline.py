"""Panels on one time axis."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.report.logs.timeline import MAX_BARS, timeline
from tests.report.logs import summaries


def panels(name: str):
    """The panels of a made-up log by key."""
    return {panel.key: panel for panel in timeline(summaries.ALL[name]()).panels}


def test_a_busy_server_shows_all_there_is():
    """Tokens, hit rate, load, pools, output and events."""
    assert list(panels("sglang")) == ["tokens", "hit-rate", "load", "pools", "output", "events"]


@pytest.mark.parametrize("name", ["sglang", "vllm", "unknown"])
def test_panels_share_one_axis_and_say_what_they_show(name):
    """The same domain, ticks and inset; a summary in words."""
    found = list(panels(name).values())
    assert len({(p.x_domain, p.x_ticks, p.inset) for p in found}) == 1
    assert all(panel.summary.endswith(".") and panel.rows for panel in found)


def test_stacked_bars_hold_every_token():
    """New below, cached on top; together the log's own sums."""
    rows = panels("sglang")["tokens"].rows
    sums = {name: sum(r["y2"] - r["y"] for r in rows if r["series"] == name) for name in ("new", "cached")}
    assert sums == {"new": 148_425, "cached": 127_500}


def test_the_rate_so_far_ends_at_the_log_s_own():
    """It can be followed to the figure on top of the page."""
    log = summaries.sglang()
    last = [row for row in panels("sglang")["hit-rate"].rows if row["series"] == "so far"][-1]
    assert last["y"] == pytest.approx(100 * log.prefill.hit_rate, abs=1e-4)


def test_a_line_has_gaps_where_nothing_is_known():
    """No value, and no window at all, both end a run; its last step is drawn to its end."""
    rows = panels("unknown")["output"].rows
    assert [(row["t"], row["run"]) for row in rows] == [
        (10.0, "output 0"),
        (20.0, "output 0"),
        (30.0, "output 0"),
        (70.0, "output 1"),
        (80.0, "output 1"),
        (90.0, "output 1"),
    ]


def test_a_server_without_token_counts_shows_its_own_rate():
    """And no empty bars."""
    found = panels("vllm")
    assert "tokens" not in found
    assert found["hit-rate"].series == ("server's own window",)


def test_events_are_marks_in_every_panel_and_a_strip_of_their_own():
    """Each with its words."""
    found = panels("sglang")
    assert {row["tip"] for row in found["tokens"].marks} == {
        "2026-08-23 09:04:58: 1 ready",
        "2026-08-23 09:06:33: 2 retract",
        "2026-08-23 09:06:43: 2 retract",
        "2026-08-23 09:07:20: 1 flush",
        "2026-08-23 09:08:43: 2 retract",
    }
    assert [(row["t"], row["reason"]) for row in found["events"].rows] == [
        (0.0, "ready"),
        (93.0, "retract"),
        (103.0, "retract"),
        (140.0, "flush"),
        (223.0, "retract"),
    ]
    assert not found["events"].marks


def test_events_of_which_not_all_were_kept_are_drawn_by_window():
    """A log may hold more than anybody lists; the windows have counted them all."""
    log = summaries.sglang()
    some = tuple(event for event in log.events if event.line_no != 8101)
    rows = timeline(replace(log, events=some)).panels[-1].rows
    assert [(row["t"], row["tip"]) for row in rows if row["reason"] == "retract"] == [
        (90.0, "2026-08-23 09:06:30: 2 retract"),
        (100.0, "2026-08-23 09:06:40: 2 retract"),
        (220.0, "2026-08-23 09:08:40: 2 retract"),
    ]


def test_a_long_log_is_added_up_and_says_so():
    """The drawing does not grow with the log, and holds all of its tokens."""
    log = summaries.sglang()
    first = log.windows[0]
    many = tuple(replace(first, start_s=first.start_s + 10.0 * i, cached_tokens=1) for i in range(12_345))
    figure = timeline(replace(log, windows=many))
    tokens = figure.panels[0]
    assert len(tokens.rows) <= 2 * MAX_BARS
    assert sum(row["y2"] - row["y"] for row in tokens.rows if row["series"] == "cached") == 12_345
    assert figure.notes == ("Each bar or step covers 10 min of the log: up to 60 windows of 10 s each.",)


def test_keys_begin_with_the_anchor():
    """Two logs on one page share no key."""
    assert {panel.key for panel in timeline(summaries.sglang(), "log-2-").panels} >= {"log-2-tokens"}


def test_a_lone_window_is_a_point():
    """A step of a second in a log of an hour would not be seen; what can be seen gets no point."""
    log = summaries.sglang()
    far = replace(log.windows[1], start_s=log.windows[0].start_s + 3600.0)
    figure = timeline(replace(log, windows=(log.windows[0], far)))
    load = next(panel for panel in figure.panels if panel.key == "load")
    assert [row["t"] for row in load.rows if row.get("lone")] == [0.0, 3600.0, 0.0, 3600.0]
    assert not [row for row in panels("sglang")["load"].rows if row.get("lone")]


def test_the_rate_so_far_lasts_where_nothing_is_printed():
    """It stays what it was; a window's own rate doesn't."""
    log = summaries.sglang()
    far = replace(log.windows[1], start_s=log.windows[0].start_s + 3600.0)
    figure = timeline(replace(log, windows=(log.windows[0], far)))
    rows = next(panel for panel in figure.panels if panel.key == "hit-rate").rows
    runs = {
        name: len({row["run"] for row in rows if row["series"] == name})
        for name in ("in the window", "so far")
    }
    assert runs == {"in the window": 2, "so far": 1}


def test_only_what_is_drawn_is_explained():
    """No word about bars where there are none, or about events in a log without any."""
    assert "A bar holds" in timeline(summaries.sglang()).how_to_read[0]
    vllm = timeline(summaries.vllm())
    assert [words.split(" that ")[0] for words in vllm.how_to_read] == [
        "The hit rate is the one",
        "A hit rate",
    ]
    assert vllm.panels[0].title == "Hit rate in the server's own window, as it prints it, %"
    assert vllm.notes == ("Each step covers 10 s of the log.",)


def test_the_first_panel_s_legend_names_the_upright_lines():
    """Once is enough; without events there is nothing to name."""
    assert [panel.marks_word for panel in timeline(summaries.sglang()).panels] == [
        "event",
        "",
        "",
        "",
        "",
        "",
    ]
    assert not any(panel.marks_word for panel in timeline(summaries.vllm()).panels)
