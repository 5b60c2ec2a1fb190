"""``radixbench sweep``: the main job, from nothing to two captures and a report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from radixbench.cli import options
from radixbench.cli.app import app
from radixbench.cli.measure import measure
from radixbench.cli.overrides import overridable
from radixbench.errors import EXIT_OK, OutputError

if TYPE_CHECKING:
    from radixbench.bench.outputs import OutputPaths
    from radixbench.bench.sweep import SweepOutcome
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
    resume: options.Resume = False,
    max_time: options.MaxTime = None,
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
    threshold: options.Threshold = 0.03,
    keep_text: options.KeepText = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would run, and leave.", rich_help_panel="Output")
    ] = False,
    as_json: options.Json = False,
    server_argument: options.ServerArgument = None,
) -> int:
    """Measure a server with and without prefix reuse, and report what the cache is worth.

    N,N,…: one value sets the option, several are an axis of the sweep.
    """
    from radixbench.bench.outputs import choose_paths, reserved
    from radixbench.cli import output
    from radixbench.cli.course import Course
    from radixbench.report.console import print_view
    from radixbench.scenario.load import load, override

    output.refuse_two_on_stdout(as_json=as_json, markdown=markdown)
    course = Course.of(resume=resume, out=out, max_time=max_time, no_calibrate=no_calibrate)
    wanted = override(load(DEFAULT_SCENARIO if scenario is None else scenario), **flags)
    paths = choose_paths(wanted, out, options.report_path(report, html))
    if dry_run:
        return _print_plan(wanted, as_json=as_json)
    also = output.markdown_file(markdown)
    output.check_outputs((), *also)
    with reserved(paths, wanted, *also, resume=course.resume):
        outcome = measure(wanted, paths, course, server_arguments=server_argument or [], keep_text=keep_text)
    view, document = _conclude(outcome, paths.report, threshold)
    if as_json:
        output.print_json(document)
    else:
        print_view(view)
    unwritten = _write(view, paths, markdown)
    fault = outcome.error or unwritten
    if not as_json:
        on, off = (quote(str(outcome.paths[mode])) for mode in ("on", "off"))
        output.print_line(f"radixbench compare {on} {off}")
    if fault is not None:
        raise fault
    return EXIT_OK


def _write(view: ReportView, paths: OutputPaths, markdown: str | None) -> OutputError | None:
    """The report and the Markdown; what can't be written is told last, after what was found."""
    from radixbench.cli import output

    try:
        if paths.report is not None:
            output.write_report(paths.report, view)
            output.say(f"report: {paths.report}")
        if markdown is not None:
            output.write_markdown(markdown, view)
    except OutputError as error:
        return error
    return None


def _print_plan(scenario: Scenario, *, as_json: bool) -> int:
    from radixbench.bench.plan import plan
    from radixbench.cli import output
    from radixbench.cli.plan_table import print_plan

    planned = plan(scenario)
    if as_json:
        output.print_json(planned.to_document())
    else:
        print_plan(planned)
    return EXIT_OK


def _conclude(
    outcome: SweepOutcome, report: Path | None, threshold: float
) -> tuple[ReportView, dict[str, Any]]:
    from radixbench.compare.comparison import compare
    from radixbench.compare.document import to_document
    from radixbench.report.view import build_view

    on, off = outcome.captures["on"], outcome.captures["off"]
    on_path, off_path = str(outcome.paths["on"]), str(outcome.paths["off"])
    comparison = compare(on, off, a_path=on_path, b_path=off_path, threshold=threshold)
    document = {
        "schema": "radixbench.sweep/1",
        "captures": {"on": on_path, "off": off_path},
        "report": None if report is None else str(report),
        "compare": to_document(comparison),
    }
    return build_view(comparison, on, off), document
