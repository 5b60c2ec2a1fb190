"""Cold runs on a cache that isn't: played against a server that lies, and caught by whatever still tells."""

from __future__ import annotations

import pytest

from radixbench.capture.model import Run
from radixbench.findings.state import state_fault
from radixbench.metrics.summary import summarise
from radixbench.mock.settings import CacheSettings, Lies, MockSettings, Reporting
from radixbench.mock.which import Which
from radixbench.records import Mode
from tests.bench.measuring import Bencher
from tests.bench.sweeping import scenario_for
from tests.mock.start import running_mock

NO_FLUSH = Lies(flush="lies")


async def played(settings: MockSettings, times: int, mode: Mode = "on") -> list[Run]:
    """The same run so many times in a row on one server."""
    async with running_mock(settings) as mock:
        bencher = Bencher(mock.base_url, scenario_for(mock.base_url))
        return [await bencher.run(mode) for _ in range(times)]


def said(run: Run) -> str | None:
    """What speaks against the run's state."""
    fault = state_fault(run, summarise(run))
    return None if fault is None else fault.text


async def test_the_same_prompts_again_on_a_server_that_neither_flushes_nor_tells() -> None:
    """The first run was cold, the second isn't: the counters know."""
    first, second = await played(MockSettings(lies=NO_FLUSH, reporting=Reporting(cached="never")), 2)
    assert said(first) is None
    assert "/metrics counted" in str(said(second))
    assert second.protocol.ledger_repeats == len(second.requests)


async def test_a_server_that_flushes_and_tells_nothing_is_not_accused() -> None:
    """Its counters bear out both runs of the same prompts."""
    for run in await played(MockSettings(reporting=Reporting(cached="never")), 2):
        assert said(run) is None


async def test_a_salt_nobody_heeds_on_a_server_that_does_not_tell() -> None:
    """The counters know of the off arm's hits."""
    settings = MockSettings(cache=CacheSettings(honours_salt=False), reporting=Reporting(cached="never"))
    (run,) = await played(settings, 1, "off")
    assert "in a run declared off by salt" in str(said(run))


@pytest.mark.parametrize("every", [2, 3])
async def test_answers_that_tell_now_and_then_accuse_nobody_wrongly(every: int) -> None:
    """What some leave out the counters say, and they say what is possible."""
    settings = MockSettings(reporting=Reporting(cached_missing=Which(every=every)))
    for mode in ("on", "off"):
        (run,) = await played(settings, 1, mode)
        assert said(run) is None
