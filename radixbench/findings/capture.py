"""What the runs of one capture say together: what is missing, who answered, levels of concurrency,
the client's calibration, the machine's other work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from radixbench.capture.model import Capture
from radixbench.findings.cards import card_findings, throttle_findings
from radixbench.findings.cell import CellKey, cell_key, cell_name
from radixbench.findings.client import calibration_findings
from radixbench.findings.completeness import left_out, missing_runs
from radixbench.findings.content import renamed_between
from radixbench.findings.drift import sweep_drift
from radixbench.findings.levels import level_findings
from radixbench.findings.machine import busy_findings
from radixbench.findings.model import Finding
from radixbench.findings.outliers import outlier_findings
from radixbench.findings.run import run_findings
from radixbench.findings.turns import recorded_findings
from radixbench.findings.words import percent
from radixbench.metrics.answers import Answers, sort_out
from radixbench.metrics.figure import RunSummary
from radixbench.records import Mode
from radixbench.stats.sequential import STOPPED_LEVEL


def capture_findings(
    capture: Capture, summaries: Sequence[RunSummary], *, answers: Sequence[Answers] | None = None
) -> Iterator[Finding]:
    """Findings across runs; ``summaries[i]`` and ``answers[i]`` are of ``capture.runs[i]``."""
    answers = [sort_out(run) for run in capture.runs] if answers is None else answers
    return chain(
        missing_runs(capture),
        _added_seeds(capture),
        _same_prompts(capture),
        left_out(summaries),
        renamed_between(capture.runs),
        level_findings(capture, summaries),
        recorded_findings(summaries, capture.scenario.workload.history),
        calibration_findings(capture, summaries),
        busy_findings(capture),
        sweep_drift(capture, summaries),
        outlier_findings(answers, summaries),
        card_findings(capture),
    )


def all_findings(
    capture: Capture, summaries: Sequence[RunSummary], *, answers: Sequence[Answers] | None = None
) -> Iterator[Finding]:
    """Findings of every run, and those across runs; ``summaries[i]`` and ``answers[i]`` are of ``capture.runs[i]``."""
    answers = [sort_out(run) for run in capture.runs] if answers is None else answers
    yield from capture_findings(capture, summaries, answers=answers)
    for own, summary in zip(answers, summaries, strict=True):
        yield from run_findings(own.run, summary, capture.scenario.workload.history, answers=own)
    yield from throttle_findings(capture)
    yield from random_weights([capture])


def _added_seeds(capture: Capture) -> Iterator[Finding]:
    """Seeds that were added until intervals were narrow: why those are wider than Student's t makes them at 95 %."""
    if capture.until is not None:
        yield Finding(
            "seeds-added",
            "info",
            f"seeds were added to bring intervals within {percent(capture.until)} of their values. Ending at narrow ones"
            f" finds them too often, so intervals and verdicts are drawn at {100 * STOPPED_LEVEL:g} % by Student's t, and so hold as"
            " often as those of a settled number of seeds",
            "nothing to mend; sweep with --seeds for intervals that are drawn at 95 %",
        )


def _same_prompts(capture: Capture) -> Iterator[Finding]:
    """Cells whose seeds all sent the same prompts, as those of a recorded file do: repeats, not other draws."""
    sent: dict[tuple[Mode, CellKey], dict[int, str]] = {}
    for run in capture.runs:
        sent.setdefault((run.mode, cell_key(run.cell)), {})[run.seed] = run.workload_digest
    alike = {key: len(of) for key, of in sent.items() if len(of) > 1 and len(set(of.values())) == 1}
    if not alike:
        return
    cells, every = {cell for _, cell in alike}, {cell for _, cell in sent}
    lone = next(iter(cells)) if len(cells) == 1 and cells != every else None
    some = "" if cells == every else f"{len(cells)} of {len(every)} cells"
    yield Finding(
        "same-prompts-every-seed",
        "info",
        f"all {max(alike.values())} seeds sent the same prompts: they are repeats, and intervals and verdicts cover the"
        " machine's noise only, not what other prompts would do",
        "nothing to mend for these prompts; measure other files too before speaking of prompts in general",
        place=some if lone is None else cell_name(lone),
        cell=lone,
    )


def random_weights(captures: Iterable[Capture]) -> Iterator[Finding]:
    """A model of random weights: its speed is real, its answers aren't."""
    random = {
        run.server.model
        for capture in captures
        for run in capture.runs
        if run.server.identity.get("random_weights") is True
    }
    if random:
        yield Finding(
            "random-weights",
            "info",
            f"{', '.join(sorted(random))} has random weights: its speed counts, its answers mean nothing",
            "name a real model (--model) to see factors of its size",
        )
