"""Clocks, heat and power on the time axis of the whole sweep, and when the card was held back.

Samples of both arms lie on one wall-clock axis where the captures overlap in time, as interleaved arms
do; else each arm starts at 0. ``MAX_ROWS`` points are shared out among the panels. From
``MANY_DEVICES`` on, only SM clocks and reasons are drawn; the table has the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from radixbench.capture.model import Run
from radixbench.compare.change import CellClocks
from radixbench.metrics.residency import never_at_work, residency
from radixbench.records import GpuSample
from radixbench.report import readings, text
from radixbench.report.cells import arm_cell, cell_title
from radixbench.report.channels import (
    CPU_CHANNELS,
    GPU_CHANNELS,
    GRID_HEADER,
    Channel,
    grid_rows,
    samples,
    spoken,
    thinned,
)
from radixbench.report.evidence import Evidence
from radixbench.report.held import cell_rows, held_notes, held_rows, start_temperature, window_of
from radixbench.report.model import Figure, Grid, Panel, Row
from radixbench.report.strips import reason_panel
from radixbench.units import NS_PER_S

MAX_ROWS = 2400
MANY_DEVICES = 3
INSET, BARE_INSET = 124, 44
"""What an axis takes at the left: beside a strip, whose labels are long, and where there is none."""

_MOST_CELLS = 6
_TITLE = "Clocks and throttling over the sweep"
_NO_GPU = "No GPU was read: these are frequency and load of the processor that measured."


class Axis(NamedTuple):
    """Turns a moment of a run into seconds on the figure's axis; ``origins`` are wall times by arm."""

    origins: dict[str, int]
    shared: bool
    end: float

    def at(self, side: Evidence, run: Run, moment_ns: int) -> float:
        """Seconds since the origin of the run's arm."""
        return _seconds(run.clock_anchor.wall_at(moment_ns) - self.origins[side.arm.slot])

    @property
    def title(self) -> str:
        """What the axis measures, in words."""
        return "seconds since the first run" if self.shared else "seconds since the first run of each arm"


def _seconds(ns: int) -> float:
    return round(ns / NS_PER_S, 3)


def time_axis(sides: Sequence[Evidence]) -> Axis:
    """One origin for captures that overlap in time, one for each arm otherwise."""
    spans = {side.arm.slot: _span(side) for side in sides if side.capture.runs}
    if not spans:
        return Axis({}, shared=True, end=1.0)
    first = min(start for start, _ in spans.values())
    shared = max(start for start, _ in spans.values()) < min(end for _, end in spans.values())
    origins: dict[str, int] = {slot: first if shared else start for slot, (start, _) in spans.items()}
    return Axis(origins, shared, max(_seconds(end - origins[slot]) for slot, (_, end) in spans.items()))


def _span(side: Evidence) -> tuple[int, int]:
    runs = side.capture.runs
    return (
        min(run.clock_anchor.wall_at(run.start_ns) for run in runs),
        max(run.clock_anchor.wall_at(run.end_ns) for run in runs),
    )


def clocks_figure(sides: Sequence[Evidence], cells: Sequence[CellClocks] = ()) -> Figure:
    """Panels for every device and reading there is; on a machine without a GPU those of the CPU.

    ``cells`` are what a comparison concludes from the clocks, told in the notes.
    """
    found = [sample for side in sides for run in side.capture.runs for sample in run.gpu]
    devices = _at_work([sample for sample in found if _is_gpu(sample)])
    axis = time_axis(sides)
    if devices:
        return _gpu_figure(sides, axis, devices, cells)
    panels = _panels(sides, axis, CPU_CHANNELS, None, MAX_ROWS // len(CPU_CHANNELS))
    if not panels:
        absent = "No clock or load was recorded."
        return Figure("clocks", _TITLE, readings.CLOCKS, (), absent=absent, notes=_probe_notes(sides))
    grid = Grid(GRID_HEADER, tuple(grid_rows(sides, CPU_CHANNELS, None)))
    notes = (_NO_GPU, *_costs(sides), *_probe_notes(sides))
    return Figure("clocks", _TITLE, readings.CLOCKS + readings.CPU, panels, grid, notes=notes)


def _gpu_figure(
    sides: Sequence[Evidence], axis: Axis, devices: Sequence[int], cells: Sequence[CellClocks]
) -> Figure:
    channels = GPU_CHANNELS if len(devices) < MANY_DEVICES else GPU_CHANNELS[:1]
    budget = MAX_ROWS // (len(devices) * len(channels))
    panels: list[Panel] = []
    rows: list[tuple[str, ...]] = []
    for device in devices:
        shown = _panels(sides, axis, channels, device, budget)
        strip = reason_panel(sides, axis.at, device, axis.title, axis.end, INSET)
        panels += [*shown[:1], *([strip] if strip else []), *shown[1:]]
        rows += [
            *grid_rows(sides, GPU_CHANNELS, device),
            *cell_rows(sides, device),
            *held_rows(sides, device),
        ]
    if not any(panel.kind == "reasons" for panel in panels):
        panels = [replace(panel, inset=BARE_INSET) for panel in panels]
    rows += _gap_rows(cells)
    notes = (*held_notes(sides, devices), *_meanings(cells), *_costs(sides), *_probe_notes(sides))
    grid = Grid(GRID_HEADER, tuple(rows))
    return Figure("clocks", _TITLE, readings.CLOCKS + readings.GPU, tuple(panels), grid, notes=notes)


def _at_work(found: Sequence[GpuSample]) -> list[int]:
    """The devices that did anything in any run; all of them where none did."""
    by_device: dict[int, list[GpuSample]] = {}
    for sample in found:
        by_device.setdefault(sample.device, []).append(sample)
    busy = [device for device, read in by_device.items() if not never_at_work(read)]
    return sorted(busy or by_device)


def _is_gpu(sample: GpuSample) -> bool:
    read = (sample.sm_clock_mhz, sample.memory_clock_mhz, sample.event_reasons, sample.power_mw)
    return any(reading is not None for reading in read)


def _meanings(cells: Sequence[CellClocks]) -> Iterable[str]:
    """What the clocks do to the factors of each cell, those first that they could explain most of."""
    speaking = sorted((cell for cell in cells if cell.text), key=lambda cell: -(cell.explains or 0.0))
    for cell in speaking[:_MOST_CELLS]:
        yield f"{cell_title(cell.cell)}: {cell.text}."
    if len(speaking) > _MOST_CELLS:
        yield f"The clocks speak against {text.plural(len(speaking) - _MOST_CELLS, 'more cell')}: see the caveats."


def _gap_rows(cells: Sequence[CellClocks]) -> Iterable[tuple[str, ...]]:
    """How far the arms' clocks, means over runs of medians, are apart in each cell, as a share of the faster."""
    for cell in cells:
        if cell.gap is not None:
            name = f"gap of the arms' SM clocks, {cell_title(cell.cell)}"
            yield (
                "slowest",
                "A and B",
                name,
                text.MISSING,
                text.percent(cell.gap),
                text.MISSING,
                text.MISSING,
            )


def _costs(sides: Sequence[Evidence]) -> Iterable[str]:
    """How often was sampled and at what cost: a reading takes locks in the driver that the workload waits for."""
    infos = [run.telemetry for side in sides for run in side.capture.runs if run.telemetry.ticks]
    costs = [info.read_ns_mean / NS_PER_S for info in infos if info.read_ns_mean is not None]
    if not costs:
        return
    missed, ticks = sum(info.missed_ticks for info in infos), sum(info.ticks for info in infos)
    every = text.duration(max(info.interval_ns for info in infos) / NS_PER_S)
    late = f"; {text.count(missed)} of {text.count(missed + ticks)} were missed" if missed else ""
    yield f"Sampled every {every}: a reading took {text.duration(sum(costs) / len(costs))} on average{late}."


def _probe_notes(sides: Sequence[Evidence]) -> tuple[str, ...]:
    notes = (run.telemetry.note for side in sides for run in side.capture.runs if run.telemetry.note)
    return tuple(f"{note[0].upper()}{note[1:].removesuffix('.')}." for note in dict.fromkeys(notes))


def _panels(
    sides: Sequence[Evidence], axis: Axis, channels: Sequence[Channel], device: int | None, budget: int
) -> tuple[Panel, ...]:
    windows = tuple(_windows(sides, axis, device))
    name = "" if device is None else f"{_device_name(sides, device)}: "
    panels: list[Panel] = []
    for channel in channels:
        rows = [row for side in sides for row in _rows(side, axis, channel, device, budget // len(sides))]
        if not rows:
            continue
        rules = tuple(_rules(sides, channel, device))
        panels.append(
            Panel(
                key=f"clocks-{channel.key}" if device is None else f"clocks-{channel.key}-{device}",
                kind="timeline",
                title=f"{name}{channel.title}",
                summary=f"{name}{channel.title} over time: {spoken(sides, channel, device)}.",
                x_title=axis.title,
                y_title=f"{channel.title} ({channel.unit})",
                series=tuple(side.arm.name for side in sides),
                slots=tuple(side.arm.slot for side in sides),
                rows=tuple(rows),
                marks=windows,
                rules=rules,
                x_domain=(0.0, axis.end),
                y_top=_top(rows, rules),
                inset=BARE_INSET if device is None else INSET,
                legend=not panels,
            )
        )
    return tuple(panels)


def _top(rows: Sequence[Row], rules: Sequence[Row]) -> float:
    """The end of a scale that leaves room above the highest value and its limit."""
    heights = [float(y) for row in (*rows, *rules) if isinstance(y := row["y"], int | float)]
    return 1.15 * max(heights) or 1.0


def _device_name(sides: Sequence[Evidence], device: int) -> str:
    infos = [info for side in sides for run in side.capture.runs for info in run.telemetry.devices]
    names = dict.fromkeys(info.name for info in infos if info.index == device)
    return f"GPU {device}, {' / '.join(names)}" if names else f"GPU {device}"


def _windows(sides: Sequence[Evidence], axis: Axis, device: int | None) -> Iterable[Row]:
    for side in sides:
        for run in side.capture.runs:
            yield {
                "t": axis.at(side, run, run.start_ns),
                "t2": axis.at(side, run, run.end_ns),
                "series": side.arm.name,
                "tip": _about(side, run, device),
            }


def _about(side: Evidence, run: Run, device: int | None) -> str:
    """``A: 4,096 shared tokens, seed 2, began at 66 °C, held back 61 %``."""
    words = f"{arm_cell(side.arm.name, run.cell)}, seed {run.seed}"
    if device is None:
        return words
    if (start := start_temperature(run, device)) is not None:
        words += f", began at {start} °C"
    held = residency(run, device, *window_of(run)).throttled
    return words if held is None else f"{words}, held back {text.percent(held)}"


def _rules(sides: Sequence[Evidence], channel: Channel, device: int | None) -> Iterable[Row]:
    infos = [info for side in sides for run in side.capture.runs for info in run.telemetry.devices]
    limits = dict.fromkeys(
        channel.limit(info) for info in infos if device is not None and info.index == device
    )
    for limit in limits:
        if limit is not None:
            yield {"y": limit, "label": f"limit {text.number(limit)} {channel.unit}"}


def _rows(side: Evidence, axis: Axis, channel: Channel, device: int | None, budget: int) -> Iterable[Row]:
    runs = side.capture.runs
    for run in runs:
        for at_ns, value in thinned(samples(run, channel, device), budget // len(runs)):
            yield {
                "t": axis.at(side, run, at_ns),
                "y": round(value, 1),
                "series": side.arm.name,
                "run": run.order,
                "tip": f"{side.arm.name}: {text.number(value)} {channel.unit}",
            }
