"""Captures whose requests obey a known law: what a token costs is chosen, so that it can be recovered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from radixbench.capture.model import Capture, Run
from radixbench.records import Mode
from tests.builders import make_capture, make_request, make_run, prompt_ids

QUESTION = 32
Noise = Callable[[int], float]


def steady(_: int) -> float:
    """No noise at all."""
    return 1.0


@dataclass(frozen=True)
class Cost:
    """Seconds: of every request, per computed token, per cached token, per computed token squared."""

    base: float
    computed: float
    cached: float = 0.0
    squared: float = 0.0

    def of(self, computed: int, cached: int) -> float:
        """The time to the first token."""
        return self.base + self.computed * computed + self.cached * cached + self.squared * computed**2


def lawful_run(
    cost: Cost,
    *,
    mode: Mode,
    shared: int,
    seed: int = 0,
    order: int = 0,
    requests: int = 12,
    misses: int = 3,
    noise: Noise = steady,
    told: bool = True,
    cell: dict[str, int | str] | None = None,
    **options: Any,
) -> Run:
    """A cell's run: with the cache on all but the first ``misses`` find the shared part; ``noise`` multiplies."""
    records = []
    for number in range(requests):
        cached = shared if mode == "on" and number >= misses else 0
        records.append(
            make_request(
                number,
                send_s=5.0 * number,
                ttft_s=cost.of(QUESTION + shared - cached, cached) * noise(number),
                prompt_tokens=QUESTION + shared,
                cached=cached if told else None,
            )
        )
    prompts = [prompt_ids(seed, number, shared=shared, question=QUESTION) for number in range(requests)]
    where = {"shared_tokens": shared} if cell is None else cell
    return make_run(records, seed=seed, cell=where, mode=mode, order=order, prompts=prompts, **options)


def lawful_arm(
    costs: Sequence[Cost], *, mode: Mode, lengths: Sequence[int] = (0, 1024, 4096), **options: Any
) -> tuple[Run, ...]:
    """All cells of an arm, a cost for each seed; orders leave room for the other arm between."""
    cells = [(seed, shared) for seed in range(len(costs)) for shared in lengths]
    return tuple(
        lawful_run(
            costs[seed], mode=mode, shared=shared, seed=seed, order=2 * place + (mode == "off"), **options
        )
        for place, (seed, shared) in enumerate(cells)
    )


def lawful_sweep(
    on: Sequence[Cost], off: Sequence[Cost], *, modes: tuple[Mode, Mode] = ("on", "off"), **options: Any
) -> tuple[Capture, Capture]:
    """Both captures of a sweep."""
    return (
        make_capture(lawful_arm(on, mode=modes[0], **options)),
        make_capture(lawful_arm(off, mode=modes[1], **options)),
    )
