"""How much of an arm's measured time its cards were held back, by reason and with what tells it: words and table rows.

Everything counts in the runs' measured windows only, where a run has one, so that the words agree with the caveats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

from radixbench.capture.model import Run
from radixbench.compare.bound import mean_clock
from radixbench.metrics.energy import energy
from radixbench.metrics.gpu import measured_window
from radixbench.metrics.residency import Residency, Source, never_at_work, residency, while_at_work
from radixbench.report import text
from radixbench.report.cells import cell_title
from radixbench.report.evidence import Evidence
from radixbench.stats.sample import Absent
from radixbench.telemetry.reasons import GPU_IDLE, THROTTLING, decode, name_of

_SLOW_NAMES = frozenset(decode(THROTTLING))
_IDLE_NAME = name_of(GPU_IDLE)
_HALF_PERCENT = 0.005
_LEAST = 0.0005
"""Shares below this read as 0.0 % and aren't named."""


class Told(NamedTuple):
    """What one run tells of one device in its window."""

    run: Run
    window: tuple[int, int]
    held: Residency


class Pool(NamedTuple):
    """All runs of an arm together, each weighing as much as it lasted."""

    throttled: float
    source: Source
    shares: dict[str, float]
    sources: dict[str, Source]
    samples: int


def window_of(run: Run) -> tuple[int, int]:
    """The measured window, or the whole run where no token came."""
    window = measured_window(run)
    return (run.start_ns, run.end_ns) if isinstance(window, Absent) else window


def told(side: Evidence, device: int) -> list[Told]:
    """The runs that tell anything of what held the device back."""
    found = []
    for run in side.capture.runs:
        window = window_of(run)
        held = residency(run, device, *window)
        if held.throttled is not None:
            found.append(Told(run, window, held))
    return found


def pooled(found: Sequence[Told]) -> Pool | None:
    """All of an arm's runs as one; ``None`` where nothing tells."""
    spans = [one.window[1] - one.window[0] for one in found]
    whole = sum(spans)
    if not found or whole <= 0:
        return None
    names = dict.fromkeys(name for one in found for name in one.held.shares)
    shares = {
        name: sum(one.held.shares.get(name, 0.0) * span for one, span in zip(found, spans, strict=True))
        / whole
        for name in names
    }
    sources = {name: _one_source(one.held.sources.get(name, "counters") for one in found) for name in names}
    return Pool(
        throttled=sum((one.held.throttled or 0.0) * span for one, span in zip(found, spans, strict=True))
        / whole,
        source=_one_source(one.held.source or "samples" for one in found),
        shares=dict(sorted(shares.items(), key=lambda item: -item[1])),
        sources=sources,
        samples=sum(one.held.samples for one in found),
    )


def _one_source(sources: Iterable[Source]) -> Source:
    return "counters" if set(sources) == {"counters"} else "samples"


def held_notes(sides: Sequence[Evidence], devices: Sequence[int]) -> tuple[str, ...]:
    """How much of each arm's time each card was held back, in words, with where its runs began and its limit.

    Cards of which the same is to be said share a sentence.
    """
    alike: dict[tuple[str, str], list[int]] = {}
    for device in devices:
        for side in sides:
            words = f"{_held(side, device)}{_start(side, device)}"
            alike.setdefault((side.arm.name, words), []).append(device)
    return tuple(f"{arm}{_which(found, devices)}: {words}" for (arm, words), found in alike.items())


def _which(found: Sequence[int], devices: Sequence[int]) -> str:
    if len(devices) == 1:
        return ""
    return f", GPU {found[0]}" if len(found) == 1 else f", GPUs {text.ranges(list(found))}"


def _held(side: Evidence, device: int) -> str:
    if never_at_work([one for run in side.capture.runs for one in run.gpu if one.device == device]):
        return "it did nothing in any run."
    pool = pooled(told(side, device))
    if pool is None:
        return "the device doesn't tell why clocks fall, so throttling is unknown."
    by_counters = pool.source == "counters"
    if not pool.samples and not by_counters:
        return "no sample falls into a run's measured window, so throttling is unknown."
    samples = text.plural(pool.samples, "sample")
    if pool.throttled < _LEAST:
        by_time = "the driver's time counters show no throttling."
        return by_time if by_counters else f"no throttle reason was set in any of {samples}."
    share, named = text.percent(pool.throttled), _named(pool)
    if by_counters:
        return f"held back for {share} of its time by the driver's time counters ({named})."
    return f"held back in {share} of {samples} ({named})."


def _named(pool: Pool) -> str:
    """What slowed the card, each with its share."""
    slow = ((name, share) for name, share in pool.shares.items() if name in _SLOW_NAMES and share >= _LEAST)
    return text.several([f"{name} {text.percent(share)}" for name, share in slow])


def _start(side: Evidence, device: int) -> str:
    parts = []
    if starts := start_temperatures(side, device):
        low, high = min(starts), max(starts)
        parts.append(f"runs began at {low if low == high else f'{low}–{high}'} °C")
    if limits := sorted(set(power_limits(side, device))):
        parts.append(f"the enforced power limit was {text.several([f'{limit:g} W' for limit in limits])}")
    sentence = ", ".join(parts)
    return f" {sentence[0].upper()}{sentence[1:]}." if sentence else ""


def start_temperature(run: Run, device: int) -> int | None:
    """The last reading before the run's window opened, else the first within."""
    start = window_of(run)[0]
    read = sorted(
        (one.at_ns, one.temperature_c)
        for one in run.gpu
        if one.device == device and one.temperature_c is not None
    )
    before = [temperature for at, temperature in read if at <= start]
    return before[-1] if before else read[0][1] if read else None


def start_temperatures(side: Evidence, device: int) -> list[int]:
    """Of every run that has one, in °C."""
    found = (start_temperature(run, device) for run in side.capture.runs)
    return [one for one in found if one is not None]


def power_limits(side: Evidence, device: int) -> list[float]:
    """The enforced limit of every run that tells it, in watts."""
    infos = (info for run in side.capture.runs for info in run.telemetry.devices)
    return [
        info.power_limit_mw / 1000
        for info in infos
        if info.index == device and info.power_limit_mw is not None
    ]


def held_rows(sides: Sequence[Evidence], device: int) -> list[tuple[str, ...]]:
    """Run by run values as rows of the clock table: lowest, median and highest of an arm's runs."""
    rows = []
    for side in sides:
        found = told(side, device)
        if (pool := pooled(found)) is not None:
            shares = [one.held.throttled or 0.0 for one in found]
            rows.append(_row(side, device, f"held back, {_by(pool.source)}", shares, text.percent))
            for name in pool.shares:
                each = [one.held.shares.get(name, 0.0) for one in found]
                rows.append(_row(side, device, f"{name}, {_by(pool.sources[name])}", each, text.percent))
        starts = start_temperatures(side, device)
        rows.append(_row(side, device, "temperature at the start", starts, lambda v: f"{v:g} °C"))
        limits = power_limits(side, device)
        rows.append(_row(side, device, "enforced power limit", limits, lambda v: f"{v:g} W"))
        rows += _energy_rows(side, device)
    return [row for row in rows if row]


def cell_rows(sides: Sequence[Evidence], device: int) -> list[tuple[str, ...]]:
    """The SM clock of every cell while at work in its measured windows, as rows of the clock table: its floor, the mean of
    its runs' medians by which caveats and bounds go, its highest.
    """
    rows = []
    for side in sides:
        for cell in side.cells():
            runs = [list(_sm_clocks(run, device)) for run in side.capture.runs if run.cell == cell]
            read = [clocks for clocks in runs if clocks]
            if not read:
                continue
            middle = mean_clock([float(median(clocks)) for clocks in read]) or 0.0
            spread = (min(map(min, read)), middle, max(map(max, read)))
            shown = (f"{text.number(clock)} MHz" for clock in spread)
            name = f"SM clock, {cell_title(cell)}"
            rows.append((f"GPU {device}", side.arm.name, name, *shown, text.count(sum(map(len, read)))))
    return rows


def _sm_clocks(run: Run, device: int) -> Iterator[int]:
    start, end = window_of(run)
    inside = [one for one in run.gpu if one.device == device and start <= one.at_ns <= end]
    for one in while_at_work(inside):
        if one.sm_clock_mhz is not None:
            yield one.sm_clock_mhz


def _by(source: Source) -> str:
    return "by time counters" if source == "counters" else "by samples"


def _energy_rows(side: Evidence, device: int) -> Iterator[tuple[str, ...]]:
    """Energy of a run's window, counted and integrated ones apart: they don't err alike."""
    found = [energy(run, device, *window_of(run)) for run in side.capture.runs]
    for integrated, name in ((False, "energy, counted"), (True, "energy, from power")):
        joules = [one.joules for one in found if not isinstance(one, Absent) and one.integrated is integrated]
        yield _row(side, device, name, joules, lambda v: f"{text.number(v)} J")


def _row(
    side: Evidence, device: int, reading: str, values: Sequence[float], words: Callable[[float], str]
) -> tuple[str, ...]:
    """One line of the table; no line without values."""
    if not values:
        return ()
    spread = (min(values), median(values), max(values))
    runs = text.plural(len(values), "run")
    return (f"GPU {device}", side.arm.name, reading, *(words(value) for value in spread), runs)


def reason_labels(sides: Sequence[Evidence], device: int) -> dict[str, str]:
    """For each reason what an axis says below its name: ``A 0 %, B 61 % of samples``."""
    pools = [(side.arm.slot.upper() if len(sides) > 1 else "", pooled(told(side, device))) for side in sides]
    known = [(slot, pool) for slot, pool in pools if pool is not None]
    labels = {}
    for name in dict.fromkeys(name for _, pool in known for name in pool.shares if name != _IDLE_NAME):
        told_by = _one_source(pool.sources.get(name, pool.source) for _, pool in known if name in pool.shares)
        parts = [f"{slot} {_whole(pool.shares.get(name, 0.0))}".strip() for slot, pool in known]
        labels[name] = f"{', '.join(parts)} of {'time' if told_by == 'counters' else 'samples'}"
    return labels


def _whole(share: float) -> str:
    """A share in whole percent, for places without room; what there is never reads as nothing."""
    return "<1 %" if 0 < share < _HALF_PERCENT else f"{100 * share:.0f} %"
