"""How each arm was brought to its cache state, and in which order the arms ran."""

from __future__ import annotations

import re
from collections.abc import Sequence

from radixbench.capture.model import ProtocolRecord, Run
from radixbench.report import text
from radixbench.report.cells import cell_key, cell_order, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.model import ProtocolRow
from radixbench.report.setting import verification, verification_tone

_LONGEST_ORDER = 48
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")


def protocol_rows(sides: Sequence[Evidence]) -> tuple[ProtocolRow, ...]:
    """One row for the runs of an arm that read alike, whatever their cells and seeds."""
    return tuple(row for side in sides for row in _rows(side))


def _rows(side: Evidence) -> list[ProtocolRow]:
    groups: dict[tuple[str, bool | None, str, str], list[Run]] = {}
    for run in side.capture.runs:
        record = run.protocol
        key = (record.declared, record.verified, _steps(record), record.evidence)
        groups.setdefault(key, []).append(run)
    return [_row(side, runs) for runs in groups.values()]


def _row(side: Evidence, runs: Sequence[Run]) -> ProtocolRow:
    record = runs[0].protocol
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
        said = _first_sentence(record.flush_body or "")
        body = f", “{said}”" if said else ""
        parts.append(f"flush after {text.plural(record.flush_attempts, 'attempt')} ({status}{body})")
    else:
        parts.append("no flush")
    if record.probe_cached_tokens is not None:
        parts.append(f"probe saw {text.plural(record.probe_cached_tokens, 'cached token')}")
    return " → ".join(parts)


def _first_sentence(message: str) -> str:
    """What a server's message says first; advice that follows is in the capture."""
    return _SENTENCE_END.split(message.strip(), maxsplit=1)[0]


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
