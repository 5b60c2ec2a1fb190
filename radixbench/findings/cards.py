"""What the cards' own readings say against a capture's figures: heat, limits, idleness, and how little is known.

Runs of a cell are taken together, so that a cell has one sentence and not one for each run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from radixbench.capture.model import Capture, Run
from radixbench.findings.cell import CellKey, cell_key, cell_name
from radixbench.findings.model import Finding
from radixbench.findings.words import percent, several
from radixbench.metrics.gpu import FEW_SAMPLES, DeviceClocks, at_work, device_clocks
from radixbench.metrics.residency import Source
from radixbench.stats.sample import Absent
from radixbench.telemetry.reasons import THROTTLING, decode
from radixbench.units import NS_PER_MS, NS_PER_S

THROTTLED_SHARE = 0.05
"""From this share of a run on a card counts as throttled; single samples at a run's edges are noise."""

IDLE_SHARE = 0.1
COOL_DOWN = "cool the card, raise its power limit or lock a clock it can hold (nvidia-smi -lgc), then rerun"
_SILENT_INTERVALS = 5
_SLOW_NAMES = frozenset(decode(THROTTLING))


def card_findings(capture: Capture) -> Iterator[Finding]:
    """What holds for a capture by itself as for each side of a comparison."""
    cells: dict[CellKey, list[tuple[Run, tuple[DeviceClocks, ...]]]] = {}
    for run in capture.runs:
        clocks = device_clocks(run)
        if not isinstance(clocks, Absent):
            cells.setdefault(cell_key(run.cell), []).append((run, clocks))
    for key, found in cells.items():
        cards = [card for _, clocks in found for card in at_work(clocks)]
        yield from _idle(key, cards)
        yield from _too_short(key, found)
        yield from _hidden_limits(key, cards)
        yield from _resets(key, cards)
    yield from _unused([clocks for found in cells.values() for _, clocks in found])
    yield from _limits_changed(capture.runs)
    for run in capture.runs:
        yield from _ended_early(run)


def throttle_findings(capture: Capture) -> Iterator[Finding]:
    """Runs on a card that was held back; a comparison says it of both sides at once, with the direction."""
    for run in capture.runs:
        clocks = device_clocks(run)
        if isinstance(clocks, Absent):
            continue
        held = [card for card in at_work(clocks) if (card.throttled_share or 0.0) >= THROTTLED_SHARE]
        if held:
            worst = max(held, key=lambda card: card.throttled_share or 0.0)
            yield Finding(
                "throttled",
                "serious",
                f"throttled {held_for(worst.throttled_share or 0.0, worst.source)} ({reason_words([worst])})",
                COOL_DOWN,
            ).of_run(run)


def held_for(share: float, source: Source | None) -> str:
    """``in 62 % of samples``, or ``for 62 % of its time``."""
    return f"{'for' if source == 'counters' else 'in'} {of_what(share, source)}"


def of_what(share: float, source: Source | None) -> str:
    """``62 % of samples``, or ``62 % of its time`` where the driver counted it."""
    return f"{percent(share)} of {'its time' if source == 'counters' else 'samples'}"


def reason_words(cards: Sequence[DeviceClocks]) -> str:
    """``SW power cap 55 % of its time, HW slowdown 5 % of samples``: what slowed any of the cards, the largest share first."""
    largest: dict[str, tuple[float, Source]] = {}
    for card in cards:
        for name, share in card.reasons.items():
            if name in _SLOW_NAMES and share > largest.get(name, (0.0, "samples"))[0]:
                largest[name] = share, card.reason_sources.get(name, "samples")
    ordered = sorted(largest.items(), key=lambda item: -item[1][0])
    return ", ".join(f"{name} {of_what(*share)}" for name, share in ordered)


def _idle(key: CellKey, cards: Sequence[DeviceClocks]) -> Iterator[Finding]:
    for device in sorted({card.device for card in cards}):
        told = [card for card in cards if card.device == device and card.idle_share is not None]
        samples = sum(card.samples for card in told)
        idle = sum((card.idle_share or 0.0) * card.samples for card in told)
        if samples and idle / samples >= IDLE_SHARE:
            name = "GPU" if len({card.device for card in cards}) == 1 else f"GPU {device}"
            yield Finding(
                "gpu-idle",
                "info",
                f"{name} was idle in {percent(idle / samples)} of samples",
                "an idle card isn't what sets the pace: look at the client's lag, the host's load and the request rate",
                place=cell_name(key),
                cell=key,
            )


def _too_short(key: CellKey, found: Sequence[tuple[Run, tuple[DeviceClocks, ...]]]) -> Iterator[Finding]:
    short = [(card.samples, run) for run, clocks in found for card in at_work(clocks) if card.too_short]
    if not short:
        return
    fewest, run = min(short, key=lambda one: one[0])
    interval = run.telemetry.interval_ns // NS_PER_MS
    yield Finding(
        "clock-too-short",
        "info",
        f"{several(fewest, 'sample')} in the shortest run, one every {interval} ms: too short for clock statistics,"
        f" which take {FEW_SAMPLES}",
        "send more requests, so that runs last longer",
        place=cell_name(key),
        cell=key,
    )


def _hidden_limits(key: CellKey, cards: Sequence[DeviceClocks]) -> Iterator[Finding]:
    hidden = [card for card in cards if card.firmware_hidden]
    for name in dict.fromkeys(card.name for card in hidden):
        of_name = [card for card in hidden if card.name == name]
        yield Finding(
            "firmware-limits-hidden",
            "info",
            f"{name}: {_clock_of(of_name)}firmware limits not visible: no event reason isn't proof that nothing held it back"
            f"{_or_locked(of_name)}",
            "compare the clock with its maximum, check the power supply and cooling, and keep both arms on one machine",
            place=cell_name(key),
            cell=key,
        )


def _clock_of(cards: Sequence[DeviceClocks]) -> str:
    slowest = min(
        (card for card in cards if card.sm_clock_median is not None),
        key=lambda card: card.sm_clock_median or 0.0,
        default=None,
    )
    if slowest is None or slowest.max_sm_clock_mhz is None:
        return ""
    return f"at work it ran at {slowest.sm_clock_median:,.0f} of {slowest.max_sm_clock_mhz:,} MHz with no reason set; "


def _or_locked(cards: Sequence[DeviceClocks]) -> str:
    """A clock that never moves looks like one that somebody locked, which sets no reason either."""
    still = all(card.sm_clock_min is not None and card.sm_clock_min == card.sm_clock_max for card in cards)
    return "; the clock never moved, as one locked by nvidia-smi -lgc wouldn't" if still else ""


def _resets(key: CellKey, cards: Sequence[DeviceClocks]) -> Iterator[Finding]:
    if any(card.resets for card in cards):
        yield Finding(
            "counter-reset",
            "info",
            "a time counter of the driver fell or leapt during a run; that stretch is told by samples",
            "nothing: short throttling may be missed in that stretch; rerun if it matters",
            place=cell_name(key),
            cell=key,
        )


def _unused(runs: Sequence[tuple[DeviceClocks, ...]]) -> Iterator[Finding]:
    """Devices that never did anything beside others that did."""
    names = {card.device: card.name for clocks in runs for card in clocks}
    busy = {card.device for clocks in runs for card in clocks if not card.unused}
    idle = [f"GPU {device} ({name})" for device, name in sorted(names.items()) if device not in busy]
    if busy and idle:
        yield Finding(
            "gpu-unused",
            "info",
            f"{', '.join(idle)} did nothing in any run and {'is' if len(idle) == 1 else 'are'} left out of all clock figures",
            "hide it with CUDA_VISIBLE_DEVICES if the server doesn't use it",
        )


def _limits_changed(runs: Sequence[Run]) -> Iterator[Finding]:
    limits: dict[int, dict[int, int]] = {}
    for run in runs:
        for info in run.telemetry.devices:
            if info.power_limit_mw is not None:
                counts = limits.setdefault(info.index, {})
                counts[info.power_limit_mw] = counts.get(info.power_limit_mw, 0) + 1
    for device, counts in sorted(limits.items()):
        if len(counts) > 1:
            told = ", ".join(f"{watts(limit)} in {several(n, 'run')}" for limit, n in counts.items())
            yield Finding(
                "power-limit",
                "warning",
                f"the enforced power limit of GPU {device} changed between runs: {told}",
                "set one limit for all runs (nvidia-smi -pl) and rerun",
            )


def watts(milliwatts: int) -> str:
    """``700 W``."""
    return f"{milliwatts / 1000:g} W"


def _ended_early(run: Run) -> Iterator[Finding]:
    """The card left the bus in the run, or one of several did: what was read before stays."""
    stamps: dict[int, list[int]] = {}
    for one in run.gpu:
        stamps.setdefault(one.device, []).append(one.at_ns)
    latest = max((one.at_ns for one in run.gpu), default=0)
    why_all = run.telemetry.ended_early
    for device, times in sorted(stamps.items()):
        silent_ns = latest - max(times)
        if why_all is None and silent_ns <= _SILENT_INTERVALS * run.telemetry.interval_ns:
            continue
        why = f"GPU {device} gave no more readings" if why_all is None else why_all
        last_s, whole_s = (max(times) - run.start_ns) / NS_PER_S, (run.end_ns - run.start_ns) / NS_PER_S
        yield Finding(
            "samples-end-early",
            "warning",
            f"{why} after {several(len(times), 'sample')} of GPU {device}, {last_s:.1f} s into a run of {whole_s:.1f} s:"
            " its clocks from then on are unknown",
            "find out why the GPU went away (dmesg, nvidia-smi), then rerun",
        ).of_run(run)
