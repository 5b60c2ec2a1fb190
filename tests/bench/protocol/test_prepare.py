"""Bringing a state about on servers that are honest, slow, or lie."""

from __future__ import annotations

import json
from dataclasses import replace
from http.client import HTTPConnection
from typing import Any

import pytest

from radixbench.bench.protocol.flushing import accept
from radixbench.bench.pulse import Pulse
from radixbench.capture.model import Run
from radixbench.client.flush import FlushOutcome
from radixbench.errors import IncompleteError, UsageError
from radixbench.metrics.summary import summarise
from radixbench.mock.settings import CacheSettings, Failure, Faults, Lies, MockSettings, Reporting
from radixbench.mock.which import Which
from radixbench.records import Mode
from radixbench.scenario.model import CacheState, LoadSpec, OffMode, TargetSpec
from radixbench.units import NS_PER_S
from tests.bench.measuring import Bencher
from tests.bench.sweeping import SMALL, check, scenario_for
from tests.mock.start import mock_process, running_mock


async def measured(settings: MockSettings, mode: Mode = "on", **changes: Any) -> Run:
    """One run against a mock that behaves like this."""
    async with running_mock(settings) as mock:
        return await Bencher(mock.base_url, scenario_for(mock.base_url, **changes)).run(mode)


@pytest.mark.parametrize("state", ["cold", "primed", "warm"])
async def test_an_honest_server_is_brought_into_every_state(state: CacheState) -> None:
    """What was declared is verified by the measured hits: none beforehand, the prefixes, or everything."""
    run = await measured(MockSettings(), cache_state=state)
    assert (run.protocol.declared, run.protocol.verified) == (state, True)
    expected = {"cold": [0, 64], "primed": [64], "warm": [79]}[state]
    assert sorted({record.cached_tokens for record in run.requests}) == expected
    assert run.protocol.probe_cached_tokens == 0
    assert run.protocol.flush_attempts == 2
    assert (run.protocol.priming_requests > 0) == (state != "cold")


@pytest.mark.parametrize("off_mode", ["salt", "flush"])
async def test_an_arm_without_reuse_on_a_server_with_a_cache(off_mode: OffMode) -> None:
    """By salt or by flush no request finds anything, and the record says which it was."""
    run = await measured(MockSettings(), "off", off_mode=off_mode)
    assert (run.protocol.declared, run.protocol.off_mode, run.protocol.verified) == ("off", off_mode, True)
    assert {record.cached_tokens for record in run.requests} == {0}


async def test_salts_that_nobody_heeds_are_noticed() -> None:
    """An off arm whose requests find something is no off arm."""
    run = await measured(MockSettings(cache=CacheSettings(honours_salt=False)), "off")
    assert run.protocol.verified is False
    assert "measured requests found" in run.protocol.evidence


async def test_flushing_before_each_request_goes_one_at_a_time() -> None:
    """Two requests in flight would flush each other's cache away, so that is refused in one line."""
    with pytest.raises(Exception, match="max_concurrency 1"):
        await measured(MockSettings(), "off", off_mode="flush", load=LoadSpec(max_concurrency=2))


async def test_a_shared_length_of_nothing_needs_no_priming() -> None:
    """The control cell of a primed sweep shares nothing, sends no primer and finds nothing."""
    run = await measured(MockSettings(), cache_state="primed", workload=replace(SMALL, shared=(0,)))
    assert run.protocol.verified is True
    assert run.protocol.priming_requests == 0
    assert {record.cached_tokens for record in run.requests} == {0}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (MockSettings(lies=Lies(flush="lies")), "a probe of 128 tokens still found 127 cached"),
        (MockSettings(faults=Faults(failures=(Failure(500, Which(first=1)),))), "a warm-up request failed"),
    ],
)
async def test_a_state_that_can_not_be_brought_about_leaves_its_reason(
    settings: MockSettings, said: str
) -> None:
    """A flush that lies and a server that doesn't answer end the run before it is measured."""
    with pytest.raises(IncompleteError, match=said):
        await measured(settings)


async def test_a_server_without_a_flush_is_no_server_to_measure_cold() -> None:
    """No run after it would fare better, so this isn't one run's fault; the line says how to get the call."""
    settings = MockSettings(lies=Lies(flush="absent"))
    async with running_mock(settings) as mock:
        target = TargetSpec(base_url=mock.base_url, engine="vllm")
        bench = Bencher(mock.base_url, scenario_for(mock.base_url, target=target))
        with pytest.raises(UsageError, match="no call to empty its cache: HTTP 404") as caught:
            await bench.run()
    assert "VLLM_SERVER_DEV_MODE=1" in str(caught.value)


def test_a_server_that_always_refuses_to_flush_ends_the_sweep_at_once() -> None:
    """One that never did it won't for the next run; one that did before has a bad moment, which costs this run alone."""
    refused = FlushOutcome(ok=False, status=200, body='{"success":false}', attempts=20)
    with pytest.raises(UsageError, match="cache not flushed after 20 tries: status 200"):
        accept(refused, "sglang", ever=False)
    with pytest.raises(IncompleteError, match="cache not flushed after 20 tries: status 200"):
        accept(refused, "sglang", ever=True)
    silent = FlushOutcome(ok=False, status=None, body="no answer", attempts=1)
    with pytest.raises(IncompleteError, match="status None"):
        accept(silent, "sglang", ever=False)


async def test_a_flush_nothing_depends_on_is_not_waited_for() -> None:
    """A salted arm asks a server that refuses for a second, before and after its run, and is measured."""
    run = await measured(MockSettings(lies=Lies(flush="unsuccessful")), "off")
    assert run.protocol.verified is True
    assert check(run, "flush").held is None
    assert "didn't empty its cache (HTTP 200" in check(run, "flush").detail
    assert run.protocol.flush_waited_ns < 5 * NS_PER_S, "the server's patience, not a speed"


@pytest.mark.parametrize("mode", ["on", "off"])
async def test_a_server_that_leaves_zeros_out_is_measured_all_the_same(mode: Mode) -> None:
    """The record keeps that its silence is a 0, so that an arm without a single hit has a hit rate of 0."""
    run = await measured(MockSettings(reporting=Reporting(cached="nonzero")), mode)
    assert (run.protocol.omits_zero, run.protocol.verified) == (True, True)
    assert None in {record.cached_tokens for record in run.requests}
    rate = summarise(run).figures["hit_rate"].value
    assert rate is not None
    assert (rate > 0) is (mode == "on")


async def test_requests_that_are_refused_race_for_nothing() -> None:
    """One at a time, every second one refused: what the others don't find nobody had computed before them."""
    run = await measured(MockSettings(faults=Faults(failures=(Failure(429, Which(every=2)),))))
    assert {record.http_status for record in run.requests} == {200, 429}
    account = summarise(run).cache
    assert account.shortfall is not None
    assert (account.raced, account.shortfall.concurrent, account.shortfall.unexplained) == (0, 0, 0)
    assert account.expected_low == account.expected_high == account.cached_tokens


async def test_slots_are_not_all_that_llamacpp_keeps() -> None:
    """Erasing them leaves its host prompt cache full: that is said, and what was sent before counts as kept."""
    settings = MockSettings(dialect="llamacpp")
    async with running_mock(settings) as mock:
        target = TargetSpec(base_url=mock.base_url, engine="llamacpp")
        bench = Bencher(mock.base_url, scenario_for(mock.base_url, target=target))
        first, second = await bench.run(), await bench.run()
    assert first.protocol.verified is True
    assert "host prompt cache" in check(first, "flush").detail
    assert (second.protocol.ledger_repeats, check(second, "ledger").held) == (6, False)


async def test_a_flush_that_is_refused_at_first_is_asked_again() -> None:
    """Refusals right after a request are waited out, and the waiting is recorded."""
    run = await measured(MockSettings(lies=Lies(flush_refusals=3)))
    assert run.protocol.verified is True
    assert run.protocol.flush_attempts == 5
    assert run.protocol.flush_waited_ns > 0


async def test_a_server_that_hangs_up_is_asked_again_before_the_run() -> None:
    """Warm-up goes as measured requests do, so that a connection which isn't kept costs none of those."""
    faults = Faults(cut_after_bytes=0, cut_kind="close", cut=Which(first=1))
    run = await measured(MockSettings(faults=faults))
    assert (run.status, run.protocol.verified) == ("completed", True)


async def test_a_busy_server_is_asked_again_before_the_run() -> None:
    """A few 503 and 429 during warm-up don't cost the run."""
    failures = (Failure(503, Which(first=1)), Failure(429, Which(first=2)))
    run = await measured(MockSettings(faults=Faults(failures=failures)))
    assert run.status == "completed"


@pytest.mark.parametrize(
    ("reporting", "verified"),
    [
        (Reporting(cached="never"), None),
        (Reporting(usage="never"), None),
        (Reporting(cached="nonzero"), True),
        (Reporting(cached_missing=Which(every=3)), None),
        (Reporting(overcount=1000, overcounted=Which(every=17)), None),
    ],
)
async def test_what_answers_leave_out_is_unknown_unless_it_is_always_a_zero(
    reporting: Reporting, verified: bool | None
) -> None:
    """Silence proves nothing, but for a server that is silent exactly where nothing was found."""
    for mode in ("on", "off"):
        run = await measured(MockSettings(reporting=reporting), mode)
        assert run.protocol.verified is verified or mode == "off"


async def test_a_renamed_model_is_told() -> None:
    """Answers that carry another name than the one asked for are counted."""
    run = await measured(MockSettings(faults=Faults(answer_model="somebody-else")))
    assert check(run, "model").held is False
    assert "somebody-else" in run.protocol.evidence


async def test_empty_answers_are_no_fault_of_the_state() -> None:
    """A model may say nothing; the run is complete and its state proved."""
    run = await measured(MockSettings(faults=Faults(empty=Which(every=2))))
    assert (run.status, run.protocol.verified) == ("completed", True)


async def test_a_pre_warmed_server_is_flushed_or_found_out() -> None:
    """With a flush it turns cold; without one its hits betray it."""
    warmed = CacheSettings(prewarmed_tokens=64)
    assert (await measured(MockSettings(cache=warmed))).protocol.verified is True
    settings = MockSettings(cache=warmed, lies=Lies(flush="absent"))
    async with running_mock(settings) as mock:
        target = TargetSpec(base_url=mock.base_url, engine="other")
        run = await Bencher(mock.base_url, scenario_for(mock.base_url, target=target)).run()
    assert run.protocol.verified is False
    assert check(run, "flush").held is None
    assert "has no call to empty its cache (HTTP 404" in check(run, "flush").detail
    assert check(run, "measured hits").held is False


async def test_another_client_at_the_same_time_is_seen_twice() -> None:
    """Its requests are in the server's counters, and what it left is in our hits."""
    with mock_process() as base_url:
        bench = Bencher(base_url, scenario_for(base_url))
        last = (await bench.asked()).workload.conversations[-1].turns[0].user_ids

        told: list[Pulse] = []

        def sneak(pulse: Pulse) -> None:
            told.append(pulse)
            if len(told) == 1:
                post(base_url, {"model": "mock", "prompt": list(last), "max_tokens": 1})

        bench.on_pulse = sneak
        run = await bench.run()
    assert check(run, "alone").held is False
    assert run.protocol.verified is False
    assert check(run, "measured hits").held is False


def post(base_url: str, body: dict[str, Any]) -> None:
    """Ask for a completion and wait for all of it, whatever else goes on in this process."""
    connection = HTTPConnection(base_url.removeprefix("http://"), timeout=30)
    connection.request("POST", "/v1/completions", json.dumps(body))
    answer = connection.getresponse()
    assert (answer.status, bool(answer.read())) == (200, True)
    connection.close()
