"""What a report says of model and device, at the end of the headline and on its chips."""

from __future__ import annotations

from dataclasses import replace

from radixbench.report.evidence import setting
from radixbench.report.setting import chips
from tests.report import scenes
from tests.report.evidence import side_of


def side(**identity):
    """An arm of a server that says this of itself, asked with every choice left to it."""
    on, _ = scenes.laptop()
    model = replace(on.scenario.model, name="smollm2", device="auto", dtype="auto")
    runs = tuple(replace(run, server=replace(run.server, model="mock", identity=identity)) for run in on.runs)
    return side_of(replace(on, scenario=replace(on.scenario, model=model), runs=runs))


def told(evidence, label):
    """What one chip says."""
    return next(chip.value for chip in chips((evidence,)) if chip.label == label)


def test_a_server_that_hides_its_device_has_none():
    """What the scenario would have chosen says nothing of it."""
    hidden = side()
    assert setting((hidden,)) == "mock"
    assert told(hidden, "Device") == told(hidden, "Precision") == "unknown, the server doesn't tell"


def test_a_name_is_said_once():
    """A scripted model runs on nothing else."""
    assert setting((side(device="mock"),)) == "mock"
    assert setting((side(device="cuda"),)) == "mock, cuda"
