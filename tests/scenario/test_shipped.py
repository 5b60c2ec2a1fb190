"""The scenarios that come with radixbench are sound, say why they exist, and are what the README promises."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from radixbench.scenario.load import load, shipped_names
from radixbench.scenario.model import Scenario
from radixbench.scenario.resolve import cells, resolve

FOLDER = Path(__file__).parents[2] / "scenarios"


def test_every_file_is_found_by_its_name() -> None:
    """What lies in scenarios/ is shipped, under the name that stands in it."""
    assert shipped_names() == tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))
    assert {"default", "laptop", "multi-turn", "reference"} <= set(shipped_names())


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
    assert {"shared_tokens": 0}.items() <= cells(resolve(scenario, on_cpu=True))[0].items()


def test_the_default_sweep_is_the_default() -> None:
    """A sweep without a scenario runs what a scenario without keys would."""
    assert replace(load("default"), why="", expect="") == Scenario(name="default")


def test_reference_keeps_the_shape_of_the_field() -> None:
    """The reference is comparable over years only if its shape stays."""
    reference = load("reference")
    workload = reference.workload
    assert reference.model.name == "Qwen/Qwen3-8B"
    assert (workload.shared[0], workload.shared[-1]) == (0, 4096)
    assert (workload.groups, workload.prompts_per_group) == (4, 16)
    assert (workload.question_len, workload.output_len) == (128, 64)
    assert (reference.load.max_concurrency, reference.seeds) == (8, 3)
