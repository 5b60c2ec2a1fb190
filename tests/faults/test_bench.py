"""Faults people met when the state of a cache was not what they took it for, each by its number."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.bench.ledger import Ledger
from radixbench.bench.protocol.probing import Probe, Probed, ask
from radixbench.bench.protocol.salt import PREFIX, Salts
from radixbench.bench.protocol.sender import Sender
from radixbench.mock.settings import CacheSettings, Lies, MockSettings
from radixbench.scenario.model import LoadSpec, TargetSpec, WorkloadSpec
from radixbench.units import Tokens
from radixbench.workloads.conversation import TokenIds
from radixbench.workloads.tokens import TokenSource
from radixbench.workloads.warmup import probe, warmup
from tests.bench.measuring import Bencher, probe_for, sender_to
from tests.bench.sweeping import check, scenario_for
from tests.mock.start import running_mock

NO_FLUSH = MockSettings(lies=Lies(flush="absent"))


def unflushable(base_url: str) -> Bencher:
    """A bench on a server of unknown make, which has no call to empty its cache."""
    scenario = scenario_for(base_url, target=TargetSpec(base_url=base_url, engine="other"))
    return Bencher(base_url, scenario)


async def test_fault_1_the_same_cold_workload_twice() -> None:
    """A second cold run of the same prompts on a server that keeps them is no cold run, by its hits and the ledger."""
    async with running_mock(NO_FLUSH) as mock:
        bench = unflushable(mock.base_url)
        first, second = await bench.run(), await bench.run()
    assert first.protocol.verified is True
    assert second.protocol.verified is False
    assert "more than this run had put there" in second.protocol.evidence
    assert (first.protocol.ledger_repeats, second.protocol.ledger_repeats) == (0, 6)
    assert check(second, "ledger").held is False


async def test_fault_8_the_warm_up_is_never_a_measured_prompt() -> None:
    """Nothing that is sent before the measured requests begins with the first page of one of them."""
    async with running_mock() as mock:
        bench = Bencher(mock.base_url, scenario_for(mock.base_url))
        run, asked = await bench.run(), await bench.asked()
    warm = warmup(count=9, prompt_len=128, output_len=1, seed=0, tokens=asked.tokens)
    before = [turn.user_ids for talk in warm.conversations for turn in talk.turns]
    before.append(probe(prompt_len=128, seed=0, tokens=asked.tokens))
    firsts = {turn.user_ids[0] for talk in asked.workload.conversations for turn in talk.turns}
    assert not firsts & {ids[0] for ids in before}
    assert min(record.cached_tokens or 0 for record in run.requests) == 0


async def test_fault_10_priming_warms_the_very_prefix_that_is_measured() -> None:
    """Primers are the leading tokens of the measured prompts; every request then finds its whole prefix."""
    async with running_mock() as mock:
        bench = Bencher(mock.base_url, replace(scenario_for(mock.base_url), cache_state="primed"))
        run = await bench.run()
    assert run.protocol.verified is True
    assert (run.protocol.priming_requests, run.protocol.primed_tokens) == (3, 2 * 64)
    assert len(run.prompts.held) == 2
    assert [record.cached_tokens for record in run.requests] == [64] * 6


class _Scripted(Sender):
    """A sender whose server finds repeats and extensions as told."""

    __slots__ = ("found",)

    async def cached(self, ids: TokenIds, what: str, *, salted: bool = True) -> int | None:
        """The next answer of the script."""
        return self.found.pop(0)


async def probed(*found: int | None, page_size: int | None = 16) -> Probed:
    """What a server that answers like this is told to be: first visit, repeat, extension."""
    async with running_mock() as mock, sender_to(mock.base_url) as real:
        sender = _Scripted(real.client, real.tokens, 0, 1, real.body, Ledger(16))
        object.__setattr__(sender, "found", list(found))
        return await ask(sender, probe_for(real, page_size))


async def test_fault_74_exact_repeats_hit_and_extensions_never() -> None:
    """The check sends both shapes, says so in two lines, and tells what this server can't do."""
    seen = await probed(0, 112, 0)
    repeats, extensions = seen.checks(reuse=True)
    assert (repeats.name, repeats.held) == ("exact repeats", True)
    assert (extensions.name, extensions.held) == ("extensions", False)
    assert seen.oddity is not None
    assert "extensions never" in seen.oddity


async def test_fault_74_a_server_that_never_finds_extensions() -> None:
    """Through the whole protocol: repeats are found, extensions aren't, and no measured prefix gains anything."""
    async with running_mock(MockSettings(cache=CacheSettings(finds="repeats"))) as mock:
        run = await Bencher(mock.base_url, scenario_for(mock.base_url)).run()
    assert (check(run, "exact repeats").held, check(run, "extensions").held) == (True, False)
    assert check(run, "flush").held is True
    assert "extensions never" in run.protocol.evidence
    assert {record.cached_tokens for record in run.requests} == {0}


async def test_fault_76_a_server_that_never_finds_repeats() -> None:
    """A hybrid model's cache: a prompt sent again finds nothing, which proves no flush, and extensions are found."""
    async with running_mock(MockSettings(cache=CacheSettings(finds="extensions"))) as mock:
        bench = Bencher(mock.base_url, scenario_for(mock.base_url))
        run = await bench.run()
    assert (check(run, "exact repeats").held, check(run, "extensions").held) == (False, True)
    assert check(run, "flush").held is None
    assert "never finds a repeat that could prove it" in check(run, "flush").detail
    assert run.protocol.probe_cached_tokens is None
    assert "exact repeats aren't" in run.protocol.evidence
    assert sorted({record.cached_tokens for record in run.requests}) == [0, 64]


async def test_fault_76_a_prefix_is_primed_without_repeats() -> None:
    """Such a server can't show that a primer is there by finding it again; the measured prompts that go on after it do."""
    async with running_mock(MockSettings(cache=CacheSettings(finds="extensions"))) as mock:
        run = await Bencher(mock.base_url, scenario_for(mock.base_url, cache_state="primed")).run()
    assert check(run, "priming").held is None
    assert check(run, "measured hits").held is True
    assert {record.cached_tokens for record in run.requests} == {64}


async def test_fault_76_a_hybrid_that_finds_nothing_again() -> None:
    """A server whose cache never finds anything is told apart, and its run isn't called cold."""
    seen = await probed(0, 0, 0)
    assert [line.held for line in seen.checks(reuse=True)] == [False, False]
    assert seen.oddity is not None
    assert "neither a repeat nor an extension" in seen.oddity
    async with running_mock(MockSettings(cache=CacheSettings(enabled=False))) as mock:
        run = await Bencher(mock.base_url, scenario_for(mock.base_url)).run()
    assert run.protocol.verified is False
    assert "neither a repeat nor an extension" in run.protocol.evidence


@pytest.mark.parametrize("found", [112, 127])
async def test_fault_77_a_full_hit_recomputes_a_block_or_a_token(found: Tokens) -> None:
    """Of a prompt of exactly 8 blocks of 16 a server may find (8 - 1) x 16 or 8 x 16 - 1; both are sound."""
    seen = await probed(0, found, 128)
    assert seen.probe.fair == {112, 127}
    assert seen.oddity is None
    assert [line.held for line in seen.checks(reuse=True)] == [True, True]


@pytest.mark.parametrize(("page_size", "found"), [(16, 112), (1, 127)])
async def test_fault_77_through_the_whole_protocol(page_size: Tokens, found: Tokens) -> None:
    """A server with such pages finds so much of the repeated probe, and its run is verified."""
    settings = MockSettings(cache=CacheSettings(page_size=page_size))
    async with running_mock(settings) as mock:
        run = await Bencher(mock.base_url, scenario_for(mock.base_url)).run()
    repeats = check(run, "exact repeats")
    assert (repeats.held, run.protocol.verified) == (True, True)
    assert f"sent again found {found} cached" in repeats.detail


def test_fault_77_the_probe_is_whole_blocks() -> None:
    """Whatever a page holds, the probe is a whole number of them, and several."""
    sender = type("Anyone", (), {"seed": 0, "tokens": _tokens()})
    for page in (1, 16, 48, 64, 256):
        length = len(Probe.of(sender, page, None).ids)
        assert length % page == 0
        assert length >= 2 * page


def _tokens() -> object:
    return TokenSource.of(8192, families=8)


def test_fault_98_a_salt_can_not_equal_a_model_name() -> None:
    """Every salt has the tool's own word in front, is new within a run and between runs."""
    first, second = Salts("vllm"), Salts("vllm")
    salts = [supply.body()["cache_salt"] for supply in (first, first, second, second)]
    assert len(set(salts)) == 4
    assert all(salt.startswith(PREFIX) and PREFIX == "radixbench-" for salt in salts)
    assert Salts("llamacpp").body() == {"cache_prompt": False}


async def test_fault_1_a_prefix_that_was_there_before_is_seen_in_the_sum() -> None:
    """All requests of a group in flight together could each explain a hit by the others; not all of them can."""
    settings = replace(NO_FLUSH, cache=CacheSettings(prewarmed_tokens=64))
    async with running_mock(settings) as mock:
        bench = unflushable(mock.base_url)
        bench.scenario = replace(
            bench.scenario,
            workload=WorkloadSpec(shared=(64,), groups=1, prompts_per_group=8, question_len=16, output_len=2),
            load=LoadSpec(max_concurrency=8),
        )
        run = await bench.run()
    assert run.protocol.verified is False
