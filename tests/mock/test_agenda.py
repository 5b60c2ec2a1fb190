"""What is due, and when it is called."""

from __future__ import annotations

import asyncio

import pytest

from radixbench.clock import MonotonicClock
from radixbench.mock import alarm
from radixbench.mock.agenda import Agenda
from radixbench.units import NS_PER_MS

CLOCK = MonotonicClock()


async def called_in_order(agenda: Agenda) -> None:
    began, calls, done = CLOCK.now_ns(), list[tuple[str, int]](), asyncio.Event()

    def once(name: str) -> None:
        calls.append((name, CLOCK.now_ns() - began))
        if len(calls) == 5:
            done.set()

    def thrice() -> int | None:
        once("again")
        return None if len(calls) == 5 else began + 30 * NS_PER_MS

    agenda.put(began + 20 * NS_PER_MS, lambda: once("second"))
    agenda.put(began + 10 * NS_PER_MS, lambda: once("first"))
    agenda.put(began - 10 * NS_PER_MS, lambda: once("late"))
    agenda.put(began + 25 * NS_PER_MS, thrice)
    await done.wait()
    agenda.close()
    assert [name for name, _ in calls] == ["late", "first", "second", "again", "again"]
    assert all(at >= due * NS_PER_MS for (_, at), due in zip(calls, (0, 10, 20, 25, 30), strict=True)), (
        "called before its time"
    )


async def test_calls_come_in_their_order_and_not_early() -> None:
    """Whatever order they were put in, calls are made when due, never before; one past due is made at once."""
    await called_in_order(Agenda(CLOCK))


async def test_the_same_without_the_kernels_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the platform has no timer as a file the event loop's own does."""
    monkeypatch.setattr(alarm.sys, "platform", "other")
    await called_in_order(Agenda(CLOCK))


async def test_readers_get_their_turn() -> None:
    """A call that is always due again doesn't keep the event loop from anything else."""
    agenda, calls = Agenda(CLOCK), list[int]()

    def forever() -> int:
        calls.append(1)
        return -1

    agenda.put(0, forever)
    for _ in range(5):
        await asyncio.sleep(0.001)
    agenda.close()
    assert calls


async def test_a_call_may_put_another() -> None:
    """What is put from within a call is made too."""
    agenda, done = Agenda(CLOCK), asyncio.Event()
    agenda.put(1, lambda: agenda.put(CLOCK.now_ns() + NS_PER_MS, done.set))
    await done.wait()
    agenda.close()
