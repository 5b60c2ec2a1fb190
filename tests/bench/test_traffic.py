"""What the runs of a sweep ask."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from radixbench.bench.identity import ServerFacts
from radixbench.bench.schedule import RunPlan, schedule
from radixbench.bench.traffic import Traffic, longest_of, only_fitting, read_corpus
from radixbench.errors import CorpusError, UsageError
from radixbench.model.tiny_tokenizer import TinyTokenizer
from radixbench.scenario.load import load
from radixbench.scenario.model import GridSpec, Scenario, WorkloadSpec
from radixbench.scenario.resolve import resolve
from radixbench.workloads.conversation import Conversation, Message, Turn, Workload

FACTS = ServerFacts("m", 8192, frozenset({7}), None, None, 1, "cpu", {})
KINDS = ("shared-prefix", "multi-turn", "few-shot", "sampling", "rag", "agent", "tree", "unique")


def scenario_of(**workload: Any) -> Scenario:
    """A resolved scenario of two seeds."""
    spec = WorkloadSpec(**workload)
    return resolve(replace(load("default"), workload=spec, seeds=2), on_cpu=True)


def firsts(workload: Workload) -> set[int]:
    """The tokens that prompts begin with."""
    ids = [talk.turns[0].user_ids or talk.turns[0].whole_ids for talk in workload.conversations]
    return {one[0] for one in ids if one is not None}


def asked(traffic: Traffic, plan: RunPlan) -> Workload:
    """A plan's workload."""
    return traffic.asked(plan, FACTS).workload


@pytest.mark.parametrize("kind", KINDS)
def test_both_arms_ask_the_same_and_no_two_cells_or_seeds_do(kind: str) -> None:
    """Equal scripts for both arms of a seed and cell; no other begins with the same token."""
    sizes = {} if kind == "unique" else {"shared": (0, 64)}
    scenario = scenario_of(kind=kind, groups=2, prompts_per_group=2, **sizes)
    traffic, seen, cells = Traffic(scenario, None), set(), {}
    for plan in schedule(scenario):
        workload = asked(traffic, plan)
        place = (plan.cell_index, plan.seed)
        assert cells.setdefault(place, workload.digest) == workload.digest
        if plan.mode == "on":
            assert not firsts(workload) & seen
            seen |= firsts(workload)


@pytest.mark.parametrize("kind", ["shared-prefix", "unique"])
def test_two_scenarios_share_pages_only_when_asked_to(kind: str) -> None:
    """The same seed under another name is other prompts; with one prefix for all it is the same ones."""
    sizes = {} if kind == "unique" else {"shared": (16,)}
    for same in (False, True):
        here = scenario_of(kind=kind, groups=2, prompts_per_group=2, same_prefix=same, **sizes)
        plan = schedule(here)[0]
        one, other = (asked(Traffic(replace(here, name=name), None), plan) for name in ("chat", "chat-long"))
        assert (one.digest == other.digest) is same
        assert (firsts(one) == firsts(other)) is same


def test_an_axis_of_the_grid_reaches_the_workload() -> None:
    """A cell's own lengths are those of its prompts."""
    scenario = replace(
        scenario_of(shared=(0,), groups=1, prompts_per_group=1), grid=GridSpec(question_len=(8, 24))
    )
    traffic = Traffic(scenario, None)
    lengths = [
        len(asked(traffic, plan).conversations[0].turns[0].user_ids) for plan in schedule(scenario)[:4:2]
    ]
    assert lengths == [8, 24]


def test_a_cold_set_with_duplicates_is_refused() -> None:
    """Prompts too short to differ make a set that warms itself."""
    scenario = scenario_of(kind="unique", groups=1, prompts_per_group=40, question_len=1)
    few = replace(FACTS, vocab_size=10, special_token_ids=frozenset())
    with pytest.raises(UsageError, match="cold set has"):
        Traffic(scenario, None).asked(schedule(scenario)[0], few)


def chats(folder: Path) -> Path:
    """Two conversations, one of them of two turns."""
    talks = [["hi", "hello"], ["one", "two", "three " * 40, "four"]]
    names = ("human", "gpt")
    lines = [
        {
            "id": str(number),
            "conversations": [{"from": names[i % 2], "value": text} for i, text in enumerate(talk)],
        }
        for number, talk in enumerate(talks)
    ]
    path = folder / "chats.json"
    path.write_text(json.dumps(lines))
    return path


def test_recorded_chats_begin_alike_in_no_two_seeds(tmp_path: Path) -> None:
    """A file's text is the same in every run, so each seed puts tokens of its own in front."""
    scenario = scenario_of(kind="conversations", file=str(chats(tmp_path)))
    traffic = Traffic(scenario, TinyTokenizer())
    plans = [plan for plan in schedule(scenario) if plan.mode == "on"]
    zero, one = (asked(traffic, plan) for plan in plans)
    assert zero.request_count == 3
    assert len(firsts(zero)) == len(firsts(one)) == 1
    assert firsts(zero) != firsts(one)
    record = traffic.asked(plans[0], FACTS).corpus
    assert record is not None
    assert (record.format, record.items_used) == ("sharegpt", 2)


def test_messages_are_counted_as_a_chat_endpoint_renders_them(tmp_path: Path) -> None:
    """Ids of ours in front are sent with token ids alone: counted with messages they would shift every page."""
    made = scenario_of(kind="conversations", file=str(chats(tmp_path)), history="retokenized")
    lengths = {}
    for endpoint in ("completions", "chat"):
        scenario = replace(made, target=replace(made.target, endpoint=endpoint))
        render = Traffic(scenario, TinyTokenizer()).asked(schedule(scenario)[0], FACTS).render
        assert render is not None
        lengths[endpoint] = render((Message("user", "hi"),))
    assert lengths["completions"][-len(lengths["chat"]) :] == lengths["chat"]
    assert len(lengths["completions"]) > len(lengths["chat"])


def test_chats_need_a_tokenizer(tmp_path: Path) -> None:
    """Text without a tokenizer is one line with its remedy."""
    scenario = scenario_of(kind="conversations", file=str(chats(tmp_path)))
    with pytest.raises(UsageError, match="nothing is known that makes token ids"):
        Traffic(scenario, None).asked(schedule(scenario)[0], FACTS)


def test_what_is_longer_than_the_server_is_left_out_and_counted(tmp_path: Path) -> None:
    """A recorded request that no server of this size answers isn't sent; a corpus of only such is refused."""
    scenario = scenario_of(kind="conversations", file=str(chats(tmp_path)))
    fitting = Traffic(scenario, TinyTokenizer(), 60).asked(schedule(scenario)[0], FACTS)
    assert [len(talk.turns) for talk in fitting.workload.conversations] == [1]
    assert fitting.corpus is not None
    assert fitting.corpus.items_used == 1
    assert sum(fitting.corpus.dropped.values()) == 1
    with pytest.raises(UsageError, match="every recorded request is longer"):
        Traffic(scenario, TinyTokenizer(), 10).asked(schedule(scenario)[0], FACTS)


def test_a_trace_is_replayed_as_far_as_it_fits(tmp_path: Path) -> None:
    """Blocks of equal ids are equal tokens; arrival times come with it."""
    rows = [(0, 1024, [1, 2]), (300, 1536, [1, 2, 3]), (600, 600, [1, 4])]
    path = tmp_path / "trace.jsonl"
    path.write_text(
        "".join(
            json.dumps({"timestamp": at, "input_length": size, "output_length": 5, "hash_ids": ids}) + "\n"
            for at, size, ids in rows
        )
    )
    scenario = scenario_of(kind="trace", file=str(path))
    workload = asked(Traffic(scenario, None, 1100), schedule(scenario)[0])
    assert [talk.due_s for talk in workload.conversations] == [0.0, 0.6]
    long, short = (talk.turns[0].whole_ids for talk in workload.conversations)
    assert long is not None
    assert short is not None
    assert list(long[:512]) == list(short[:512])
    assert long[512] != short[512]


def test_a_file_that_is_none_is_refused_before_anything_starts(tmp_path: Path) -> None:
    """Reading comes first, so that a wrong path costs no server start."""
    with pytest.raises(CorpusError):
        read_corpus(WorkloadSpec(kind="trace", file=str(tmp_path / "nowhere.jsonl")))
    assert read_corpus(WorkloadSpec()) is None


def test_conversations_that_fit_are_numbered_anew() -> None:
    """Left-out conversations leave no holes in the numbers of requests."""
    turns = [(Turn(0, range(5), 1), Turn(1, range(90), 1)), (Turn(2, range(5), 1), Turn(3, range(5), 1))]
    talks = tuple(Conversation(index, index, pair) for index, pair in enumerate(turns))
    whole = Workload("x", talks)
    assert longest_of(whole) == 97
    kept = only_fitting(whole, 20)
    assert [turn.prompt for talk in kept.conversations for turn in talk.turns] == [0, 1]
    assert only_fitting(whole, 97) is whole


def test_a_trace_is_sampled_at_its_temperature(tmp_path: Path) -> None:
    """What the scenario says reaches every request, each with a seed of its own."""
    path = tmp_path / "trace.jsonl"
    rows = [{"timestamp": at, "input_length": 5, "output_length": 2, "hash_ids": [at]} for at in range(3)]
    path.write_text("\n".join(map(json.dumps, rows)))
    scenario = scenario_of(kind="trace", file=str(path), temperature=0.5)
    workload = asked(Traffic(scenario, None), schedule(scenario)[0])
    turns = [talk.turns[0] for talk in workload.conversations]
    assert [turn.temperature for turn in turns] == [0.5] * 3
    assert len({turn.seed for turn in turns}) == 3
