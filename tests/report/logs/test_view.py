"""The view of each made-up log, held against a golden copy, and what holds for all of them.

After a wanted change, ``UPDATE_GOLDEN=1 pytest tests/report/logs/test_view.py`` writes the copies anew;
their difference is for a reader to judge.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from radixbench.metrics.log_summary.model import (
    DecodeFigures,
    LogSummary,
    PrefillFigures,
    Pressure,
    RequestFigures,
    Selected,
    Throughput,
)
from radixbench.report.logs.timeline import timeline
from radixbench.report.logs.view import BRIEF_WINDOWS, build_log_view
from tests.report.logs import summaries
from tests.report.logs.views import NAMES, view

GOLDEN = Path(__file__).parent / "golden"


def outline(name: str) -> str:
    """A view and its timeline as the JSON that is compared; of the many rows of charts only the ends."""
    figure = asdict(timeline(summaries.ALL[name]()))
    for panel in figure["panels"]:
        for layer in ("rows", "marks"):
            rows = panel[layer]
            panel[layer] = {"n": len(rows), "ends": [rows[0], rows[-1]] if rows else []}
    figure["how_to_read"] = len(figure["how_to_read"])
    document = {"view": asdict(view(name)), "timeline": figure}
    return json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


@pytest.mark.parametrize("name", NAMES)
def test_a_view_is_its_golden_copy(name):
    """Every string and the ends of every chart's rows are as they were looked at."""
    path = GOLDEN / f"{name}.json"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(outline(name), encoding="utf-8")
    assert outline(name) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_keys_are_unique_and_rows_fit_their_columns(name):
    """What puts logs side by side goes by keys; a row has a value for each column."""
    for section in view(name).sections:
        assert len({fact.key for fact in section.facts}) == len(section.facts)
    for table in view(name).tables:
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert len(table.total) in {0, len(table.columns)}


def test_the_hit_rate_stands_with_the_tokens_it_is_made_of():
    """A lower bound says so and is rounded down; what request lines say stands beside it."""
    hit = view("sglang").hit
    assert hit.sentence == "hit rate ≥ 46.2 % (lower bound): 127,500 cached / (127,500 cached + 148,425 new)"
    assert hit.details[1] == "lines about 64 single requests: 60.0 % = 122,884 cached / 204,800 prompt tokens"


def test_a_bound_has_its_other_end_and_a_choice_its_reason():
    """The upper end is rounded up; of two known rates the better one is named."""
    details = view("sglang").hit.details
    assert details[0] == "lower bound: the true rate is higher, up to 50.1 %; the notes say why"
    assert (
        details[2]
        == "of the two quote 60.0 % (lines about 64 single requests): batch lines are rounded to pages"
    )


def test_new_tokens_are_parted_by_cause():
    """The parts add up to the new tokens, each with its share and its words."""
    causes = view("sglang").causes
    assert causes
    assert [(fact.title, fact.value) for fact in causes.facts] == [
        ("empty cache", "8,425 (5.7 %)"),
        ("behind the hit", "40,000 (26.9 %)"),
        ("untold", "100,000 (67.4 %)"),
    ]
    assert view("vllm").causes is None


def test_where_the_time_went_stands_below_the_phases():
    """Each kind of phase with its share of all time; what took none isn't named."""
    phases = view("sglang").phases
    assert phases
    assert phases.notes == ("In all: start-up 45 s (14.8 %), busy 4 min 20 s (85.2 %).",)


def test_lines_are_left_out_for_a_reason():
    """Counted by reason; how long a gap counts as idle stands beside the busy time."""
    facts = {fact.key: fact for section in view("sglang").sections for fact in section.facts}
    assert facts["left_out"].value == "2"
    assert facts["left_out"].note == "of the output throughput: 1 first of a rank, 1 after an idle gap"
    assert facts["busy_s"].note == "gaps of more than 12 s with nothing at work are idle"


def test_a_part_of_a_log_says_so():
    """In the user's words; lines are counted of all that the log has, and the time is the part's."""
    selected = Selected("09:06", None, ("DP0", "DP1"), {"prefill": 17, "other": 2})
    shown = build_log_view(replace(summaries.sglang(), selected=selected), brief=True)
    assert shown.head == (
        "logs/prod/server.log: SGLang; 12,210 lines: 181 prefill, 104 decode, 3 malformed, 11,922 other"
    )
    assert shown.part == (
        "selected from 09:06, ranks DP0, DP1: 17 of 181 prefill lines, 0 of 104 decode lines, 2 of 8 events; "
        "2026-08-23 09:05:00 to 09:09:20, 4 min 20 s"
    )
    assert {fact.key: fact.value for fact in shown.about.facts}["selected"].startswith("from 09:06, ranks")
    assert shown.events
    assert shown.events.notes == ("In all: ready, 6 retract, flush; the first and last are shown.",)
    until = replace(selected, since=None, until="09:06", ranks=())
    assert build_log_view(replace(summaries.sglang(), selected=until)).part.startswith(
        "selected until 09:06: "
    )
    assert view("sglang").part == ""


def test_reading_that_was_interrupted_says_so():
    """The summary is of what was read until then."""
    shown = build_log_view(replace(summaries.sglang(), interrupted=True))
    assert shown.head.endswith("11,922 other; reading was interrupted here")
    assert shown.about.notes == ("Reading was interrupted here.",)


def test_an_unknown_hit_rate_is_never_0():
    """The reason takes the figure's place, and the server's own window stays apart."""
    assert view("unknown").hit.sentence == "hit rate unknown"
    assert view("unknown").hit.details == ("no prefill lines",)
    hit = view("vllm").hit
    own = "the server's own prefix cache hit rate over the last 1000 requests: 79.4 %"
    assert hit.sentence == f"hit rate: the log doesn't print it; {own}"
    assert hit.details[1].startswith("the server's own window, not this log's: prefix cache")
    assert "last 79.4 %" in hit.details[1]


def test_request_lines_tell_the_hit_rate_where_batch_lines_don_t():
    """And the equation is theirs; nearly all is not all."""
    hit = view("llamacpp").hit
    assert hit.sentence == "hit rate 99.997 % = 99,997 cached / 100,000 prompt tokens"
    assert hit.details == ("from lines about 12 single requests; batch lines: llama.cpp prints no batches",)


def test_a_hit_rate_over_some_requests_names_their_prompt_tokens():
    """Requests that don't tell both counts are in the prompt tokens of all, not in the equation."""
    whole = summaries.llamacpp()
    some = replace(whole, requests=replace(whole.requests, prompt_tokens=300_000))
    shown = build_log_view(some)
    both = "prompt tokens of the requests that tell both"
    assert shown.hit.sentence == f"hit rate 99.997 % = 99,997 cached / 100,000 {both}"
    facts = [fact for section in shown.sections for fact in section.facts if fact.key == "request_hit_rate"]
    assert [fact.note for fact in facts] == [f"cached / the 100,000 {both}"]


def test_the_prompts_can_be_followed():
    """Printed sequences less what isn't a new prompt."""
    facts = {fact.key: fact for section in view("sglang").sections for fact in section.facts}
    assert facts["prompts"].value == "380"
    assert (
        facts["prompts"].note
        == "= 412 printed sequences − 25 continuations of chunked prompts − 7 readmissions"
    )


def test_a_p99_of_few_values_says_so():
    """Sixty-four latencies have no ninety-ninth percentile to speak of."""
    facts = {fact.key: fact for section in view("sglang").sections for fact in section.facts}
    assert facts["ttft"].value == "48.3 ms / 1.36 s"
    assert facts["ttft"].note == "of 64 values: a p99 of so few hangs on the largest"


def test_a_brief_view_says_what_it_leaves_out():
    """Windows are added up, shorter phases and earlier events counted."""
    busy = summaries.sglang()
    later = tuple(replace(w, start_s=w.start_s + 10.0 * len(busy.windows)) for w in busy.windows)
    crowded = replace(busy, phases=busy.phases * 9, windows=busy.windows + later)
    brief, whole = build_log_view(crowded, brief=True), build_log_view(crowded)
    assert None not in {brief.windows, brief.phases, brief.events, whole.windows, whole.phases, whole.events}
    assert len(brief.windows.rows) <= BRIEF_WINDOWS < len(whole.windows.rows)
    assert brief.windows.total == whole.windows.total
    assert brief.windows.title == "Windows of 20 s (up to 2 of 10 s each), 2026-08-23"
    assert brief.phases.notes == (
        "In all: start-up 45 s (14.8 %), busy 4 min 20 s (85.2 %).",
        "15 shorter phases not shown here.",
    )
    assert [row[2] for row in brief.events.rows] == ["ready", "retract", "flush", "retract", "retract"]
    assert brief.events.notes == ("In all: ready, 6 retract, flush; the first and last are shown.",)
    assert not whole.phases.notes[1:] + whole.events.notes


def test_tokens_in_no_window_are_named():
    """A table that doesn't add up to the log says why."""
    busy = summaries.sglang()
    shown = build_log_view(replace(busy, windows=busy.windows[:-1]))
    assert shown.windows
    assert shown.windows.notes == (
        "The log in all has 148,425 new and 127,500 cached tokens: lines without a time are in no window.",
    )


def test_a_rank_that_repeats_another_is_not_counted():
    """It has a row, and the table says that it isn't in the sums."""
    ranks = view("sglang").ranks
    assert ranks
    assert [row[-1] for row in ranks.rows] == ["", "", "no"]
    assert ranks.total[1:4] == ("148,425", "127,500", "46.2 %")
    assert ranks.notes


def test_a_log_that_tells_nothing_still_makes_a_view():
    """Nothing is invented for it."""
    bare = LogSummary(
        file="x.log",
        dialect="sglang",
        lines=summaries.lines("sglang", other=3),
        first=None,
        last=None,
        span_s=None,
        role="unified",
        prefill=PrefillFigures(),
        decode=DecodeFigures(),
        requests=RequestFigures(),
        throughput=Throughput(),
        pressure=Pressure(),
    )
    shown = build_log_view(bare)
    assert shown.head == "x.log: SGLang; 3 lines: 3 other"
    assert shown.hit.details == ("no prompt tokens were counted",)
    assert (shown.sections, shown.tables, shown.settings, shown.notes) == ((), (), None, ())
    assert timeline(bare).absent
