"""What is settled before the first run: the client's calibration, the first server, the scenario, the plan.

Whatever is wrong by then is raised, and nothing has been written.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass

from radixbench.bench.calibration import calibrate
from radixbench.bench.fleet import Fleet
from radixbench.bench.identity import ServerFacts, check_fits
from radixbench.bench.outputs import OutputPaths
from radixbench.bench.resume import (
    PairKey,
    continued,
    pair_of,
    refuse_other_scenario,
    refuse_other_server,
    saved,
    version_notes,
    whole_pairs,
)
from radixbench.bench.schedule import RunPlan, schedule
from radixbench.bench.tracker import Tracker
from radixbench.bench.traffic import Traffic, read_corpus
from radixbench.capture.environment import collect
from radixbench.capture.model import Capture, Environment
from radixbench.client.address import Address
from radixbench.errors import IncompleteError, ScenarioError, UsageError
from radixbench.records import Calibration
from radixbench.scenario.arms import ArmName, arms
from radixbench.scenario.model import GridSpec, Scenario
from radixbench.scenario.resolve import at_cell, cells, longest_request, resolve
from radixbench.telemetry.place import probe_for
from radixbench.telemetry.probes import Probe
from radixbench.units import Tokens


@dataclass(frozen=True, slots=True)
class Wish:
    """How a sweep shall begin; ``argv`` is kept as it was given. One that ``grows`` is resumed with any number of seeds."""

    argv: tuple[str, ...]
    resume: bool
    calibrate: bool
    probe: Probe
    grows: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """A sweep ready to run. ``done`` are the orders of runs that ``before``, its earlier part, holds already.

    What else ``before`` holds is measured again.
    """

    scenario: Scenario
    traffic: Traffic
    plans: tuple[RunPlan, ...]
    done: frozenset[int]
    before: Mapping[ArmName, Capture]
    environment: Environment
    calibration: Calibration | None

    def planned(self, arm: ArmName) -> int:
        """How many runs an arm has in all."""
        return sum(plan.arm == arm for plan in self.plans)

    def again(self) -> frozenset[PairKey]:
        """The pairs that are still to be measured, whatever ``before`` holds of them."""
        return frozenset(pair_of(plan) for plan in self.plans if plan.order not in self.done)


def settle(scenario: Scenario, fleet: Fleet, tracker: Tracker, paths: OutputPaths, wish: Wish) -> Settled:
    """Refuse what can be refused by now, start the first server, decide what depends on it, and calibrate."""
    _refuse_contradictions(scenario)
    saved_before = saved(paths.captures) if wish.resume else {}
    refuse_other_scenario(saved_before, paths.captures, *_possible(scenario), grows=wish.grows)
    corpus = read_corpus(scenario.workload)
    facts = fleet.arm(next(iter(arms(scenario))), at_cell(scenario, cells(scenario)[0]).engine).facts
    for note in facts.notes:
        tracker.note("note", note)
    resolved = resolve(scenario, on_cpu=facts.device == "cpu")
    longest = longest_request(resolved)
    if longest is not None:
        check_fits(facts, longest)
    refuse_other_scenario(saved_before, paths.captures, resolved, grows=wish.grows)
    environment = _environment(wish, scenario.target.base_url)
    before = _before(saved_before, resolved, facts, environment, tracker) if wish.resume else {}
    plans = continued(schedule(resolved), before) if wish.grows and before else schedule(resolved)
    whole = whole_pairs(before, arms(resolved))
    done = frozenset(plan.order for plan in plans if pair_of(plan) in whole)
    calibration = _calibration(tracker) if wish.calibrate and len(done) < len(plans) else None
    tracker.plan(plans, done)
    traffic = Traffic(resolved, fleet.tokenizer, _room(facts), corpus)
    return Settled(resolved, traffic, plans, done, before, environment, calibration)


def _refuse_contradictions(scenario: Scenario) -> None:
    """What a server that isn't ours, or a shared one, can't do."""
    target, grid = scenario.target, scenario.grid
    if target.base_url is None:
        return
    for axis in ("schedule_policy", "page_size", "chunked_prefill_size", "max_total_tokens"):
        if getattr(grid, axis) != getattr(GridSpec(), axis):
            raise UsageError(
                f"{axis.replace('_', ' ')} is a setting of the server, and {target.base_url} isn't ours to set",
                remedy="start it with one setting, and sweep each by itself",
            )


def _possible(scenario: Scenario) -> tuple[Scenario, ...]:
    """What the scenario may be once the server has said where it computes, sizes for a CPU first.

    Those are the smaller ones: a pool that can't hold even them raises ``ScenarioError``.
    """
    small = resolve(scenario, on_cpu=True)
    with contextlib.suppress(ScenarioError):
        return small, resolve(scenario, on_cpu=False)
    return (small,)


def _calibration(tracker: Tracker) -> Calibration | None:
    """Without one the sweep goes on, and says so."""
    tracker.note("note", "calibrating the client against a mock server")
    try:
        return calibrate()
    except (IncompleteError, OSError) as error:
        tracker.note("note", f"no calibration: {error}")
        return None


def _before(
    found: Mapping[ArmName, Capture],
    scenario: Scenario,
    facts: ServerFacts,
    now: Environment,
    tracker: Tracker,
) -> dict[ArmName, Capture]:
    refuse_other_server(found, facts)
    runs = len(whole_pairs(found, arms(scenario))) * len(scenario.modes)
    tracker.note("note", f"resuming: {runs} runs are measured already")
    for capture in list(found.values())[:1]:
        for note in version_notes(capture.environment, now):
            tracker.note("note", note)
    return dict(found)


def _room(facts: ServerFacts) -> Tokens | None:
    """The most tokens a request may take; ``None`` where the server doesn't say."""
    known = [size for size in (facts.context_len, facts.pool_tokens) if size is not None]
    return min(known) if known else None


def _environment(wish: Wish, base_url: str | None) -> Environment:
    """That of the tool's machine; its cards only where the server runs there too."""
    probe = wish.probe if base_url is None else probe_for(Address.of(base_url).host, wish.probe)
    devices = probe.devices()
    return collect(
        wish.argv,
        gpus=tuple(device.name for device in devices),
        driver=next((device.driver for device in devices if device.driver), None),
    )
