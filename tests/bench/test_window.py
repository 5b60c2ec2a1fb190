"""The measured window: which machine's clocks are read beside it."""

from __future__ import annotations

import pytest

from radixbench.metrics.gpu import device_clocks
from radixbench.mock.settings import MockSettings
from radixbench.stats.sample import Absent
from radixbench.telemetry import place
from tests.bench.measuring import Bencher
from tests.bench.sweeping import scenario_for
from tests.mock.start import running_mock


async def test_the_cards_of_this_machine_are_read_for_a_server_on_it() -> None:
    """On a loopback address."""
    async with running_mock(MockSettings()) as mock:
        run = await Bencher(mock.base_url, scenario_for(mock.base_url)).run()
    assert (run.telemetry.probe, run.telemetry.unread) == ("scripted", None)


async def test_no_card_is_read_for_a_server_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the cards here do, they don't do its work: clocks are unknown, and the run says why."""
    monkeypatch.setattr(place, "_is_own", lambda *_: False)
    async with running_mock(MockSettings()) as mock:
        run = await Bencher(mock.base_url, scenario_for(mock.base_url)).run()
    assert (run.telemetry.probe, run.telemetry.devices) == ("cpu", ())
    assert all(sample.sm_clock_mhz is None for sample in run.gpu)
    clocks = device_clocks(run)
    assert isinstance(clocks, Absent)
    assert clocks.reason in {
        "the server is at 127.0.0.1, which is no address of this machine",
        "the model ran on the CPU",
    }
    assert run.telemetry.unread == "the server is at 127.0.0.1, which is no address of this machine"
