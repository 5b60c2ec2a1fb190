"""The workload in a line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.report.workload import workload_words
from radixbench.scenario.model import GridSpec, LoadSpec, WorkloadSpec
from tests.report import scenes
from tests.report.evidence import CORPUS


def words(workload=None, load=None, grid=None, corpus=None):
    """A capture's line with these parts of its scenario."""
    on, _ = scenes.laptop()
    scenario = replace(
        on.scenario,
        workload=workload or WorkloadSpec(question_len=32, output_len=16),
        load=load or LoadSpec(max_concurrency=8),
        grid=grid or GridSpec(),
    )
    return workload_words(replace(on, scenario=scenario, runs=(replace(on.runs[0], corpus=corpus),)))


def test_a_closed_loop_names_its_concurrency():
    """Groups, lengths, and how requests follow each other."""
    assert (
        words()
        == "shared-prefix, 4 groups × 16 prompts, question 32, answer 16, closed loop at concurrency 8"
    )


def test_an_axis_is_told_with_all_its_values():
    """What varies in the sweep isn't one number."""
    told = words(grid=GridSpec(max_concurrency=(1, 4, 16), output_len=(8, 64)))
    assert "answer 8 and 64" in told
    assert "closed loop at concurrency 1, 4 and 16" in told


@pytest.mark.parametrize(
    ("load", "told"),
    [
        (LoadSpec("poisson", request_rate=12.5), "open loop, Poisson arrivals at 12.5/s"),
        (LoadSpec("constant", request_rate=20.0), "open loop, evenly spaced arrivals at 20/s"),
        (
            LoadSpec("gamma", 64, 3.0, 0.5),
            "open loop, gamma arrivals of shape 0.5 at 3/s, at most 64 at once",
        ),
        (LoadSpec("trace", speed=10.0), "open loop at the trace's own times, 10 times as fast"),
        (
            LoadSpec("trace", num_prompts=1000, duration_s=90.0),
            "1,000 started at most, started for 90.0 s at most",
        ),
    ],
)
def test_an_open_loop_names_process_rate_and_bounds(load, told):
    """Rate, arrival process, speed, cap and bounds."""
    assert told in words(load=load)


def test_recorded_traffic_is_called_by_its_file():
    """The corpus where it is known, else what was asked for."""
    spec = WorkloadSpec(kind="conversations", file="dir/chats.json", limit=500, history="recorded")
    assert words(spec, corpus=CORPUS).startswith(
        "conversations, chats.json, at most 500 items, recorded history"
    )
    assert words(spec).startswith("conversations, chats.json")


def test_turns_name_conversations_and_think_time():
    """What is a prompt elsewhere is a conversation here."""
    spec = WorkloadSpec(kind="multi-turn", turns=(1, 4), think_time_s=2.0, distribution="zipf")
    told = words(spec)
    assert "1 and 4 turns, 4 groups × 16 conversations, Zipf 1, live history, 2.00 s between turns" in told
