"""Probes: their length, and what their hits say."""

from __future__ import annotations

import pytest

from radixbench.bench.protocol.probing import ask
from radixbench.bench.protocol.salt import Salts
from radixbench.mock.settings import CacheSettings, MockSettings, Reporting
from tests.bench.measuring import probe_for, sender_to
from tests.mock.start import running_mock


@pytest.mark.parametrize("page_size", [1, 16, 64])
async def test_a_sound_cache_finds_repeats_and_extensions(page_size: int) -> None:
    """All but the last token or page of a repeat, and all of the probe in what goes on after it."""
    async with (
        running_mock(MockSettings(cache=CacheSettings(page_size=page_size))) as mock,
        sender_to(mock.base_url) as sender,
    ):
        probe = probe_for(sender, page_size)
        seen = await ask(sender, probe)
    length = len(probe.ids)
    assert seen.repeat in probe.fair
    assert seen.extension == length
    assert seen.slack == page_size - 1
    assert seen.oddity is None


async def test_an_unknown_page_gets_a_long_probe() -> None:
    """Hybrid models have pages of hundreds of tokens: a probe of fewer would find nothing and prove nothing."""
    async with (
        running_mock(MockSettings(cache=CacheSettings(page_size=544))) as mock,
        sender_to(mock.base_url) as sender,
    ):
        seen = await ask(sender, probe_for(sender, None))
    assert seen.repeat == 544
    assert len(seen.probe.ids) == 1024
    assert seen.slack == 1023 - 544


async def test_salted_probes_find_nothing_where_plain_ones_would() -> None:
    """Without a reported 0 a silent answer counts as 0 because the plain repeat was told of."""
    settings = MockSettings(reporting=Reporting(cached="nonzero"))
    async with (
        running_mock(settings) as mock,
        sender_to(mock.base_url, body=Salts("sglang").body) as sender,
    ):
        seen = await ask(sender, probe_for(sender))
    assert (seen.repeat, seen.extension, seen.omits_zero) == (0, 0, True)
    assert [line.held for line in seen.checks(reuse=False)] == [True, True]


async def test_silence_is_no_zero_where_zeros_are_told() -> None:
    """A server that says 0 at a first visit and nothing later leaves it open."""
    settings = MockSettings(reporting=Reporting(cached="never"))
    async with running_mock(settings) as mock, sender_to(mock.base_url) as sender:
        seen = await ask(sender, probe_for(sender))
    assert (seen.repeat, seen.extension, seen.omits_zero) == (None, None, False)
    assert [line.held for line in seen.checks(reuse=True)] == [None, None]
    assert seen.oddity is None


async def test_what_an_earlier_run_left_is_told_apart_from_the_probe() -> None:
    """Asked again without a flush, the extension finds itself, which is more than the probe before it."""
    async with running_mock() as mock, sender_to(mock.base_url) as sender:
        probe = probe_for(sender)
        await ask(sender, probe)
        again = await ask(sender, probe)
    _, extensions = again.checks(reuse=True)
    length = len(probe.ids)
    assert extensions.detail.endswith(f": all of them, and {length // 2 - 1} that an earlier run left")
