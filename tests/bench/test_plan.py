"""A plan says exactly what will be asked, and admits what it doesn't know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from radixbench.bench import layout
from radixbench.bench.plan import SweepPlan, plan
from radixbench.bench.sizes import sizes_at
from radixbench.errors import CorpusError, ScenarioError
from radixbench.scenario.kinds import FILE_KINDS, READS
from radixbench.scenario.load import load, override
from radixbench.scenario.model import Scenario, WorkloadKind
from radixbench.scenario.resolve import at_cell, cells, longest_request, resolve

BASE = Scenario(name="base")
SMALL: dict[str, Any] = {"shared": "0,24", "groups": "2", "prompts_per_group": 3, "device": "cpu"}
MADE: tuple[WorkloadKind, ...] = tuple(kind for kind in READS if kind not in FILE_KINDS)


def small(kind: WorkloadKind, **flags: Any) -> SweepPlan:
    """The plan of a small scenario of one kind."""
    shared = {} if kind == "unique" else {"shared": SMALL["shared"]}
    return plan(override(BASE, workload=kind, **{**SMALL, "shared": None, **shared, **flags}))


@pytest.mark.parametrize("kind", MADE)
def test_the_longest_request_is_that_of_the_workload(kind: WorkloadKind) -> None:
    """The bound computed from sizes alone is met by the prompts themselves, in every kind."""
    flags: dict[str, Any] = {"question_len": "5,9", "output_len": "3"}
    scenario = resolve(override(BASE, workload=kind, groups="2", prompts_per_group=9, **flags), on_cpu=True)
    laid = layout.lay_out(scenario, vocab_size=8192)
    assert laid.longest == longest_request(scenario)
    assert laid.notes == ()


@pytest.mark.parametrize("kind", MADE)
def test_sizes_are_the_cells(kind: WorkloadKind) -> None:
    """What the kind reads arrives in its sizes, with the cell's own values."""
    scenario = resolve(override(BASE, workload=kind, groups="2,3"), on_cpu=True)
    for cell in cells(scenario):
        sizes = sizes_at(at_cell(scenario, cell), cell)
        assert (sizes.shared, sizes.groups) == (cell["shared_tokens"], cell["groups"])
        assert sizes.turns == cell.get("turns")
        for key in READS[kind] - {"shared", "turns", "groups", "same_prefix"}:
            assert getattr(sizes, key) == getattr(scenario.workload, key), key


def test_counts_of_a_shared_prefix() -> None:
    """Each prompt once; with the cache on, prefixes once a group and questions always."""
    planned = small("shared-prefix", question_len="8", output_len="2")
    assert [cell.prompt_tokens for cell in planned.cells] == [6 * 8, 6 * 32]
    assert [cell.computed_on for cell in planned.cells] == [6 * 8, 2 * 24 + 6 * 8]
    assert [cell.computed_off for cell in planned.cells] == [6 * 8, 6 * 32]
    assert planned.runs == 2 * 3 * 2
    assert json.loads(json.dumps(planned.to_document()))["schema"] == "radixbench.plan/1"


def test_pages_round_what_is_reused() -> None:
    """24 shared tokens are one page of 16, and none of 32."""
    planned = small("shared-prefix", shared="24", page_size="1,16,32", question_len="8")
    assert [cell.computed_on for cell in planned.cells] == [96, 2 * 32 + 4 * 16, 192]


@pytest.mark.parametrize(("state", "computed"), [("cold", 96), ("primed", 48), ("warm", 6)])
def test_the_cache_state_counts(state: str, computed: int) -> None:
    """Primed leaves the questions to compute, warm one token of each prompt."""
    planned = small("shared-prefix", shared="24", cache_state=state, question_len="8")
    assert planned.cells[0].computed_on == computed


def test_bounds_of_the_load_count() -> None:
    """Conversations beyond the bounds are never started, and so aren't planned."""
    assert small("shared-prefix", num_prompts=4).cells[0].requests == 4
    timed = small("shared-prefix", arrival="poisson", request_rate="2", duration="1s")
    assert timed.cells[0].requests == 2
    slow = small("shared-prefix", arrival="constant", request_rate="0.01").cells[0]
    assert slow.seconds_on is not None
    assert slow.seconds_on > 500


def test_scrambled_documents_are_reused_less() -> None:
    """The two orders take the same documents: the same prompt tokens, more of them computed."""
    ordered, scrambled = (
        plan(override(load(name), device="cpu")).cells[0] for name in ("rag", "rag-scrambled")
    )
    assert ordered.prompt_tokens == scrambled.prompt_tokens
    assert ordered.computed_on is not None
    assert scrambled.computed_on is not None
    assert ordered.computed_on < scrambled.computed_on


def test_a_pool_that_is_too_small_for_everything_is_said() -> None:
    """The counts are an unlimited cache's; where the pool is smaller the plan says what that means."""
    assert any("the pool holds 16,384" in note for note in plan(override(load("zipf"), device="cpu")).notes)
    assert not small("shared-prefix").notes


def test_a_huge_cell_is_not_laid_out() -> None:
    """What would fill the memory has unknown counts and says so."""
    planned = small("shared-prefix", shared="0,10000000")
    assert planned.cells[0].requests == 6
    assert planned.cells[1].requests is None
    assert planned.seconds is None
    assert any("isn't laid out" in note for note in planned.notes)


def test_a_trace_is_read(tmp_path: Path) -> None:
    """Counts come from the file; a file that isn't there is named."""
    path = tmp_path / "trace.jsonl"
    rows = [
        {"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]},
        {"timestamp": 2000, "input_length": 700, "output_length": 7, "hash_ids": [1, 3]},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    planned = plan(override(BASE, workload="trace", file=str(path), arrival="trace", device="cpu"))
    (cell,) = planned.cells
    assert (cell.cell, cell.requests, cell.prompt_tokens, cell.computed_on) == ({}, 2, 1300, 1300 - 512)
    assert (planned.longest_request, planned.question_len) == (707, None)
    with pytest.raises(CorpusError, match=r"nowhere\.jsonl"):
        plan(override(BASE, workload="trace", file=str(tmp_path / "nowhere.jsonl"), device="cpu"))


@pytest.mark.parametrize("history", ["recorded", "live", "retokenized"])
def test_chats_are_read(tmp_path: Path, history: str) -> None:
    """One request for each recorded answer, all but the newest turn cached; other histories are told to be approximate."""
    path = tmp_path / "chats.json"
    said = [("human", "hello there"), ("gpt", "hi"), ("human", "how are you"), ("gpt", "well")]
    chat = {"id": "a", "conversations": [{"from": who, "value": text} for who, text in said]}
    path.write_text(json.dumps([chat]))
    planned = plan(
        override(
            BASE, workload="conversations", file=str(path), history=history, output_len="4", device="cpu"
        )
    )
    (cell,) = planned.cells
    assert (cell.requests, cell.output_tokens) == (2, 8)
    assert cell.prompt_tokens is not None
    assert cell.computed_on is not None
    assert 0 < cell.computed_on < cell.prompt_tokens
    assert bool(planned.notes) == (history != "recorded")


def test_what_isnt_here_is_not_fetched() -> None:
    """A hub dataset and a tokenizer that isn't here are unknown; nothing is downloaded for a plan."""
    hub = plan(override(BASE, workload="conversations", dataset="nobody/nothing", device="cpu"))
    assert hub.cells[0].requests is None
    assert any("isn't fetched" in note for note in hub.notes)


def test_a_server_that_runs_already() -> None:
    """Its tokens are planned as any; its time and memory nobody knows."""
    planned = small("shared-prefix", base_url="http://127.0.0.1:9", off_mode="salt")
    assert planned.cells[1].computed_on is not None
    assert (planned.seconds, planned.weight_bytes, planned.pool_bytes) == (None, None, None)
    assert "isn't started from here" in planned.notes[0]


def test_a_scenario_that_lacks_something_has_no_plan() -> None:
    """The gap is named as when it runs."""
    with pytest.raises(ScenarioError, match="--file: the trace workload replays a file"):
        plan(load("mooncake"))


def test_what_the_context_cannot_hold_is_said() -> None:
    """A plan that would be refused once the server is up says so beforehand."""
    notes = plan(override(BASE, shared="20000", groups="1", prompts_per_group=1, device="cpu")).notes
    assert any("the context of tiny holds 16,384: the sweep won't start" in note for note in notes)


def test_cells_that_share_alike_are_counted_alike() -> None:
    """How many are in flight and how they are served changes nothing of what could be reused; the page does."""
    axes = {"max_concurrency": "1,2", "schedule_policy": "fcfs,lpm", "page_size": "1,16", "output_len": "4"}
    planned = small("shared-prefix", **axes)
    assert len(planned.cells) == 16
    for page in (1, 16):
        counts = {
            (cell.cell["shared_tokens"], cell.prompt_tokens, cell.computed_on)
            for cell in planned.cells
            if cell.cell["page_size"] == page
        }
        assert len(counts) == 2


def test_recorded_requests_that_cannot_fit_are_counted_apart(tmp_path: Path) -> None:
    """A plan counts what will be asked, and says what will be left out."""
    path = tmp_path / "trace.jsonl"
    rows = [
        {"timestamp": 0, "input_length": 512, "output_length": 2, "hash_ids": [1]},
        {"timestamp": 9, "input_length": 512 * 40, "output_length": 2, "hash_ids": list(range(2, 42))},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    planned = plan(override(BASE, workload="trace", file=str(path), device="cpu"))
    assert [cell.requests for cell in planned.cells] == [1]
    assert planned.longest_request == 514
    assert "left out: 1 x longer than the server's context or pool" in planned.notes
