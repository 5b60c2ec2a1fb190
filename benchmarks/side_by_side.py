"""Two ways of doing one thing, measured in turns in one process, as ratios with their spread.

The order alternates from repetition to repetition, so that neither side owns the quiet moments of a
machine that others use too. Process CPU time is what ratios are made of; wall time is kept beside it.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from radixbench.clock import MonotonicClock, process_cpu_ns
from radixbench.units import seconds


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds of CPU and of wall clock."""

    cpu: float
    wall: float


def took(work: Callable[[], Any]) -> tuple[Took, Any]:
    """What ``work`` took and what it returned."""
    clock = MonotonicClock()
    wall, cpu = clock.now_ns(), process_cpu_ns()
    result = work()
    return Took(seconds(process_cpu_ns() - cpu), seconds(clock.now_ns() - wall)), result


def in_turns(
    first: Callable[[], Took], second: Callable[[], Took], repetitions: int
) -> tuple[list[Took], list[Took]]:
    """Both measured ``repetitions`` times: first second, second first, …"""
    firsts: list[Took] = []
    seconds_: list[Took] = []
    for repetition in range(repetitions):
        sides = [(first, firsts), (second, seconds_)]
        for measure, times in sides if repetition % 2 == 0 else reversed(sides):
            times.append(measure())
    return firsts, seconds_


def ratio(numerator: list[Took], denominator: list[Took]) -> dict[str, Any]:
    """Ratios of paired repetitions: their median, least and greatest, of CPU and wall time; and the times."""

    def spread(kind: str) -> dict[str, float]:
        ratios = [getattr(a, kind) / getattr(b, kind) for a, b in zip(numerator, denominator, strict=True)]
        return {
            "median": round(statistics.median(ratios), 4),
            "least": round(min(ratios), 4),
            "greatest": round(max(ratios), 4),
        }

    return {
        "cpu": spread("cpu"),
        "wall": spread("wall"),
        "cpu_s": {
            "numerator": [round(time.cpu, 4) for time in numerator],
            "denominator": [round(time.cpu, 4) for time in denominator],
        },
    }


def say(text: str) -> None:
    """Progress, beside the document."""
    print(text, file=sys.stderr, flush=True)


def line(label: str, found: dict[str, Any]) -> None:
    """One ratio for people."""
    cpu, wall = found["cpu"], found["wall"]
    say(
        f"{label}: CPU {cpu['median']:.3f} ({cpu['least']:.3f} to {cpu['greatest']:.3f}), "
        f"wall {wall['median']:.3f} ({wall['least']:.3f} to {wall['greatest']:.3f})"
    )


def document(name: str, **content: Any) -> None:
    """The result: one JSON document, last on stdout."""
    print(json.dumps({"schema": f"radixbench.benchmark.{name}/1", **content}))
