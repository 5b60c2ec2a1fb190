"""A report whose every name speaks HTML, a script or a template language."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from radixbench.report.model import ReportView
from radixbench.report.view import build_view
from tests.report import scenes

HOSTILE = "</script><script>window.owned=1;alert(1)</script><img src=x onerror=alert(2)>\"'&{{ 7*7 }}"


@cache
def hostile_view() -> ReportView:
    """A comparison with a hostile model, scenario, cell, path, mode, server, machine and evidence."""
    setup = scenes.Setup(model=HOSTILE, version=HOSTILE)
    workload = scenes.WorkloadSpec(question_len=32, output_len=scenes.OUTPUT)
    cells = [{"shared_tokens": 0, "kind": HOSTILE}, {"shared_tokens": 512, "kind": HOSTILE}]
    pair = scenes.sweep(
        setup,
        workload,
        cells,
        lambda cell, rng: scenes.shared_prefix_asks(int(cell["shared_tokens"]), rng),
        name=HOSTILE,
    )
    comparison, a, b = scenes.compared(tuple(_spoiled(capture) for capture in pair))
    return build_view(replace(comparison, a=replace(comparison.a, path=f"/x/{HOSTILE}", mode=HOSTILE)), a, b)


def _spoiled(capture):
    """The capture with hostile words of its server and machine."""
    machine = replace(
        capture.environment,
        cpu=HOSTILE,
        platform=HOSTILE,
        packages={HOSTILE: HOSTILE},
        variables={HOSTILE: HOSTILE},
        argv=(HOSTILE,),
    )
    runs = tuple(
        replace(
            run,
            error=HOSTILE,
            server=replace(run.server, engine=HOSTILE, args={HOSTILE: HOSTILE}),
            protocol=replace(run.protocol, flush_body=HOSTILE, evidence=HOSTILE),
            telemetry=replace(run.telemetry, note=HOSTILE, probe=HOSTILE),
        )
        for run in capture.runs
    )
    return replace(capture, environment=machine, runs=runs)
