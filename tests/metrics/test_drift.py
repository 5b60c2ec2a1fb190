"""Drift within a run: found where like requests drift, and not where they only differ or only wander."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from radixbench.capture.model import Run
from radixbench.metrics.answers import sort_out
from radixbench.metrics.drift import MIN_POINTS, Drift, drifts, trend_of
from radixbench.records import RequestRecord, StepRecord
from radixbench.stats.sample import Absent
from tests.builders import make_request, make_run, ns

Values = NDArray[np.float64]
CONCURRENCY = 4


def points(values: Values) -> list[tuple[int, float, float]]:
    """One value every 100 ms."""
    return [(ns(0.1 * i), float(value), float(value)) for i, value in enumerate(values)]


def normal(rng: np.random.Generator, n: int) -> Values:
    """Independent noise of 20 %."""
    return np.exp(rng.normal(0, 0.2, n))


def heavy(rng: np.random.Generator, n: int) -> Values:
    """A tail without a variance."""
    return 1.0 + rng.pareto(2.0, n)


def wandering(rng: np.random.Generator, n: int) -> Values:
    """Each value resembles the one before, as waits do."""
    noise = rng.normal(size=n)
    wander = np.empty(n)
    wander[0] = noise[0] / np.sqrt(1 - 0.7**2)
    for i in range(1, n):
        wander[i] = 0.7 * wander[i - 1] + noise[i]
    return np.exp(0.2 * wander)


def queue(rng: np.random.Generator, n: int) -> Values:
    """Sojourn times of a queue with 80 % load that begins empty."""
    gaps, wait = rng.exponential(1 / 0.8, n), np.zeros(n)
    for i in range(1, n):
        wait[i] = max(0.0, wait[i - 1] + 1.0 - gaps[i])
    return wait + 1.0


def waves(rng: np.random.Generator, n: int) -> Values:
    """Eight requests that go through each batch in turn, the last waiting eight times as long as the first."""
    return (np.arange(n) % 8 + 1.0) * np.exp(rng.normal(0, 0.05, n))


@pytest.mark.parametrize("noise", [normal, heavy, wandering, queue, waves])
def test_noise_is_hardly_ever_drift(noise: Callable[[np.random.Generator, int], Values]) -> None:
    """At most 2 % of 300 runs without drift are accused, whatever their noise."""
    rng = np.random.default_rng(5)
    accused = 0
    for n in (MIN_POINTS, 2 * MIN_POINTS):
        for _ in range(150):
            one = trend_of("ttft", points(noise(rng, n)))
            assert one is not None
            accused += one.found
    assert accused <= 6


@pytest.mark.parametrize("change", [0.3, -0.25])
def test_a_drift_is_found_beneath_noise(change: float) -> None:
    """A quarter or more over the run, 10 % of noise: found in nine of ten runs, and told about as large as it is."""
    rng = np.random.default_rng(6)
    found = []
    for _ in range(50):
        one = trend_of("ttft", points(np.exp(rng.normal(0, 0.1, 96)) * (1 + change * np.linspace(0, 1, 96))))
        assert one is not None
        found.append(one)
    assert sum(one.found for one in found) >= 45
    assert np.median([one.change for one in found]) == pytest.approx(change, rel=0.25)
    assert np.median([one.last / one.first for one in found]) == pytest.approx(1 + change, rel=0.1)


def test_too_few_values_have_no_trend() -> None:
    """Below the fewest, waits that resemble their neighbours can't be told from a trend."""
    assert trend_of("ttft", points(np.linspace(1, 2, MIN_POINTS - 1))) is None


def test_very_many_values_are_thinned() -> None:
    """A hundred thousand requests take no longer, and the drift stays what it is."""
    one = trend_of("ttft", points(1.0 + 0.5 * np.linspace(0, 1, 100_000)))
    assert one is not None
    assert one.found
    assert one.n == 100_000
    assert one.change == pytest.approx(0.5 / 1.25, rel=0.02)


@pytest.mark.parametrize("shape", ["heating", "sudden"])
def test_drift_need_not_be_a_line(shape: str) -> None:
    """A card that heats up and then stays hot, a neighbour that begins to work: both are found in four of five runs."""
    rng, at = np.random.default_rng(7), np.linspace(0, 1, 200)
    course = 1 + 0.3 * (1 - np.exp(-4 * at)) if shape == "heating" else np.where(at < 0.5, 1.0, 1.3)
    runs = [trend_of("ttft", points(course * np.exp(rng.normal(0, 0.05, 200)))) for _ in range(40)]
    assert sum(one is not None and one.found for one in runs) >= 32


def closed(n: int, ttft: Callable[[int], float], **facts: object) -> list[RequestRecord]:
    """Streams that ask one after the other, each answer half a second after its first token, the first waves staggered."""
    requests = []
    free = [0.01 * stream for stream in range(CONCURRENCY)]
    for number in range(n):
        stream = number % CONCURRENCY
        wait = ttft(number)
        own = {key: value(number) if callable(value) else value for key, value in facts.items()}
        requests.append(make_request(number, send_s=free[stream], ttft_s=wait, output=6, gap_s=0.1, **own))
        free[stream] += wait + 0.51
    return requests


def found(run: Run) -> dict[str, Drift]:
    """The drifts that are told of a run, by figure."""
    trends = drifts(sort_out(run))
    assert not isinstance(trends, Absent), trends
    return {one.figure: one for one in trends if one.found}


def test_like_requests_that_slow_down() -> None:
    """TTFT that doubles over a run is drift, in E2E latency too; the pace of decoding stayed."""
    run = make_run(closed(100, lambda n: 0.2 * (1 + n / 100)), mode="off")
    assert set(found(run)) == {"ttft"} | {"e2e"} & set(found(run))
    drift = found(run)["ttft"]
    assert drift.change == pytest.approx(0.66, abs=0.08)
    assert drift.first < 0.25 < 0.35 < drift.last
    assert drift.backlog is None


def test_a_steady_run_is_level() -> None:
    """Nothing is told where nothing changes."""
    assert found(make_run(closed(100, lambda _: 0.2), mode="off")) == {}


def test_prompts_that_grow_are_no_drift() -> None:
    """Later turns are longer and take longer: each is held against its own kind."""
    size = {"prompt_tokens": lambda n: 100 * 2 ** (n // 20), "cached": 0}
    run = make_run(closed(100, lambda n: 0.001 * 100 * 2 ** (n // 20), **size), mode="off")
    assert found(run) == {}


def test_a_cache_that_fills_is_no_drift() -> None:
    """Misses come first and hits later: each kind is level, and the run is not accused."""

    def miss(n: int) -> bool:
        return n % (3 + n // 5) == 0

    facts = {"prompt_tokens": 1000, "cached": lambda n: 0 if miss(n) else 960}
    run = make_run(closed(120, lambda n: 0.8 if miss(n) else 0.05, **facts), mode="on")
    assert found(run) == {}


def test_hits_that_wait_for_ever_fewer_misses_are_no_drift() -> None:
    """As the cache fills, hits get faster since the server has less to compute; that is what a cache is for."""
    facts = {"prompt_tokens": 1000, "cached": lambda n: 0 if n < 60 and n % 3 == 0 else 960}
    run = make_run(closed(120, lambda n: 0.4 - 0.3 * n / 120, **facts), mode="on")
    assert found(run) == {}
    warm = make_run(closed(120, lambda n: 0.4 - 0.3 * n / 120, prompt_tokens=1000, cached=960), mode="on")
    assert found(warm)["ttft"].change < -0.5


def test_a_cache_that_fills_a_little_explains_a_little() -> None:
    """A tenth less computed in the second half bears a fall of a third, and none of three quarters."""
    facts = {"prompt_tokens": 1000, "cached": lambda n: 500 if n < 60 else 550}
    run = make_run(closed(120, lambda n: 0.4 - 0.12 * n / 120, **facts), mode="on")
    assert found(run) == {}
    steep = make_run(closed(120, lambda n: 0.4 - 0.3 * n / 120, **facts), mode="on")
    assert found(steep)["ttft"].change < -0.5


def test_unknown_hits_make_no_kinds() -> None:
    """Where a cache is on and nobody tells what it held, requests can't be told apart: TTFT is not judged."""
    run = make_run(closed(100, lambda n: 0.2 * (1 + n / 100), cached=None), mode="on")
    trends = drifts(sort_out(run))
    assert isinstance(trends, Absent)
    assert "fewer than 48 like requests" in trends.reason


def test_an_overload_is_told_by_its_backlog() -> None:
    """Ten requests a second for a server that does eight: TTFT grows since the backlog does."""
    requests = []
    for n in range(120):
        due, done = n / 10, (n + 1) / 8
        requests.append(make_request(n, send_s=due, due_ns=ns(due) - 1000, ttft_s=done - due, output=1))
    run = make_run(requests, mode="off")
    drift = found(run)["ttft"]
    assert drift.backlog is not None
    assert drift.backlog[0] < 5 < 15 < drift.backlog[1]


def step(n: int, start: float, length: float) -> StepRecord:
    """A decode step of four requests."""
    return StepRecord("decode", n, ns(start), ns(start + length), 0, 0, 4, 0, 4, 0, 0, 400, 0, 0)


def test_the_servers_own_steps_tell_the_pace() -> None:
    """Where the server tells its decode steps, they stand for the pace: no batch of prefill lies in them."""
    requests = closed(100, lambda _: 0.2)
    steps = [step(n, 0.2 * n, 0.01 * (1 + n / 100)) for n in range(80)]
    drift = found(make_run(requests, mode="off", steps=tuple(steps)))
    assert set(drift) == {"step"}
    assert drift["step"].change == pytest.approx(0.55, abs=0.1)


def test_short_runs_are_not_judged() -> None:
    """A first wave alone has no course of its own, and the reason is told."""
    trends = drifts(sort_out(make_run([make_request(n) for n in range(8)])))
    assert isinstance(trends, Absent)
    assert isinstance(drifts(sort_out(make_run([]))), Absent)
