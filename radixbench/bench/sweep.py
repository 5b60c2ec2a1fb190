"""A whole sweep: servers up, runs in their order, a capture per arm saved after every run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from radixbench.bench.identity import ServerFacts, check_fits, read_facts
from radixbench.bench.memory import fits_beside
from radixbench.bench.outputs import OutputPaths
from radixbench.bench.progress import OnProgress
from radixbench.bench.run import Arm, Bench, RunPlan, incomplete_because, measure
from radixbench.bench.schedule import schedule
from radixbench.bench.steps import LogTail
from radixbench.bench.stop import signals_held
from radixbench.bench.target import BundledServer
from radixbench.bench.tracker import Tracker
from radixbench.capture.environment import collect
from radixbench.capture.model import Capture, Environment, Run
from radixbench.capture.store import save
from radixbench.client.http import ServerClient
from radixbench.client.loop import run as run_loop
from radixbench.clock import anchor
from radixbench.errors import IncompleteError, InterruptedRunError, OutputError, RadixbenchError
from radixbench.records import Mode
from radixbench.scenario.model import Scenario
from radixbench.scenario.resolve import longest_request, resolve
from radixbench.telemetry.probes import pick_probe

_READY_TIMEOUT_S = 1800.0


@dataclass(frozen=True, slots=True)
class SweepOutcome:
    """What a sweep left: the captures as saved, and the error that ended it or that runs ended with."""

    scenario: Scenario
    captures: dict[Mode, Capture]
    paths: dict[Mode, Path]
    error: RadixbenchError | None


def run_sweep(
    scenario: Scenario,
    paths: OutputPaths,
    *,
    on_progress: OnProgress,
    should_stop: Callable[[], bool],
    argv: Sequence[str],
    server_arguments: Sequence[str] = (),
    keep_text: bool = False,
) -> SweepOutcome:
    """Measure every run of ``scenario``; ``server_arguments`` are passed on to each server.

    Raises what is wrong before the first run; from then on whatever happens is in the outcome and the
    captures hold all that was measured.
    """
    sweep = _Sweep(scenario, paths, on_progress, should_stop, server_arguments, keep_text)
    with contextlib.closing(sweep):
        sweep.begin(argv)
        error = sweep.run_all()
        return SweepOutcome(
            scenario=sweep.scenario,
            captures=dict(sweep.captures),
            paths={mode: paths.captures[mode] for mode in scenario.modes},
            error=error,
        )


class _Sweep:
    """The moving parts of one sweep."""

    def __init__(
        self,
        scenario: Scenario,
        paths: OutputPaths,
        on_progress: OnProgress,
        should_stop: Callable[[], bool],
        server_arguments: Sequence[str],
        keep_text: bool,
    ) -> None:
        self.scenario = scenario
        self.captures: dict[Mode, Capture] = {}
        self._paths = paths
        self._tracker = Tracker(on_progress)
        self._should_stop = should_stop
        self._server_arguments = server_arguments
        self._keep_text = keep_text
        self._arms: dict[Mode, Arm] = {}
        self._probe = pick_probe()
        self._keep_both = True
        self._pool_tokens: int | None = None
        self._incomplete: IncompleteError | None = None
        self._plans: tuple[RunPlan, ...] = ()

    def close(self) -> None:
        """End every server that was started."""
        with signals_held():
            for mode in tuple(self._arms):
                self._stop_server(mode)
            self._probe.close()

    def begin(self, argv: Sequence[str]) -> None:
        """Start the first server, settle what depends on it, and write empty captures."""
        first = self.scenario.modes[0]
        arm = self._start_server(first)
        self.scenario = resolve(self.scenario, on_cpu=arm.facts.device == "cpu")
        check_fits(arm.facts, longest_request(self.scenario))
        self._keep_both = fits_beside(arm.facts, self._probe)
        self._pool_tokens = arm.facts.pool_tokens
        self._plans = schedule(self.scenario)
        self._tracker.plan(self._plans)
        environment = self._environment(argv)
        for mode in self.scenario.modes:
            planned = sum(plan.mode == mode for plan in self._plans)
            self.captures[mode] = Capture(
                scenario=self.scenario,
                environment=environment,
                created_wall_ns=anchor().wall_ns,
                planned_runs=planned,
            )
            save(self.captures[mode], self._paths.captures[mode])

    def run_all(self) -> RadixbenchError | None:
        """Every run in turn; returns the error that ended the sweep, or the last incomplete run's."""
        for plan in self._plans:
            if self._should_stop():
                return self._interrupted()
            try:
                run = self._measure(plan)
            except RadixbenchError as error:
                return self._interrupted() if self._should_stop() else error
            self._keep(plan.mode, run)
            if self._should_stop():
                return self._interrupted()
            if run.status != "completed":
                self._incomplete = incomplete_because(run)
                if not self._arms[plan.mode].server.is_alive():
                    return self._incomplete
        return self._incomplete

    def _measure(self, plan: RunPlan) -> Run:
        arm = self._arms.get(plan.mode) or self._start_server(plan.mode)
        self._tracker.begin(plan)
        bench = Bench(self.scenario, self._probe, self._keep_text, self._should_stop)
        with self._explaining_death(arm.server):
            run = run_loop(measure(plan, bench, arm, self._tracker.requests))
        self._arms[plan.mode] = replace(arm, fresh=False)
        self._tracker.end(plan, run)
        return run

    def _keep(self, mode: Mode, run: Run) -> None:
        capture = self.captures[mode]
        self.captures[mode] = replace(
            capture, runs=(*capture.runs, run), interrupted=capture.interrupted or self._should_stop()
        )
        save(self.captures[mode], self._paths.captures[mode])

    def _interrupted(self) -> InterruptedRunError:
        for mode, capture in self.captures.items():
            self.captures[mode] = replace(capture, interrupted=True)
            with contextlib.suppress(
                OutputError
            ):  # what was saved before stays; the other arm is still saved
                save(self.captures[mode], self._paths.captures[mode])
        done = sum(len(capture.runs) for capture in self.captures.values())
        return InterruptedRunError(
            f"interrupted after {done} of {len(self._plans)} runs",
            remedy=f"what was measured is in {self._paths.directory}",
        )

    def _start_server(self, mode: Mode) -> Arm:
        if not self._keep_both:
            for other in tuple(self._arms):
                self._stop_server(other)
        self._tracker.note("start-server", f"starting the server with the cache {mode}", mode=mode)
        log = self._paths.server_log(mode)
        server = BundledServer(self._with_equal_pool(), mode, log, self._server_arguments)
        server.start()
        try:
            facts = run_loop(self._await_ready(server))
        except BaseException:
            server.stop()
            raise
        self._arms[mode] = Arm(server=server, facts=facts, log=LogTail(log))
        return self._arms[mode]

    def _with_equal_pool(self) -> Scenario:
        """The scenario, with the first server's pool size once that is known: arms differ in the cache alone."""
        if self._pool_tokens is None:
            return self.scenario
        engine = replace(self.scenario.engine, max_total_tokens=self._pool_tokens)
        return replace(self.scenario, engine=engine)

    async def _await_ready(self, server: BundledServer) -> ServerFacts:
        async with ServerClient(server.base_url) as client:
            with self._explaining_death(server):
                await client.wait_ready(
                    _READY_TIMEOUT_S, lambda: server.is_alive() and not self._should_stop()
                )
            return await read_facts(client)

    @contextlib.contextmanager
    def _explaining_death(self, server: BundledServer) -> Iterator[None]:
        """An ``IncompleteError`` of a server that has ended is replaced by that server's own last word."""
        try:
            yield
        except IncompleteError as error:
            if self._should_stop():
                raise InterruptedRunError("interrupted while a server started") from error
            if server.is_alive():
                raise
            raise server.death_error() from error

    def _stop_server(self, mode: Mode) -> None:
        self._arms.pop(mode).server.stop()

    def _environment(self, argv: Sequence[str]) -> Environment:
        devices = self._probe.devices()
        return collect(
            argv,
            gpus=tuple(device.name for device in devices),
            driver=next((device.driver for device in devices if device.driver), None),
        )
