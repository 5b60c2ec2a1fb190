"""Open lengths are decided by model and device; cells are all combinations of the axes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.errors import ScenarioError
from radixbench.scenario.defaults import open_keys
from radixbench.scenario.kinds import FILE_KINDS, READS
from radixbench.scenario.load import override
from radixbench.scenario.model import Scenario, WorkloadKind
from radixbench.scenario.resolve import cells, longest_request, resolve

BASE = Scenario(name="base")


@pytest.mark.parametrize(
    ("model", "device", "on_cpu", "lengths"),
    [
        ("tiny", "auto", True, (32, 16)),
        ("tiny", "cpu", False, (32, 16)),
        ("tiny", "auto", False, (128, 64)),
        ("tiny", "cuda", True, (128, 64)),
        ("smollm2-135m", "cpu", True, (128, 64)),
    ],
)
def test_lengths_follow_model_and_device(
    model: str, device: str, on_cpu: bool, lengths: tuple[int, int]
) -> None:
    """Only ``tiny`` on a CPU asks short questions; ``auto`` is what this machine has."""
    workload = resolve(override(BASE, model=model, device=device), on_cpu=on_cpu).workload
    assert (workload.question_len, workload.output_len) == lengths


def test_written_lengths_stay() -> None:
    """What was written is not decided again, and resolving twice changes nothing."""
    resolved = resolve(override(BASE, question_len=7), on_cpu=True)
    assert (resolved.workload.question_len, resolved.workload.output_len) == (7, 16)
    assert resolve(resolved, on_cpu=False) == resolved


def test_turns_belong_to_multi_turn() -> None:
    """A multi-turn workload has four turns unless told; another has none."""
    assert resolve(override(BASE, workload="multi-turn"), on_cpu=True).workload.turns == (4,)
    assert resolve(override(BASE, workload="multi-turn", turns="1,2"), on_cpu=True).workload.turns == (1, 2)
    assert resolve(BASE, on_cpu=True).workload.turns is None


@pytest.mark.parametrize("kind", READS)
@pytest.mark.parametrize("on_cpu", [True, False])
def test_every_open_key_of_a_kind_is_decided(kind: WorkloadKind, on_cpu: bool) -> None:
    """Whatever a made-up kind reads has a value, whatever it doesn't read stays out, and twice is as once."""
    source = {"file": "some.jsonl"} if kind in FILE_KINDS else {}
    resolved = resolve(override(BASE, workload=kind, **source), on_cpu=on_cpu)
    open_still = {key for key in READS[kind] if getattr(resolved.workload, key) is None}
    if kind in FILE_KINDS:
        assert open_still == READS[kind] & {"output_len", "dataset", "split", "limit", "block_size"}
    else:
        assert not open_still
    assert open_keys(kind, small=on_cpu).keys() <= READS[kind]
    assert resolve(resolved, on_cpu=not on_cpu) == resolved
    for key in ("turns", "examples", "documents", "tool_result_len", "depth", "file"):
        assert key in READS[kind] or getattr(resolved.workload, key) is None


def test_what_is_decided_is_checked_too() -> None:
    """A value that doesn't go with one left open is refused as if both were written."""
    with pytest.raises(ScenarioError, match="--documents-per-prompt: a prompt can't hold 20 of 8 documents"):
        resolve(override(BASE, workload="rag", documents_per_prompt=20), on_cpu=True)


def test_the_closed_loop_alone_has_a_width_by_itself() -> None:
    """Eight in flight in a closed loop; an open one is only capped if somebody says so."""
    assert resolve(BASE, on_cpu=True).load.max_concurrency == 8
    opened = override(BASE, arrival="poisson", request_rate="4")
    assert resolve(opened, on_cpu=True).load.max_concurrency is None


def test_axes_stay_open_for_their_cells() -> None:
    """What is an axis has no value of its own, also after resolving."""
    resolved = resolve(override(BASE, max_concurrency="1,8", output_len="4,8"), on_cpu=True)
    assert (resolved.load.max_concurrency, resolved.workload.output_len) == (None, None)
    assert resolved.workload.question_len == 32
    assert longest_request(resolved) == 4096 + 32 + 8
    assert resolve(resolved, on_cpu=False) == resolved


def test_sampling_is_sampled_and_the_rest_is_greedy() -> None:
    """Only the workload that asks for many answers has a temperature by itself."""
    assert resolve(override(BASE, workload="sampling"), on_cpu=True).workload.temperature == 1.0
    assert resolve(BASE, on_cpu=True).workload.temperature == 0.0


def test_cells_are_all_combinations() -> None:
    """Every shared length with every number of turns, in the order written."""
    assert cells(override(BASE, shared="8,0")) == ({"shared_tokens": 8}, {"shared_tokens": 0})
    both = cells(override(BASE, shared="0,8", workload="multi-turn", turns="1,4"))
    assert both == (
        {"shared_tokens": 0, "turns": 1},
        {"shared_tokens": 0, "turns": 4},
        {"shared_tokens": 8, "turns": 1},
        {"shared_tokens": 8, "turns": 4},
    )


def test_longest_request_holds_the_whole_conversation() -> None:
    """A conversation's last request carries all earlier questions and answers."""
    assert longest_request(resolve(BASE, on_cpu=True)) == 4096 + 32 + 16
    talk = override(BASE, workload="multi-turn", turns="2,4", shared="0,100", question_len=10, output_len=5)
    assert longest_request(resolve(talk, on_cpu=True)) == 100 + 4 * 15
    with pytest.raises(ValueError, match="isn't resolved"):
        longest_request(BASE)


def test_nobody_knows_how_long_a_files_requests_are() -> None:
    """What stands in a file has no longest request before it is read, and no pool is too small for it."""
    trace = resolve(override(BASE, workload="trace", file="t", max_total_tokens="16"), on_cpu=True)
    assert longest_request(trace) is None


def test_a_pool_too_small_in_one_cell_is_found_too() -> None:
    """Each value of an axis is held against each pool of another."""
    flags = {"shared": "0", "question_len": "10,100", "output_len": "10", "max_total_tokens": "60,200"}
    with pytest.raises(ScenarioError, match="a pool of 60 tokens can't hold the longest request of 110"):
        resolve(override(BASE, **flags), on_cpu=True)


def test_a_pool_too_small_is_found_before_anything_starts() -> None:
    """A request that can never fit is refused with both sizes; one that just fits isn't."""
    small = replace(BASE, engine=replace(BASE.engine, max_total_tokens=4143))
    with pytest.raises(ScenarioError, match="a pool of 4,143 tokens can't hold the longest request of 4,144"):
        resolve(small, on_cpu=True)
    resolve(override(BASE, max_total_tokens=4144), on_cpu=True)
