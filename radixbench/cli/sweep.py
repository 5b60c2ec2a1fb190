"""``radixbench sweep``: the main job, from nothing to two captures and a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from radixbench.cli import options
from radixbench.cli.app import app
from radixbench.cli.measure import measure
from radixbench.cli.overrides import overridable
from radixbench.cli.stderr import say
from radixbench.errors import EXIT_OK, OutputError

if TYPE_CHECKING:
    from radixbench.bench.outputs import OutputPaths
    from radixbench.bench.sweep import SweepOutcome
    from radixbench.cli.course import Course
    from radixbench.report.model import ReportView
    from radixbench.scenario.model import Scenario

DEFAULT_SCENARIO = "default"


@app.command()
@overridable
def sweep(
    scenario: Annotated[
        str | None, typer.Argument(help="A shipped scenario's name or a YAML file; flags override it.")
    ] = None,
    *,
    flags: Mapping[str, Any],
    null: options.Null = False,
    resume: options.Resume = False,
    max_time: options.MaxTime = None,
    until: options.Until = None,
    no_calibrate: options.NoCalibrate = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Directory for the captures: captures/<scenario>-<UTC>/.", rich_help_panel="Output"
        ),
    ] = None,
    report: options.Report = None,
    html: options.Html = None,
    markdown: options.Markdown = None,
    threshold: options.Threshold = options.THRESHOLD,
    keep_text: options.KeepText = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would run, and leave.", rich_help_panel="Output")
    ] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    server_argument: options.ServerArgument = None,
) -> int:
    """Measure a server with and without prefix reuse, and report what the cache is worth.

    N,N,…: one value sets the option, several are an axis of the sweep.
    """
    from radixbench.bench.outputs import choose_paths, reserved
    from radixbench.cli import output
    from radixbench.cli.course import Course
    from radixbench.report.console import print_view
    from radixbench.scenario.arms import NULL_MODES
    from radixbench.scenario.load import load, override

    output.refuse_two_on_stdout(as_json=as_json, markdown=markdown)
    course = Course.of(
        resume=resume, out=out, max_time=max_time, no_calibrate=no_calibrate, until=until, quiet=quiet
    )
    modes = NULL_MODES if null else None
    wanted = override(load(DEFAULT_SCENARIO if scenario is None else scenario), **flags, mode=modes)
    paths = choose_paths(wanted, out, options.report_path(report, html))
    if dry_run:
        return _print_plan(wanted, course, as_json=as_json)
    also = output.markdown_file(markdown)
    output.check_outputs((), *also)
    with reserved(paths, wanted, *also, resume=course.resume):
        outcome = measure(wanted, paths, course, server_arguments=server_argument or [], keep_text=keep_text)
    view, document = _conclude(outcome, paths.report, threshold)
    if as_json:
        output.print_json(document)
    else:
        print_view(view)
    unwritten = _write(view, paths, markdown, quiet=quiet)
    fault = outcome.error or unwritten
    if not as_json:
        if outcome.ending is not None:
            output.print_line(outcome.ending.text)
        a, b = (quote(path) for path in document["captures"].values())
        judged = "" if threshold == options.THRESHOLD else f" --threshold {threshold:g}"
        output.print_line(f"radixbench compare {a} {b}{judged}")
    if fault is not None:
        raise fault
    return EXIT_OK


def _write(view: ReportView, paths: OutputPaths, markdown: str | None, *, quiet: bool) -> OutputError | None:
    """The report and the Markdown; what can't be written is told last, after what was found."""
    from radixbench.cli import output

    try:
        if paths.report is not None:
            output.write_report(paths.report, view)
            if not quiet:
                say(f"report: {paths.report}")
        if markdown is not None:
            output.write_markdown(markdown, view, tell=not quiet)
    except OutputError as error:
        return error
    return None


def _print_plan(scenario: Scenario, course: Course, *, as_json: bool) -> int:
    from radixbench.bench.plan import plan
    from radixbench.cli import output
    from radixbench.cli.plan_table import print_plan

    planned = plan(scenario, until=course.until)
    if as_json:
        output.print_json(planned.to_document())
    else:
        print_plan(planned)
    return EXIT_OK


def _conclude(
    outcome: SweepOutcome, report: Path | None, threshold: float
) -> tuple[ReportView, dict[str, Any]]:
    from radixbench.compare.arm import gather
    from radixbench.compare.comparison import compare_arms
    from radixbench.compare.document import to_document
    from radixbench.report.view import build_view
    from radixbench.scenario.arms import sides

    a, b = (outcome.captures[arm] for arm in sides(outcome.captures))
    paths = {arm: str(outcome.paths[arm]) for arm in sides(outcome.captures)}
    a_path, b_path = paths.values()
    arms = gather("A", a, a_path), gather("B", b, b_path)
    comparison = compare_arms(*arms, threshold=threshold)
    document = {
        "schema": "radixbench.sweep/1",
        "captures": paths,
        "report": None if report is None else str(report),
        "until": None if outcome.ending is None else asdict(outcome.ending),
        "compare": to_document(comparison),
    }
    return build_view(comparison, a, b, arms=arms), document
