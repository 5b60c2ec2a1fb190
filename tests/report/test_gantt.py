"""The Gantt chart of requests."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from radixbench.records import RequestRecord
from radixbench.report import charts
from radixbench.report.gantt import MAX_LANES, MAX_REQUESTS, gantt_figure, most_in_flight, shown
from radixbench.report.reused import MOSTLY, NOTHING, PARTLY, UNKNOWN, reused
from tests.report import scenes
from tests.report.evidence import side_of

SPANS = st.lists(st.tuples(st.integers(0, 1000), st.integers(1, 200)), min_size=1, max_size=300)


def request(number: int, due: int, length: int, **more) -> RequestRecord:
    """A request of one token that arrives at its end."""
    facts = {
        "rid": f"r{number}",
        "prompt": number,
        "conversation": number,
        "turn": 0,
        "group": 0,
        "requested_tokens": 1,
        "sent_prompt_tokens": 10,
        "due_ns": due,
        "send_ns": due,
        "end_ns": due + length,
        "status": "completed",
        "chunk_ns": (due + length,),
        "chunk_tokens": (1,),
        "prompt_tokens": 10,
        "output_tokens": 1,
    }
    return RequestRecord(**(facts | more))


def sides(change=lambda run: run):
    """Both arms of the default sweep, each run changed."""
    on, off = (replace(one, runs=tuple(map(change, one.runs))) for one in scenes.laptop())
    return side_of(on), side_of(off, slot="b", name="B (cache off)")


@given(SPANS)
def test_no_two_requests_of_a_lane_overlap(spans):
    """A lane is free before it is taken again, and no lane is opened needlessly."""
    drawn = shown([request(i, due, length) for i, (due, length) in enumerate(spans)])
    by_lane: dict[int, list[RequestRecord]] = {}
    for one, lane in drawn.requests:
        by_lane.setdefault(lane, []).append(one)
    for lane in by_lane.values():
        for before, after in pairwise(lane):
            assert before.end_ns <= after.due_ns
    assert drawn.lanes == most_in_flight([one for one, _ in drawn.requests])


@given(SPANS)
def test_the_most_in_flight_is_that_of_every_moment(spans):
    """Held against counting at each start."""
    requests = [request(i, due, length) for i, (due, length) in enumerate(spans)]
    slow = max(sum(o.due_ns <= one.due_ns < o.end_ns for o in requests) for one in requests)
    assert most_in_flight(requests) == slow


def test_both_arms_show_the_same_cell_and_seed():
    """The cell with the most reuse, and the note says which."""
    figure = gantt_figure(sides())
    assert [panel.key for panel in figure.panels] == ["gantt-a", "gantt-b"]
    assert figure.notes[0].startswith("Shown is seed ")
    assert "at 4,096 shared tokens" in figure.notes[0]
    assert [len(panel.rows) for panel in figure.panels] == [64, 64]


def test_parts_follow_each_other_in_time():
    """Due, sent, first token, last token."""
    for panel in gantt_figure(sides()).panels:
        assert all(row["t"] <= row["send"] <= row["first"] <= row["end"] for row in panel.rows)


def test_what_was_cached_is_told_in_a_word():
    """Half of the prompt or more, less, none, unknown."""
    words = [reused(request(0, 0, 1, cached_tokens=n)) for n in (5, 4, 0, None)]
    assert words == [MOSTLY, PARTLY, NOTHING, UNKNOWN]


def test_failures_are_marked_and_counted():
    """A cross in the picture, a number in the table and in the summary."""

    def broken(run):
        first, *rest = run.requests
        gone = replace(first, status="failed", error="<reset> by peer", chunk_ns=(), chunk_tokens=())
        return replace(run, requests=(gone, *rest))

    figure = gantt_figure(sides(broken))
    panel = figure.panels[0]
    assert panel.summary.endswith("; 1 failed.")
    assert "✕" in charts.svg(panel)
    assert any("failed: <reset> by peer" in str(row["tip"]) for row in panel.rows)
    assert figure.grid is not None
    place = figure.grid.header.index("failed")
    assert {row[place] for row in figure.grid.rows} == {"1"}


def test_waiting_to_be_sent_is_drawn():
    """An open loop that was late: a dotted line, and the longest wait in the table."""
    delay = 50 * scenes.MS

    def late(run):
        return replace(run, requests=tuple(replace(o, due_ns=o.due_ns - delay) for o in run.requests))

    figure = gantt_figure(sides(late))
    assert any(layer["mark"]["type"] == "rule" for layer in charts.spec(figure.panels[0])["layer"])
    assert figure.grid is not None
    assert {row[-1] for row in figure.grid.rows} == {"50.0 ms"}
    assert "waited 50.0 ms to be sent" in str(figure.panels[0].rows[0]["tip"])


def test_a_long_run_is_drawn_from_its_beginning():
    """So many requests, and the note says of how many."""
    on, _ = scenes.laptop()
    requests = tuple(request(i, i * scenes.MS, scenes.MS) for i in range(1000))
    figure = gantt_figure([side_of(replace(on, runs=(replace(on.runs[0], requests=requests),)))])
    assert len(figure.panels[0].rows) == MAX_REQUESTS
    assert f"the first {MAX_REQUESTS} of 1,000 requests are drawn" in figure.notes[1]


def test_a_crowd_is_drawn_as_far_as_lanes_reach():
    """A thousand requests at once take no more lanes than are legible."""
    drawn = shown([request(i, 0, 5) for i in range(1000)])
    assert drawn.lanes == len(drawn.requests) == MAX_LANES
    assert drawn.of == 1000


def test_requests_on_a_card_that_was_held_back_are_told():
    """In the tip of each, and how many of those drawn in a note; of a card that ran free nothing is said."""
    on, off = scenes.throttled()
    figure = gantt_figure((side_of(on), side_of(off, slot="b", name="B (cache off)")))
    free, held = figure.panels
    assert not any("held back" in str(row["tip"]) for row in free.rows)
    assert any("the card was held back for " in str(row["tip"]) for row in held.rows)
    (note,) = [note for note in figure.notes if "held back" in note]
    assert note.startswith("B (cache off): the card was held back while ")


def test_no_requests_are_said():
    """A capture whose runs ended before the first."""
    figure = gantt_figure(sides(lambda run: replace(run, requests=())))
    assert figure.absent == "No request was recorded."
