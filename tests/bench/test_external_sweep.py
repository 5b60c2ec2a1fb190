"""Sweeps against a server that runs already: never started, never stopped, told apart when it lies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from radixbench import __version__
from radixbench.bench.progress import Progress
from radixbench.bench.target import BundledServer
from radixbench.bench.tracker import Tracker
from radixbench.capture.store import load, save
from radixbench.errors import IncompleteError, InterruptedRunError, UsageError
from radixbench.records import DeviceInfo, GpuSample
from radixbench.scenario.model import GridSpec, LoadSpec, TargetSpec
from radixbench.telemetry.probes import ScriptedProbe
from tests.bench.sweeping import SMALL, check, only_run, scenario_for, sweep
from tests.mock.start import mock_process


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ledgers go into a directory of the test's own; a key is known to the environment."""
    monkeypatch.setenv("RADIXBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-kept")


@pytest.fixture(scope="module")
def honest() -> Iterator[str]:
    """A mock that does as it is told."""
    with mock_process() as base_url:
        yield base_url


@pytest.fixture(scope="module")
def without_flush() -> Iterator[str]:
    """A mock that has no call to empty its cache."""
    with mock_process("--flush", "absent") as base_url:
        yield base_url


@pytest.mark.parametrize("here", [True, False])
def test_only_the_cards_of_the_servers_machine_are_claimed(
    here: bool, honest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A card in the machine that measures is in the capture only where the server runs on that machine, too."""
    reading = GpuSample(0, sm_clock_mhz=1950, event_reasons=0, utilization_pct=90)
    probe = ScriptedProbe([[reading]], described=(DeviceInfo(0, "NVIDIA H200"),))
    monkeypatch.setattr("radixbench.bench.sweep.pick_probe", lambda: probe)
    if not here:
        monkeypatch.setattr("radixbench.telemetry.place._is_own", lambda *_: False)
    outcome = sweep(scenario_for(honest), tmp_path)
    for capture in outcome.captures.values():
        on_cpu = any("cpu" in str(run.server.identity.get("device")) for run in capture.runs)
        read = {run.telemetry.probe for run in capture.runs}
        assert capture.environment.gpus == (("NVIDIA H200",) if here else ())
        assert read == ({"scripted"} if here and not on_cpu else {"cpu"})


def test_both_arms_interleave_on_one_server(honest: str, tmp_path: Path) -> None:
    """With salts no second server is needed; the record says whose server it was, without process or key."""
    notes: list[Progress] = []
    outcome = sweep(scenario_for(honest, seeds=2), tmp_path, calibrate=True, on_progress=notes.append)
    assert outcome.error is None
    assert not any(note.stage == "start-server" for note in notes)
    assert [note.stage for note in notes if note.text == f"measuring the server at {honest}"] == ["note"]
    assert {path.name for path in tmp_path.iterdir()} == {"on.json", "off.json", "cache"}
    runs = [run for mode in ("on", "off") for run in load(outcome.paths[mode]).runs]
    runs.sort(key=lambda run: run.order)
    assert [run.mode for run in runs] == ["on", "off", "off", "on"]
    assert all(run.protocol.verified for run in runs)
    assert {run.protocol.off_mode for run in runs} == {None, "salt"}
    assert {(run.server.pid, run.server.engine, run.server.base_url) for run in runs} == {
        (None, "sglang", honest)
    }
    for run in runs:
        assert run.client is not None
        assert run.counters is not None
        assert run.counters.requests == len(run.requests)
        assert check(run, "alone").held is True
    assert all(outcome.captures[mode].calibration for mode in ("on", "off"))
    assert "sk-not-to-be-kept" not in outcome.paths["on"].read_text()


def test_the_same_seeds_again_are_remembered(honest: str, without_flush: str, tmp_path: Path) -> None:
    """A later invocation knows what the server was sent; after a proved flush that is told and not held against it."""
    for place in ("one", "two"):
        flushed = sweep(scenario_for(honest, modes=("on",)), tmp_path / "honest" / place)
        target = TargetSpec(base_url=without_flush, engine="other")
        kept = sweep(scenario_for(without_flush, target=target, modes=("on",)), tmp_path / "other" / place)
    run = only_run(flushed)
    assert (run.protocol.verified, run.protocol.ledger_repeats) == (True, 0)
    assert check(run, "ledger").held is True
    assert "6 measured prompts begin as ones this server was sent before" in check(run, "ledger").detail
    run = only_run(kept)
    assert (run.protocol.verified, run.protocol.ledger_repeats) == (False, 6)


def test_a_run_that_can_not_be_prepared_leaves_its_reason(tmp_path: Path) -> None:
    """A lying flush costs the runs that need one; the arm that doesn't is measured, and the captures say why."""
    notes: list[Progress] = []
    with mock_process("--flush", "lies") as base_url:
        outcome = sweep(scenario_for(base_url, seeds=2), tmp_path, on_progress=notes.append)
    assert isinstance(outcome.error, IncompleteError)
    assert "was not measured: cache not flushed" in outcome.error.message
    on, off = load(outcome.paths["on"]), load(outcome.paths["off"])
    assert (len(on.runs), len(on.failures), on.planned_runs) == (0, 2, 2)
    assert "still found 127 cached" in on.failures[0].reason
    assert [run.protocol.verified for run in off.runs] == [True, True]
    assert any("was not measured" in note.text for note in notes)


def test_a_server_without_a_flush_ends_a_cold_sweep_at_once(without_flush: str, tmp_path: Path) -> None:
    """What is wrong with every run is told as one line after the first preparation, and nothing is measured."""
    notes: list[Progress] = []
    with pytest.raises(UsageError, match="no call to empty its cache"):
        sweep(scenario_for(without_flush, seeds=3), tmp_path, on_progress=notes.append)
    assert not any(note.stage in {"measure", "saved"} for note in notes)


def test_a_server_that_refuses_everything_is_given_up(tmp_path: Path) -> None:
    """Three runs in a row that leave nothing end the sweep instead of going through all of it."""
    with mock_process("--fail", "400=all") as base_url:
        outcome = sweep(scenario_for(base_url, seeds=4), tmp_path)
    assert isinstance(outcome.error, IncompleteError)
    assert sum(len(capture.failures) for capture in outcome.captures.values()) == 3


def test_a_server_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No server answers: that it is waited for is told at once, then one line, and not even a folder stays."""
    monkeypatch.setattr("radixbench.bench.fleet._FOREIGN_TIMEOUT_S", 0.2)
    notes: list[Progress] = []
    with pytest.raises(IncompleteError, match="no server was ready"):
        sweep(scenario_for("http://127.0.0.1:9"), tmp_path / "captures" / "pair", on_progress=notes.append)
    assert "waiting for http://127.0.0.1:9 (connection refused by 127.0.0.1:9), 0 s more" in notes[1].text
    assert not list(tmp_path.iterdir())


def test_a_server_whose_settings_are_not_ours_is_not_swept_over_them(honest: str, tmp_path: Path) -> None:
    """An axis of server settings needs servers that can be restarted."""
    with pytest.raises(UsageError, match="isn't ours to set"):
        sweep(scenario_for(honest, grid=GridSpec(page_size=(1, 16))), tmp_path)


def test_without_an_engine_the_server_is_treated_as_who_it_is(honest: str, tmp_path: Path) -> None:
    """The recorded engine is the one its metrics show, not ``other``, and a line says why."""
    notes: list[Progress] = []
    scenario = scenario_for(honest, target=TargetSpec(base_url=honest), modes=("on",))
    run = only_run(sweep(scenario, tmp_path, on_progress=notes.append))
    assert run.server.engine == "sglang"
    assert run.protocol.flush_tiers == ("device", "host")
    assert any("looks like SGLang" in note.text and "treated as engine sglang" in note.text for note in notes)


def test_our_own_server_is_known_as_such(tmp_path: Path) -> None:
    """One that runs already is no other than one we start; called SGLang it is refused, with both names."""
    server = BundledServer(scenario_for(), "on", tmp_path / "server.log", ("--runner", "fake"))
    server.start()
    try:
        target = TargetSpec(base_url=server.base_url)
        run = only_run(sweep(scenario_for(server.base_url, target=target, modes=("on",)), tmp_path))
        assert (run.server.engine, run.server.version, run.server.pid) == ("bundled", __version__, None)
        assert run.protocol.verified is True
        with pytest.raises(
            UsageError, match="says on /server_info that it is radixbench, and --engine says SGLang"
        ):
            sweep(scenario_for(server.base_url), tmp_path / "pair")
    finally:
        server.stop()
    assert not (tmp_path / "pair").exists()


def test_an_arm_without_a_cache_by_flag_needs_its_own_server(honest: str, tmp_path: Path) -> None:
    """Without a second address there is no arm to compare with; with one both are measured."""
    with pytest.raises(UsageError, match="--off-base-url"):
        sweep(scenario_for(honest, off_mode="flag"), tmp_path / "a")
    with mock_process("--disable-radix-cache") as off_base_url:
        target = TargetSpec(base_url=honest, off_base_url=off_base_url, engine="sglang")
        outcome = sweep(scenario_for(honest, target=target, off_mode="flag"), tmp_path / "b")
    assert outcome.error is None
    assert only_run(outcome, "off").server.base_url == off_base_url
    assert only_run(outcome, "off").protocol.verified is True


def test_resuming_keeps_whole_pairs_and_measures_the_rest(honest: str, tmp_path: Path) -> None:
    """What is complete in both arms stays as it was; a broken pair and what never ran are measured."""
    scenario = scenario_for(honest, seeds=3)
    whole = sweep(scenario, tmp_path)
    on, off = load(whole.paths["on"]), load(whole.paths["off"])
    save(replace(on, runs=on.runs[:2], interrupted=True), whole.paths["on"])
    broken = replace(off.runs[1], status="incomplete", error="cut")
    save(replace(off, runs=(off.runs[0], broken, off.runs[2])), whole.paths["off"])
    notes: list[Progress] = []
    outcome = sweep(scenario, tmp_path, resume=True, on_progress=notes.append)
    assert outcome.error is None
    assert any("resuming: 2 runs" in note.text for note in notes)
    again = {mode: load(path) for mode, path in outcome.paths.items()}
    for mode, before in (("on", on), ("off", off)):
        assert [run.seed for run in again[mode].runs] == [0, 1, 2]
        assert [run.status for run in again[mode].runs] == ["completed"] * 3
        assert again[mode].runs[0] == before.runs[0]
        assert again[mode].runs[1].start_ns > before.runs[1].start_ns
        assert not again[mode].interrupted
        assert again[mode].created_wall_ns == before.created_wall_ns


def test_resuming_another_scenario_is_refused_by_its_difference(honest: str, tmp_path: Path) -> None:
    """The captures stay as they are, and the line names the key."""
    sweep(scenario_for(honest), tmp_path)
    before = (tmp_path / "on.json").read_bytes()
    changed = scenario_for(honest, workload=replace(SMALL, groups=1))
    with pytest.raises(UsageError, match=r"workload\.groups was 2 and is 1"):
        sweep(changed, tmp_path, resume=True)
    assert (tmp_path / "on.json").read_bytes() == before


def test_a_run_that_can_not_end_in_time_is_not_started(
    honest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the time is up the sweep stops between runs, says how to go on, and does."""
    scenario = scenario_for(honest, seeds=2)
    monkeypatch.setattr(Tracker, "expected_s", lambda self, plan: 1e9 if plan.order else None)
    outcome = sweep(scenario, tmp_path, max_time_s=1e6)
    assert isinstance(outcome.error, IncompleteError)
    assert "1 of 4 runs are measured, the next takes about 1000000000.0 s" in outcome.error.message
    assert outcome.error.remedy == f"go on with: radixbench sweep --resume --out {tmp_path}"
    assert sum(len(load(path).runs) for path in outcome.paths.values()) == 1
    monkeypatch.undo()
    monkeypatch.setenv("RADIXBENCH_CACHE", str(tmp_path / "cache"))
    assert sweep(scenario, tmp_path, resume=True).error is None


def test_time_that_is_up_before_the_first_run_leaves_nothing(honest: str, tmp_path: Path) -> None:
    """Nothing was measured: one line says what used the time up, and no empty capture is left to be compared."""
    with pytest.raises(IncompleteError, match=r"nothing was measured: --max-time 1e-09 s was up") as caught:
        sweep(scenario_for(honest), tmp_path / "pair", max_time_s=1e-9)
    assert "servers and calibration count" in caught.value.message
    assert caught.value.remedy == "allow more time"
    assert not (tmp_path / "pair").exists()


def test_a_stop_before_the_first_run_leaves_nothing(honest: str, tmp_path: Path) -> None:
    """Who stops while the server is still prepared finds no captures of nothing."""
    stopped: list[str] = []
    with pytest.raises(InterruptedRunError, match="before the first of 2 runs was measured"):
        sweep(
            scenario_for(honest),
            tmp_path / "pair",
            should_stop=lambda: bool(stopped),
            on_progress=lambda event: stopped.append(event.stage) if event.stage == "warm-up" else None,
        )
    assert not (tmp_path / "pair").exists()


def test_a_cut_resumption_keeps_what_was_measured_before(honest: str, tmp_path: Path) -> None:
    """Captures with runs are never taken away, whatever the second part comes to."""
    scenario = scenario_for(honest, seeds=2)
    whole = sweep(scenario, tmp_path)
    save(replace(load(whole.paths["on"]), runs=load(whole.paths["on"]).runs[:1]), whole.paths["on"])
    outcome = sweep(scenario, tmp_path, resume=True, max_time_s=1e-9)
    assert isinstance(outcome.error, IncompleteError)
    assert "3 of 4 runs are measured" in outcome.error.message
    assert len(load(whole.paths["off"]).runs) == 2


def test_a_stop_between_runs_is_kept(honest: str, tmp_path: Path) -> None:
    """Somebody who stops the sweep finds captures that say so."""
    seen: list[str] = []

    def should_stop() -> bool:
        return bool(seen.count("saved"))

    outcome = sweep(
        scenario_for(honest, seeds=2),
        tmp_path,
        should_stop=should_stop,
        on_progress=lambda event: seen.append(event.stage),
    )
    assert outcome.error is not None
    assert outcome.error.exit_code == 130
    assert outcome.error.remedy == (
        f"what was measured is in {tmp_path}; go on with: radixbench sweep --resume --out {tmp_path}"
    )
    assert all(load(path).interrupted for path in outcome.paths.values())
    assert len(load(outcome.paths["on"]).runs) == 1


def test_an_open_loop_against_a_server(honest: str, tmp_path: Path) -> None:
    """Arrivals at a rate: every request has a due time of its own, and the state is proved all the same."""
    load_spec = LoadSpec(arrival="constant", request_rate=50.0)
    outcome = sweep(scenario_for(honest, load=load_spec, modes=("on",)), tmp_path)
    assert outcome.error is None
    run = only_run(outcome)
    dues = sorted(record.due_ns for record in run.requests)
    assert {later - earlier for earlier, later in pairwise(dues)} == {20_000_000}
    assert run.protocol.verified is True
