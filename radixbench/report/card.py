"""Was the card cool? What clocks, event reasons and temperatures say of all runs together, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from radixbench.compare.change import Comparison
from radixbench.findings.cards import THROTTLED_SHARE
from radixbench.metrics.gpu import DeviceClocks, at_work, device_clocks
from radixbench.report import text
from radixbench.report.cells import at_cell, cell_order
from radixbench.report.evidence import Evidence
from radixbench.report.model import Tone
from radixbench.report.words import known
from radixbench.stats.sample import Absent


class Card(NamedTuple):
    """The answer: ``word`` is ``yes``, ``NO`` or ``unknown``, ``state`` the same for a chip."""

    word: str
    state: str
    answer: str
    tone: Tone


class _Arm(NamedTuple):
    """One arm's runs: the devices that were read in them, and why some weren't."""

    name: str
    runs: int
    read: int
    devices: list[DeviceClocks]
    why_not: list[str]


def card(sides: Sequence[Evidence], comparison: Comparison | None = None) -> Card:
    """Held back, cool, or unknown and why; the comparison adds what it means for the factors."""
    arms = [_arm(side) for side in sides]
    known_shares = [one.throttled_share for arm in arms for one in arm.devices]
    shares = [share for share in known_shares if share is not None]
    meaning = _meaning(comparison)
    if not shares:
        why = text.several(known(reason for arm in arms for reason in arm.why_not)) or _untold(arms)
        return Card("unknown", "unknown", f"{why}.{_processor(sides)}", "caution")
    told = "; ".join(words for arm in arms if (words := _words(arm)))
    if max(shares) >= THROTTLED_SHARE:
        return Card("NO", "throttled", f"{_held(arms)}. {told}. {meaning}".strip(), "worse")
    answer = f"{_not_held(max(shares))}. {told}. {meaning}".strip()
    if rest := _untold_in_part(sides, arms):
        return Card("as far as known", "partly known", f"{rest}; as far as is told, {answer}", "caution")
    return Card("yes", "not throttled", answer, "caution" if meaning else "better")


def _arm(side: Evidence) -> _Arm:
    found = [device_clocks(run) for run in side.capture.runs]
    read = [one for one in found if not isinstance(one, Absent)]
    why = [one.reason for one in found if isinstance(one, Absent)]
    return _Arm(
        side.arm.name, len(found), len(read), [device for one in read for device in at_work(one)], why
    )


def _untold_in_part(sides: Sequence[Evidence], arms: Sequence[_Arm]) -> str:
    """What keeps an answer from being sure: runs that don't tell, or not to their end, and limits that set no reason."""
    parts = []
    if gaps := known(reason for arm in arms for reason in arm.why_not):
        parts.append(f"not every run tells ({text.several(gaps)})")
    if any(one.throttled_share is None for arm in arms for one in arm.devices):
        parts.append("not every run tells its event reasons")
    if any(run.telemetry.ended_early for side in sides for run in side.capture.runs):
        parts.append("a card was lost in the middle of a run")
    if hidden := known(one.name for arm in arms for one in arm.devices if one.firmware_hidden):
        parts.append(
            f"a locked clock or limits of the firmware may hold {text.several(hidden)} back without a reason that shows"
        )
    return text.several(parts)


def _untold(arms: Sequence[_Arm]) -> str:
    if any(arm.devices for arm in arms):
        return "the device doesn't tell what holds its clock back"
    return "no run was saved"


def _words(arm: _Arm) -> str:
    """``A (cache on): median SM clock 1,755 of 1,980 MHz, runs began at 34–41 °C``."""
    parts = []
    clocks = [one.sm_clock_median for one in arm.devices if one.sm_clock_median is not None]
    if clocks:
        most = max((one.max_sm_clock_mhz or 0 for one in arm.devices), default=0)
        parts.append(f"median SM clock {text.number(median(clocks))}{f' of {most:,}' if most else ''} MHz")
    starts = [one.start_temperature_c for one in arm.devices if one.start_temperature_c is not None]
    if starts:
        span = f"{min(starts)}–{max(starts)}" if min(starts) < max(starts) else f"{starts[0]}"
        parts.append(f"runs began at {span} °C")
    return f"{arm.name}: {', '.join(parts)}" if parts else ""


def _held(arms: Sequence[_Arm]) -> str:
    told = []
    for arm in arms:
        most = max((one.throttled_share or 0.0 for one in arm.devices), default=0.0)
        if most >= THROTTLED_SHARE:
            told.append(f"{arm.name} was held back in up to {text.percent(most)} of a run")
    return text.several(told)


def _not_held(most: float) -> str:
    if not most:
        return "no power, heat or brake limit was seen in any run"
    least = text.share(THROTTLED_SHARE)
    return f"power, heat or brake held it back in at most {text.percent(most)} of a run, and from {least} on it counts"


def _meaning(comparison: Comparison | None) -> str:
    """What the clocks do to the factors, told of the cell with the most reuse of those where they do anything."""
    told = [cell for cell in comparison.clocks if cell.text] if comparison is not None else []
    if not told:
        return ""
    last = max(told, key=lambda one: cell_order(one.cell))
    more = f" Clocks speak against {text.plural(len(told) - 1, 'more cell')}, too." if len(told) > 1 else ""
    return f"{at_cell(last.cell).capitalize()} {last.text.removesuffix('.')}.{more}"


def _processor(sides: Sequence[Evidence]) -> str:
    """What a machine without a readable card tells instead: the processor's frequency in each arm."""
    told = []
    for side in sides:
        clocks = [one.cpu_clock_mhz for run in side.capture.runs for one in run.gpu if one.cpu_clock_mhz]
        if clocks:
            told.append(f"{text.number(median(clocks))} MHz in {side.arm.name}")
    return (
        f" The processor of the machine that measured ran at {text.several(told)} (median)." if told else ""
    )
