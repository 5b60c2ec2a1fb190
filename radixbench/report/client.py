"""Whether the client could have distorted the numbers, in a plain sentence with the readings behind it.

What it cost in each run, and what it got wrong against a mock that knows its own write times. The judgement
is that of the findings; here it is only told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from radixbench.capture.model import Run
from radixbench.findings.client import calibration_findings, client_findings
from radixbench.findings.model import Finding
from radixbench.records import Calibration
from radixbench.report import text
from radixbench.report.cells import arm_cell, cell_title
from radixbench.report.evidence import Evidence
from radixbench.report.model import Grid, Section, Statement
from radixbench.stats.quantile import quantile
from radixbench.stats.sample import Absent, Sample
from radixbench.units import seconds

_TITLE = "Whether the client distorted the numbers"
_FINE, _SUSPECT = "client: fine", "client: suspect"
_UNTRIED = "client: not calibrated"
_Told = tuple[str, Finding]
_RUN_HEADER = (
    "cell",
    "arm",
    "lateness p50 / p99",
    "CPU per chunk",
    "of a core",
    "read together with the chunk before",
    "stalls of the event loop",
)
_CALIBRATION_HEADER = (
    "arm",
    "streams",
    "chunks",
    "first token seen late, p50 / p99",
    "chunk seen late, p50 / p99",
    "mock late itself, p50 / p99",
    "CPU per chunk",
    "read together",
)


def client_section(sides: Sequence[Evidence]) -> Section | None:
    """``None`` for captures from before the client watched itself."""
    watched = [run for side in sides for run in side.capture.runs if run.client is not None]
    calibrated = _calibrations(sides)
    if not watched and not calibrated:
        return None
    grids = []
    if watched:
        grids.append(("In every cell, all seeds together", Grid(_RUN_HEADER, tuple(_run_rows(sides)))))
    if calibrated:
        rows = tuple(_calibration_row(name, one) for name, one in calibrated)
        grids.append(("Against a mock server, before the runs", Grid(_CALIBRATION_HEADER, rows)))
    return Section("client", _TITLE, (client_verdict(sides), *_late_mocks(calibrated)), tuple(grids))


def client_verdict(sides: Sequence[Evidence]) -> Statement:
    """Fine, suspect or not calibrated, with what speaks for it: the first finding in full."""
    found = _against(sides)
    if found is None:
        return _cleared(sides)
    share, (where, finding) = found
    example = f"{share}, for one: " if share else ""
    return Statement(f"{example}{where}: {finding.text}.", "caution", _SUSPECT)


def client_brief(sides: Sequence[Evidence]) -> Statement:
    """The same in short: what speaks against it stands in full among the caveats."""
    found = _against(sides)
    if found is None:
        return _cleared(sides)
    share, (where, finding) = found
    return Statement(f"{share or where}, see {finding.code}.", "caution", _SUSPECT)


def _cleared(sides: Sequence[Evidence]) -> Statement:
    if not _calibrations(sides):
        return Statement(
            "nothing in its runs speaks against it, but its own error was not tried against a mock server.",
            "caution",
            _UNTRIED,
        )
    return Statement(f"{_because(sides)}.", "better", _FINE)


def _against(sides: Sequence[Evidence]) -> tuple[str, _Told] | None:
    """In how many runs something more than a remark speaks against the client, "" for its calibration, and the first."""
    lag = [
        (side.arm.name, one) for side in sides for one in calibration_findings(side.capture, side.summaries)
    ]
    if lag:
        return "", lag[0]
    marked = [told for side in sides for told in _marked_runs(side)]
    runs = sum(len(side.capture.runs) for side in sides)
    return (f"in {len(marked)} of {text.plural(runs, 'run')}", marked[0]) if marked else None


def _marked_runs(side: Evidence) -> Iterator[_Told]:
    """The first thing that speaks against the client, run by run."""
    for run, summary in side.pairs():
        for finding in client_findings(run, summary):
            if finding.severity != "info":
                yield f"{arm_cell(side.arm.name, run.cell)}, seed {run.seed}", finding
                break


def _because(sides: Sequence[Evidence]) -> str:
    """The largest error against the mock beside the smallest wait that was measured."""
    errors = [one.ttft_error_p50_ns for _, one in _calibrations(sides)]
    waits = [
        figure.value
        for side in sides
        for run in side.summaries
        if (figure := run.figures.get("ttft_p50")) is not None and figure.value
    ]
    if not errors or not waits:
        return "nothing in its runs speaks against it"
    error, wait = seconds(max(errors)), min(waits)
    return (
        f"against a mock it saw first tokens {text.duration(error)} late (median), "
        f"{text.percent(error / wait)} of the shortest median TTFT here, {text.duration(wait)}"
    )


def _late_mocks(calibrated: Sequence[tuple[str, Calibration]]) -> Iterator[Statement]:
    for name, one in calibrated:
        if one.late_p99_ns > max(one.ttft_error_p99_ns, one.lag_p99_ns):
            yield Statement(
                f"{name}: the mock itself wrote up to {text.duration(seconds(one.late_p99_ns))} (p99) after its "
                "schedule: the machine was busy. The client's error is counted from the true write times.",
                "neutral",
                "note",
            )


def _calibrations(sides: Sequence[Evidence]) -> list[tuple[str, Calibration]]:
    """Each calibration once, with the names of the arms that rest on it."""
    found: dict[Calibration, list[str]] = {}
    for side in sides:
        if side.capture.calibration is not None:
            found.setdefault(side.capture.calibration, []).append(side.arm.name)
    return [(text.several(names), one) for one, names in found.items()]


def _run_rows(sides: Sequence[Evidence]) -> Iterator[tuple[str, ...]]:
    for side in sides:
        for cell in side.cells():
            runs = [run for run in side.capture.runs if run.cell == cell]
            yield cell_title(cell), side.arm.name, _lateness(side, runs), *_cost(runs)


def _lateness(side: Evidence, runs: Sequence[Run]) -> str:
    if side.capture.scenario.load.arrival == "closed":
        return "none: due when sent"
    late = Sample(tuple(seconds(one.send_ns - one.due_ns) for run in runs for one in run.requests))
    ends = [quantile(late, q) for q in (0.5, 0.99)]
    return " / ".join(text.MISSING if isinstance(end, Absent) else text.duration(end) for end in ends)


def _cost(runs: Sequence[Run]) -> tuple[str, str, str, str]:
    watched = [(run, run.client) for run in runs if run.client is not None]
    if not watched:
        return text.MISSING, text.MISSING, text.MISSING, text.MISSING
    cpu = sum(client.cpu_ns for _, client in watched)
    chunks = sum(client.chunks for _, client in watched)
    span = sum(run.end_ns - run.start_ns for run, _ in watched)
    together = sum(client.coalesced_chunks for _, client in watched)
    stalls, ticks = (sum(getattr(client, name) for _, client in watched) for name in ("stalls", "ticks"))
    worst = max(client.stall_max_ns for _, client in watched)
    return (
        text.duration(seconds(cpu) / chunks) if chunks else text.MISSING,
        text.percent(cpu / span) if span > 0 else text.MISSING,
        text.percent(together / chunks) if chunks else text.MISSING,
        f"{text.count(stalls)} in {text.count(ticks)} looks{f', up to {text.duration(seconds(worst))}' if stalls else ''}",
    )


def _calibration_row(name: str, one: Calibration) -> tuple[str, ...]:
    return (
        name,
        text.count(one.streams),
        text.count(one.chunks),
        _pair(one.ttft_error_p50_ns, one.ttft_error_p99_ns),
        _pair(one.lag_p50_ns, one.lag_p99_ns),
        _pair(one.late_p50_ns, one.late_p99_ns),
        text.duration(seconds(one.cpu_ns_per_chunk)),
        text.percent(one.coalesced_share),
    )


def _pair(p50: int, p99: int) -> str:
    return f"{text.duration(seconds(p50))} / {text.duration(seconds(p99))}"
