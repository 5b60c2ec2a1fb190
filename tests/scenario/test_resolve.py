"""Open lengths are decided by model and device; cells are all combinations of the axes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.errors import ScenarioError
from radixbench.scenario.load import override
from radixbench.scenario.model import Scenario
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


def test_a_pool_too_small_is_found_before_anything_starts() -> None:
    """A request that can never fit is refused with both sizes; one that just fits isn't."""
    small = replace(BASE, engine=replace(BASE.engine, max_total_tokens=4143))
    with pytest.raises(ScenarioError, match="a pool of 4,143 tokens can't hold the longest request of 4,144"):
        resolve(small, on_cpu=True)
    resolve(override(BASE, max_total_tokens=4144), on_cpu=True)
