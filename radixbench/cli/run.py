"""``radixbench run``: one arm of a scenario as one capture, for comparing builds or machines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from radixbench.cli import options
from radixbench.cli.app import app
from radixbench.cli.measure import measure
from radixbench.cli.overrides import overridable
from radixbench.errors import EXIT_OK, UsageError


@app.command()
@overridable
def run(
    scenario: Annotated[
        str, typer.Argument(help="A YAML file or a shipped scenario's name; flags override it.")
    ],
    *,
    flags: Mapping[str, Any],
    mode: Annotated[
        str | None, typer.Option("--mode", help="on or off; the scenario's first mode otherwise.")
    ] = None,
    resume: options.Resume = False,
    max_time: options.MaxTime = None,
    until: options.Until = None,
    no_calibrate: options.NoCalibrate = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="The capture to write: captures/<scenario>-<UTC>/<mode>.json.",
            rich_help_panel="Output",
        ),
    ] = None,
    keep_text: options.KeepText = False,
    quiet: options.Quiet = False,
    server_argument: options.ServerArgument = None,
) -> int:
    """Measure one arm of a scenario and save the capture."""
    from radixbench.bench.outputs import choose_capture, reserved
    from radixbench.cli import output
    from radixbench.cli.course import Course
    from radixbench.compare.arm import gather
    from radixbench.compare.single import single_caveats
    from radixbench.report.console import print_view
    from radixbench.report.view import build_single_view
    from radixbench.scenario.load import load, override

    course = Course.of(
        resume=resume, out=out, max_time=max_time, no_calibrate=no_calibrate, until=until, quiet=quiet
    )
    written = load(scenario)
    wanted = override(written, **flags, mode=written.modes[0] if mode is None else mode)
    if len(wanted.modes) > 1:
        raise UsageError(
            f"--mode: {mode} are two arms, and a run has one",
            remedy="name on or off, or measure both with `radixbench sweep`",
        )
    paths = choose_capture(wanted, out)
    with reserved(paths, wanted, resume=course.resume):
        outcome = measure(wanted, paths, course, server_arguments=server_argument or [], keep_text=keep_text)
    ((arm, capture),) = outcome.captures.items()
    path = str(outcome.paths[arm])
    gathered = gather("", capture, path)
    print_view(
        build_single_view(capture, path=path, gathered=gathered, caveats=single_caveats(capture, gathered))
    )
    if outcome.ending is not None:
        output.print_line(outcome.ending.text)
    output.print_line(f"radixbench report {quote(path)} -o report.html")
    if outcome.error is not None:
        raise outcome.error
    return EXIT_OK
