"""How a measured window is watched: a few beats a second, and nothing else."""

from __future__ import annotations

import asyncio

import pytest

from radixbench.bench import pulse as pulse_module
from radixbench.bench.pulse import Count, Pulse, beating


async def test_the_first_beat_comes_at_once_and_the_last_before_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beats tell what was counted by then; when the window is over nothing beats any more."""
    monkeypatch.setattr(pulse_module, "BEAT_S", 0.01)
    told: list[Pulse] = []
    heard = asyncio.Event()

    def hear(pulse: Pulse) -> None:
        told.append(pulse)
        if pulse.done:
            heard.set()

    count = Count()
    async with beating(count, lambda: "SM 1410 MHz", hear):
        assert told == [Pulse(0, 0, 0, "SM 1410 MHz")]
        count.fault()
        count.answered(3, 8)
        await heard.wait()
    assert told[-1] == Pulse(3, 8, 1, "SM 1410 MHz")
    seen = len(told)
    await asyncio.sleep(0.05)
    assert len(told) == seen


async def test_a_fault_of_whoever_watches_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes out when the window ends, as our own fault."""
    monkeypatch.setattr(pulse_module, "BEAT_S", 0.01)
    beats: list[Pulse] = []
    stumbled = asyncio.Event()

    def stumble(pulse: Pulse) -> None:
        beats.append(pulse)
        if len(beats) == 2:
            stumbled.set()
            raise ZeroDivisionError

    async def window() -> None:
        async with beating(Count(), lambda: None, stumble):
            await stumbled.wait()

    with pytest.raises(ZeroDivisionError):
        await window()
