"""How long a sweep would take on this CPU, within a factor of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from radixbench.bench.layout import LaidOut
from radixbench.model.outline import Outline
from radixbench.scenario.cells import at_cell
from radixbench.scenario.cells import cells as every_cell
from radixbench.scenario.model import Scenario
from radixbench.units import Seconds

_DECODE_LAYER_S: Seconds = 0.0006  # what a layer costs in a decode step besides arithmetic
_START_S: Seconds = 8.0
_PREPARE_S: Seconds = 0.8
_REPORT_S: Seconds = 4.0
_EFFICIENCY = 0.7  # of a plain product's speed, over all of prefill


@dataclass(frozen=True, slots=True)
class Pace:
    """A model's shape and the speed of what it would run on."""

    shape: Outline
    flops_per_s: float


def prepared_s(scenario: Scenario, laid: LaidOut, pace: Pace | None, *, reuse: bool) -> Seconds | None:
    """What one run of a cell takes, preparation included; ``scenario`` has the cell's values in it.

    An open loop takes at least as long as its conversations take to start. A warm run is played twice.
    """
    if pace is None:
        return None
    shape = pace.shape
    prefill = decode = 0.0
    for ask in laid.asks:
        cached = ask.cached if reuse else 0
        prefill += shape.flops(cached, ask.prompt - cached)
        decode += ask.output * shape.flops(ask.prompt, 1)
    at_once = min(scenario.load.max_concurrency or laid.conversations, max(laid.conversations, 1))
    steps = sum(ask.output for ask in laid.asks) / max(at_once, 1)
    busy = (prefill + decode) / (_EFFICIENCY * pace.flops_per_s) + steps * shape.layers * _DECODE_LAYER_S
    took = max(busy + laid.idle_s / max(at_once, 1), laid.starting_s)
    return _PREPARE_S + took * (2 if scenario.cache_state == "warm" else 1)


def sweep_s(scenario: Scenario, cells: Sequence[tuple[Seconds | None, Seconds | None]]) -> Seconds | None:
    """All runs of both arms with servers and report; ``None`` where a cell's time is unknown.

    Each setting of the server is started once for each mode, or for both where one server has both arms.
    """
    settings = {at_cell(scenario, cell).engine for cell in every_cell(scenario)}
    servers = len(settings) * (len(scenario.modes) if scenario.off_mode == "flag" else 1)
    total = _START_S * servers + _REPORT_S
    for on, off in cells:
        if on is None or off is None:
            return None
        total += scenario.seeds * sum(on if mode == "on" else off for mode in scenario.modes)
    return total
