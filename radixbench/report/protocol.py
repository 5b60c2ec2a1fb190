"""How each arm was brought to its cache state, what proves it, and in which order the arms ran."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from radixbench.capture.model import Check, ProtocolRecord, Run
from radixbench.report import text
from radixbench.report.alike import drawn_together, wording
from radixbench.report.cells import cell_key, cell_order, cells_title
from radixbench.report.evidence import Evidence
from radixbench.report.mode import origin_words, verification, verification_tone
from radixbench.report.model import ProtocolRow, Statement, Tone
from radixbench.units import seconds

_LONGEST_ORDER = 48
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
_HELD: dict[bool | None, tuple[Tone, str]] = {
    True: ("better", "held"),
    False: ("worse", "NOT so"),
    None: ("caution", "not told"),
}

Key = tuple[object, ...]


def protocol_rows(sides: Sequence[Evidence]) -> tuple[ProtocolRow, ...]:
    """One row for the runs of an arm that went alike, whatever their cells, seeds and counts."""
    return tuple(row for side in sides for row in _rows(side))


def _rows(side: Evidence) -> list[ProtocolRow]:
    groups: dict[Key, list[Run]] = {}
    for run in side.capture.runs:
        groups.setdefault(_key(run.protocol), []).append(run)
    return [_row(side, runs) for runs in groups.values()]


def _key(record: ProtocolRecord) -> Key:
    checks = tuple((check.name, check.held, wording(check.detail)) for check in record.checks)
    told = tuple(wording(step) for step in _steps(record))
    return record.declared, record.verified, record.off_mode, told, wording(record.evidence), checks


def _row(side: Evidence, runs: Sequence[Run]) -> ProtocolRow:
    records = [run.protocol for run in runs]
    cells = sorted({cell_key(run.cell): run.cell for run in runs}.values(), key=cell_order)
    columns = zip(*(record.checks for record in records), strict=True)
    return ProtocolRow(
        arm=side.arm.name,
        slot=side.arm.slot,
        cell=cells_title(cells, len(side.cells())),
        seeds=text.ranges([run.seed for run in runs]),
        declared=records[0].declared,
        verified=verification(runs),
        tone=verification_tone(runs),
        steps=tuple(
            step
            for told in zip(*(_steps(record) for record in records), strict=True)
            for step in drawn_together(told)
        ),
        evidence="; ".join(drawn_together(record.evidence for record in records)),
        origin=origin_words(runs),
        checks=tuple(_check(column) for column in columns),
    )


def _check(asked: Sequence[Check]) -> Statement:
    """The same question in all runs; they were answered alike apart from counts."""
    tone, word = _HELD[asked[0].held]
    (detail,) = drawn_together(check.detail for check in asked)
    return Statement(f"{asked[0].name}: {detail}", tone, word)


def _steps(record: ProtocolRecord) -> tuple[str, ...]:
    return tuple(_told(record))


def _told(record: ProtocolRecord) -> Iterator[str]:
    yield f"{text.plural(record.warmup_requests, 'warm-up request')} on other pages"
    yield _flush(record)
    if record.probe_cached_tokens is not None:
        yield f"probe saw {text.plural(record.probe_cached_tokens, 'cached token')}"
    if record.priming_requests:
        yield (
            f"primed with {text.plural(record.priming_requests, 'request')}, "
            f"{text.plural(record.primed_tokens, 'token')}"
        )
    if record.ledger_repeats:
        repeats = text.plural(record.ledger_repeats, "measured prompt")
        yield f"{repeats} began with a page that this server had been sent before"


def _flush(record: ProtocolRecord) -> str:
    if not record.flush_attempts:
        return "no flush"
    status = "no status" if record.flush_status is None else f"status {record.flush_status}"
    said = _first_sentence(record.flush_body or "")
    body = f", “{said}”" if said else ""
    tiers = f" of {text.several(record.flush_tiers)}" if record.flush_tiers else ""
    waited = f", waited {1e3 * seconds(record.flush_waited_ns):.1f} ms" if record.flush_waited_ns else ""
    return f"flush{tiers} after {text.plural(record.flush_attempts, 'attempt')} ({status}{body}{waited})"


def _first_sentence(message: str) -> str:
    """What a server's message says first; advice that follows is in the capture."""
    return _SENTENCE_END.split(message.strip(), maxsplit=1)[0]


def _overlap(sides: Sequence[Evidence]) -> bool:
    """Whether every side was still measured when the last of them began."""
    spans = [
        (
            min(run.clock_anchor.wall_at(run.start_ns) for run in side.capture.runs),
            max(run.clock_anchor.wall_at(run.end_ns) for run in side.capture.runs),
        )
        for side in sides
        if len(side.capture.runs) > 1
    ]
    return not spans or max(start for start, _ in spans) < min(end for _, end in spans)


def run_order(sides: Sequence[Evidence]) -> str:
    """The order the arms ran in, as it was: ``A B B A …``; "" for one arm."""
    if len(sides) < 2:
        return ""
    placed = sorted((run.order, side.arm.slot.upper()) for side in sides for run in side.capture.runs)
    if len({order for order, _ in placed}) < len(placed) or not _overlap(sides):
        return "The arms come from separate measurements: their runs did not alternate in time."
    shown = " ".join(slot for _, slot in placed[:_LONGEST_ORDER])
    end = " …" if len(placed) > _LONGEST_ORDER else "."
    return f"The runs followed each other in this order: {shown}{end}"
