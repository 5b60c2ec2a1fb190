"""Captures that earlier versions of radixbench wrote stay readable for ever."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from radixbench.capture import store
from radixbench.capture.store import load, save
from radixbench.capture.upgrade import CURRENT

GOLDEN = Path(__file__).parents[1] / "golden"
FIRST = sorted(GOLDEN.glob("capture-?.json"))
"""Of each version the first file that was written."""
LATEST = GOLDEN / f"capture-{CURRENT}-additions.json"
"""The present version with every field that came later."""


def test_every_version_has_a_golden_file() -> None:
    """No schema version is released without a file that proves it readable later."""
    assert [path.name for path in FIRST] == [f"capture-{version}.json" for version in range(1, CURRENT + 1)]


@pytest.mark.parametrize("path", [*FIRST, LATEST], ids=lambda path: path.stem)
def test_golden_captures_load(path: Path, tmp_path: Path) -> None:
    """Each version loads; saved and loaded again it is the same capture and fits the published schema."""
    capture = load(path)
    save(capture, tmp_path / "again.json")
    assert load(tmp_path / "again.json") == capture
    schema = json.loads(Path(store.__file__).with_name("schema.json").read_text())
    jsonschema.validate(json.loads((tmp_path / "again.json").read_text()), schema)


def test_present_version_is_saved_byte_for_byte(tmp_path: Path) -> None:
    """The writer of the present version writes its golden file exactly."""
    save(load(LATEST), tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == LATEST.read_bytes()


def test_what_came_later_is_absent_from_a_first_file() -> None:
    """A capture from before a field was thought of says nothing of it, in the layout of its day."""
    run = load(FIRST[-1]).runs[0]
    assert (run.counters, run.log, run.client, run.corpus) == (None, None, None, None)
    assert run.prompts.held == ()
    assert run.protocol.checks == ()
    assert run.requests[0].model is None


def test_additions_say_what_they_said() -> None:
    """Facts of the present version's file, by value."""
    capture = load(LATEST)
    run = capture.runs[0]
    assert run.cell == {"shared_tokens": 4, "request_rate": 2.5, "schedule_policy": "lpm"}
    assert run.counters is not None
    assert run.counters.cached_by_tier == {"device": 4, "external": 0}
    assert run.log is not None
    assert (run.log.retractions, run.log.peak_state_usage) == (1, None)
    assert [check.held for check in run.protocol.checks] == [True, None]
    assert run.protocol.omits_zero
    assert [request.json_like for request in run.requests] == [False, None, None]
    assert capture.failures[0].reason == "the server died (signal 9)"
    assert capture.until == 0.05


def test_version_1_says_what_it_said() -> None:
    """Facts of the first version's file, by value: an upgrade must not bend them."""
    capture = load(GOLDEN / "capture-1.json")
    assert capture.interrupted
    assert capture.planned_runs == 3
    first, second = capture.runs
    assert [request.status for request in first.requests] == ["completed", "completed", "failed"]
    assert [request.cached_tokens for request in first.requests] == [0, 4, None]
    assert first.requests[0].text == "naïve — 答え"
    assert first.steps[1].graph
    assert first.steps[1].evicted_tokens == 16
    assert first.finishes[1].ttft_ns is None
    assert first.gpu[0].sm_clock_mhz == 1980
    assert first.gpu[3].sm_clock_mhz is None
    assert first.prompts.prompts[2] is None
    assert second.error == "the server died (signal 9)"
    assert not second.requests
