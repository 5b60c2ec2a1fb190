"""What a report says about its setting: chips under the headline, the environment, the differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from radixbench.capture.model import Environment, Run
from radixbench.compare.change import Comparison, Difference
from radixbench.metrics.answers import CAUSE_WORDS
from radixbench.report import text
from radixbench.report.evidence import Evidence
from radixbench.report.mode import verification, verification_tone
from radixbench.report.model import Chip, PairRow, Tone
from radixbench.report.words import known
from radixbench.report.workload import workload_words

_UNTOLD = "unknown, the server doesn't tell"


def chips(sides: Sequence[Evidence]) -> tuple[Chip, ...]:
    """The facts a reader checks before believing the headline."""
    return (
        _fact("Model", sides, lambda s: f"{s.model}{' (random weights)' if s.random_weights else ''}"),
        _fact("Device", sides, lambda s: s.hardware or _UNTOLD),
        _fact("Precision", sides, lambda s: s.dtype or _UNTOLD),
        _fact("Engine", sides, _engine),
        _fact("Workload", sides, lambda s: workload_words(s.capture)),
        _fact("Seeds", sides, _seeds),
        _requests(sides),
        *(_cache(side) for side in sides),
    )


def _fact(label: str, sides: Sequence[Evidence], read: Callable[[Evidence], str]) -> Chip:
    values = [read(side) for side in sides]
    if len(set(values)) == 1:
        return Chip(label, values[0])
    joined = "; ".join(f"{side.arm.name}: {value}" for side, value in zip(sides, values, strict=True))
    return Chip(label, joined, "caution", "differs between the arms")


def _engine(side: Evidence) -> str:
    named = known(f"{run.server.engine} {run.server.version or ''}".strip() for run in side.capture.runs)
    return " / ".join(named) or "none ran"


def _seeds(side: Evidence) -> str:
    seeds = sorted({run.seed for run in side.capture.runs})
    until = side.capture.until
    added = "" if until is None else f", added to come within ±{text.share(until)}"
    return f"{len(seeds)} ({text.ranges(seeds)}){added}" if seeds else "none"


def _requests(sides: Sequence[Evidence]) -> Chip:
    asked = sum(s.requested for side in sides for s in side.summaries)
    done = sum(s.completed for side in sides for s in side.summaries)
    missing = sum(max(side.capture.planned_runs - len(side.capture.runs), 0) for side in sides)
    notes = list(_losses(sides))
    if missing:
        notes.insert(0, f"{text.plural(missing, 'planned run')} missing")
    tone: Tone = "caution" if notes or done < asked else "better"
    return Chip("Requests completed", f"{text.count(done)} of {text.count(asked)}", tone, "; ".join(notes))


def _losses(sides: Sequence[Evidence]) -> Iterable[str]:
    for side in sides:
        if side.capture.interrupted:
            yield f"{side.arm.name} was interrupted"
        causes: dict[str, int] = {}
        for summary in side.summaries:
            for cause, n in summary.excluded.items():
                causes[cause] = causes.get(cause, 0) + n
        for cause, n in causes.items():
            yield f"{side.arm.name}: {text.count(n)} left out, {CAUSE_WORDS.get(cause, cause)}"
        errors = known(run.error for run in side.capture.runs)
        yield from (f"{side.arm.name}: {error}" for error in errors[:3])


def _cache(side: Evidence) -> Chip:
    """Mode and cache state of one arm: what was declared, and in how many runs it was proved."""
    runs = side.capture.runs
    declared = " / ".join(known(run.protocol.declared for run in runs)) or "unknown"
    label = f"{side.arm.name}: prefix cache"
    return Chip(label, f"{side.arm.cache}, state {declared} → {verification(runs)}", verification_tone(runs))


def differences(comparison: Comparison) -> tuple[PairRow, ...]:
    """What differs between the captures; what forbids a verdict comes first."""
    ordered = sorted(comparison.differences, key=lambda difference: difference.allowed)
    return tuple(
        PairRow(
            name=f"{one.field} ({one.where})" if one.where else one.field,
            a=_shown(one.a),
            b=_shown(one.b),
            status=_status(one),
            tone="neutral" if one.allowed else "caution" if one.overridden else "refused",
        )
        for one in ordered
    )


def _status(one: Difference) -> str:
    if one.overridden:
        return "forbids a verdict; allowed by hand"
    return "allowed, listed" if one.allowed else "forbids a verdict"


def environment(sides: Sequence[Evidence]) -> tuple[PairRow, ...]:
    """Machine, software, server settings and identity of both sides; rows that differ say so."""
    tables = [dict(facts(side)) for side in sides]
    names = list(dict.fromkeys(name for table in tables for name in table))
    return tuple(_pair(name, [table.get(name, text.MISSING) for table in tables]) for name in names)


def _pair(name: str, values: Sequence[str]) -> PairRow:
    differs = len(set(values)) > 1
    return PairRow(
        name=name,
        a=values[0],
        b=values[1] if len(values) > 1 else "",
        status="differs" if differs else "",
        tone="caution" if differs else "neutral",
    )


def facts(side: Evidence) -> Iterable[tuple[str, str]]:
    """Whatever was recorded of one side's machine, software, server and telemetry, by name."""
    yield "captured", text.moment(side.capture.created_wall_ns)
    yield from _machine(side.capture.environment)
    runs = side.capture.runs
    yield "server", _engine(side)
    for group, tables in (
        ("model", [run.server.identity for run in runs]),
        ("server argument", [run.server.args for run in runs]),
    ):
        for key in dict.fromkeys(key for table in tables for key in table):
            yield f"{group}: {key}", " / ".join(dict.fromkeys(_shown(t.get(key)) for t in tables))
    yield from _telemetry(runs)


def _machine(machine: Environment) -> Iterable[tuple[str, str]]:
    yield "radixbench", machine.radixbench
    yield "Python", machine.python
    yield "platform", machine.platform
    yield "CPU", machine.cpu or text.MISSING
    yield "cores", text.count(machine.cores)
    yield "memory", text.size(machine.memory_bytes)
    yield "GPU", ", ".join(machine.gpus) or "none"
    yield "driver", machine.driver or text.MISSING
    yield "host", machine.host_id or text.MISSING
    yield from _prefixed("package", machine.packages)
    yield from _prefixed("variable", machine.variables)
    yield "command", " ".join(machine.argv) or text.MISSING


def _prefixed(group: str, table: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    return ((f"{group}: {key}", value) for key, value in sorted(table.items()))


def _telemetry(runs: Sequence[Run]) -> Iterable[tuple[str, str]]:
    yield "telemetry", ", ".join(known(run.telemetry.probe for run in runs)) or text.MISSING
    missed = sum(run.telemetry.missed_ticks for run in runs)
    ticks = sum(run.telemetry.ticks for run in runs)
    yield "telemetry ticks missed", f"{text.count(missed)} of {text.count(ticks + missed)}"


def _shown(value: object, limit: int = 240) -> str:
    if value is None or value == "":
        return text.MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return text.count(value)
    if isinstance(value, list | tuple):
        value = ", ".join(str(item) for item in value)
    shown = str(value)
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"
