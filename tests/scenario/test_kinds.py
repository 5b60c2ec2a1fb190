"""Each workload reads its own keys: others are refused by name, missing ones are named with what to give."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import pytest

from radixbench.errors import ScenarioError
from radixbench.scenario.check import first_gap, first_problem
from radixbench.scenario.kinds import FILE_KINDS, READS, WITH_PREFIXES
from radixbench.scenario.load import load, override
from radixbench.scenario.model import Scenario, WorkloadKind, WorkloadSpec

KINDS: tuple[WorkloadKind, ...] = get_args(WorkloadKind)
OTHER_VALUES: dict[str, Any] = {
    "shared": (0, 7),
    "turns": (2,),
    "distribution": "zipf",
    "history": "recorded",
    "document_order": "ordered",
    "file": "f.jsonl",
    "dataset": "owner/name",
    "split": "train",
    "format": "auto",
    "same_prefix": True,
}


def scenario(kind: WorkloadKind, **keys: Any) -> Scenario:
    """A scenario of one kind with these keys of ``workload``."""
    return Scenario(name="x", workload=replace(WorkloadSpec(), kind=kind, **keys))


def test_every_kind_and_every_key_is_in_the_table() -> None:
    """No kind is forgotten, and every key of the model is read by some kind."""
    assert set(READS) == set(KINDS)
    assert frozenset().union(*READS.values()) == {item.name for item in fields(WorkloadSpec)} - {"kind"}
    assert WITH_PREFIXES | FILE_KINDS | {"unique"} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_takes_its_own_keys_and_no_others(kind: WorkloadKind) -> None:
    """What would be ignored is refused with the kinds that read it; what is read passes."""
    for item in fields(WorkloadSpec):
        if item.name in ("kind", "zipf_exponent", "dataset", "split", "format"):
            continue
        problem = first_problem(scenario(kind, **{item.name: OTHER_VALUES.get(item.name, 3)}))
        if item.name in READS[kind]:
            assert problem is None, item.name
        else:
            assert problem is not None, item.name
            assert problem.path == ("workload", item.name)
            assert f"the {kind} workload has no" in problem.text
            assert problem.remedy is not None
            assert any(reader in problem.remedy for reader, reads in READS.items() if item.name in reads)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            {"examples": 3},
            "--examples: the shared-prefix workload has no examples; leave examples out or take the few-shot workload",
        ),
        (
            {"tools_len": 3},
            "--tools-len: the shared-prefix workload has no tools length; leave tools_len out or take the rag or agent workload",
        ),
        ({"workload": "unique", "shared": "0,8"}, "--shared: the unique workload has no shared prefix"),
        ({"think_time": "2s"}, "--think-time: the shared-prefix workload has no think time"),
        (
            {"zipf_exponent": 2.0},
            "--zipf-exponent: prompts fall on groups uniformly; say distribution zipf too",
        ),
        (
            {"workload": "agent", "history": "retokenized"},
            "--history: the agent workload is made of token ids, which nothing encodes anew",
        ),
        (
            {"workload": "rag", "documents": 2, "documents_per_prompt": 3},
            "--documents-per-prompt: a prompt can't hold 3 of 2 documents",
        ),
        (
            {"workload": "conversations", "file": "a", "dataset": "b"},
            "--dataset: a file is given too; give a file or a hub dataset",
        ),
        ({"workload": "conversations", "file": "a", "split": "b"}, "--split: only a hub dataset has splits"),
        (
            {"workload": "conversations", "file": "a", "format": "bailian"},
            "--format: the conversations workload isn't read from bailian files; write auto or custom or openai or sharegpt",
        ),
        ({"workload": "conversations", "file": " "}, "--file: is empty"),
        (
            {"workload": "trace", "file": "a", "output_len": "8"},
            "--output-len: the trace workload has no output length",
        ),
        (
            {"workload": "trace", "file": "a", "output_len": "8,16"},
            "--output-len: the trace workload has no output length",
        ),
        (
            {"groups": "1,100000", "prompts_per_group": 1000},
            "--prompts-per-group: all groups together make 100,000,000 prompts; 10,000,000 are the most",
        ),
        (
            {"workload": "trace"},
            "--file: the trace workload replays a file of requests, and none is named; name one",
        ),
        ({"workload": "conversations"}, "or a hub dataset with --dataset"),
    ],
)
def test_keys_that_dont_go_together(flags: dict[str, Any], message: str) -> None:
    """Each contradiction and each gap is one line that names the flag and the way out."""
    with pytest.raises(ScenarioError) as caught:
        override(Scenario(name="base"), **flags)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_may_leave_to_a_flag_what_it_lacks(tmp_path: Path) -> None:
    """A scenario of a trace without a file loads; only when it shall run something is missing."""
    path = tmp_path / "t.yaml"
    path.write_text("name: t\nworkload: {kind: trace, limit: 3}\n")
    loaded = load(path)
    gap = first_gap(loaded)
    assert gap is not None
    assert gap.path == ("workload", "file")
    assert override(loaded, file="trace.jsonl").workload.file == "trace.jsonl"
    with pytest.raises(ScenarioError, match="--file: the trace workload replays a file"):
        override(loaded)
