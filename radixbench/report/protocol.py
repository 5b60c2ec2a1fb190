"""How each arm was brought to its cache state, and in which order the arms ran."""

from __future__ import annotations

from collections.abc import Sequence

from radixbench.capture.model import ProtocolRecord, Run
from radixbench.report import text
from radixbench.report.cells import cell_key, cell_order, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.model import ProtocolRow
from radixbench.report.setting import verification, verification_tone

_LONGEST_ORDER = 48


def protocol_rows(sides: Sequence[Evidence]) -> tuple[ProtocolRow, ...]:
    """One row for runs of an arm and cell that went alike; cells that went alike are drawn together."""
    return tuple(row for side in sides for row in _rows(side))


def _rows(side: Evidence) -> list[ProtocolRow]:
    groups: dict[ProtocolRecord, list[Run]] = {}
    for run in side.capture.runs:
        groups.setdefault(run.protocol, []).append(run)
    return [_row(side, record, runs) for record, runs in groups.items()]


def _row(side: Evidence, record: ProtocolRecord, runs: Sequence[Run]) -> ProtocolRow:
    cells = sorted({cell_key(run.cell): run.cell for run in runs}.values(), key=cell_order)
    return ProtocolRow(
        arm=side.arm.name,
        slot=side.arm.slot,
        cell="; ".join(cell_title(cell) for cell in cells),
        seeds=text.ranges([run.seed for run in runs]),
        declared=record.declared,
        verified=verification(runs),
        tone=verification_tone(runs),
        steps=_steps(record),
        evidence=record.evidence,
    )


def _steps(record: ProtocolRecord) -> str:
    parts = [f"{text.plural(record.warmup_requests, 'warm-up request')} on other pages"]
    if record.flush_attempts:
        status = "no status" if record.flush_status is None else f"status {record.flush_status}"
        body = f", “{record.flush_body.strip()}”" if record.flush_body else ""
        parts.append(f"flush after {text.plural(record.flush_attempts, 'attempt')} ({status}{body})")
    else:
        parts.append("no flush")
    if record.probe_cached_tokens is not None:
        parts.append(f"probe saw {text.plural(record.probe_cached_tokens, 'cached token')}")
    return " → ".join(parts)


def run_order(sides: Sequence[Evidence]) -> str:
    """The order the arms ran in, as it was: ``A B B A …``; "" for one arm."""
    if len(sides) < 2:
        return ""
    placed = sorted((run.order, side.arm.slot.upper()) for side in sides for run in side.capture.runs)
    if len({order for order, _ in placed}) < len(placed):
        return "The arms come from separate measurements: their runs did not alternate in time."
    shown = " ".join(slot for _, slot in placed[:_LONGEST_ORDER])
    return (
        f"The runs followed each other in this order: {shown}{' …' if len(placed) > _LONGEST_ORDER else ''}"
    )
