"""The scenarios that come with radixbench are sound, say why they exist, and are what the README promises."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from radixbench.errors import ScenarioError
from radixbench.scenario.kinds import FILE_KINDS, READS
from radixbench.scenario.load import load, override, shipped_names
from radixbench.scenario.model import Scenario
from radixbench.scenario.resolve import cells, resolve

FOLDER = Path(__file__).parents[2] / "scenarios"


def test_every_file_is_found_by_its_name() -> None:
    """What lies in scenarios/ is shipped, under the name that stands in it."""
    assert shipped_names() == tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))
    assert {"default", "laptop", "multi-turn", "reference"} <= set(shipped_names())
    assert {load(name).workload.kind for name in shipped_names()} == set(READS), (
        "a workload without a scenario"
    )


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_scenarios_explain_themselves(name: str) -> None:
    """Each loads by its bare name as by its path, resolves, and says why it exists and what to expect."""
    scenario = load(name)
    assert scenario == load(FOLDER / f"{name}.yaml")
    assert scenario.name == name
    assert len(scenario.why) > 40
    assert len(scenario.expect) > 40
    assert scenario.seeds >= 3
    assert set(scenario.modes) == {"on", "off"}
    path = FOLDER / f"{name}.yaml"
    assert path.read_text().startswith("# "), "a file says first what it is"
    if scenario.workload.kind in FILE_KINDS:
        with pytest.raises(ScenarioError, match=r"--file: .*name (one|a file) with --file"):
            resolve(scenario, on_cpu=True)
        assert cells(resolve(override(scenario, file="some.jsonl"), on_cpu=True)) == ({},)
    else:
        assert cells(resolve(scenario, on_cpu=True))


CONTROLLED = [
    name for name in shipped_names() if load(name).workload.kind in ("shared-prefix", "multi-turn", "tree")
]


@pytest.mark.parametrize("name", CONTROLLED)
def test_what_shares_a_prefix_has_a_control(name: str) -> None:
    """Where the shared length is an axis its first value is 0: the cost of caching without anything shared."""
    assert {"shared_tokens": 0}.items() <= cells(resolve(load(name), on_cpu=True))[0].items()


def test_the_default_sweep_is_the_default() -> None:
    """A sweep without a scenario runs what a scenario without keys would."""
    written = replace(load("default"), why="", expect="")
    assert resolve(written, on_cpu=True) == resolve(Scenario(name="default"), on_cpu=True)


def test_reference_keeps_the_shape_of_the_field() -> None:
    """The reference is comparable over years only if its shape stays."""
    reference = load("reference")
    workload = reference.workload
    assert reference.model.name == "Qwen/Qwen3-8B"
    assert (workload.shared[0], workload.shared[-1]) == (0, 4096)
    assert (workload.groups, workload.prompts_per_group) == (4, 16)
    assert (workload.question_len, workload.output_len) == (128, 64)
    assert (reference.load.max_concurrency, reference.seeds) == (8, 3)
