"""``radixbench run``: one arm of a scenario as one capture, for comparing builds or machines."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from radixbench.cli import options
from radixbench.cli.app import app
from radixbench.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from radixbench.records import Mode


@app.command()
def run(
    scenario: Annotated[str, typer.Argument(help="A YAML file or a shipped scenario's name.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="The capture to write: captures/<scenario>-<UTC>/<mode>.json."),
    ] = None,
    mode: Annotated[
        str | None, typer.Option("--mode", help="on or off; the scenario's first mode otherwise.")
    ] = None,
    keep_text: options.KeepText = False,
    server_argument: Annotated[list[str] | None, typer.Option("--server-argument", hidden=True)] = None,
) -> int:
    """Measure one arm of a scenario and save the capture."""
    from radixbench.bench.outputs import choose_capture, reserved
    from radixbench.bench.stop import stop_on_signals
    from radixbench.bench.sweep import run_sweep
    from radixbench.cli import output
    from radixbench.report.console import ProgressDisplay, print_view
    from radixbench.report.view import build_single_view
    from radixbench.scenario.load import load

    wanted = load(scenario)
    wanted = replace(wanted, modes=(wanted.modes[0] if mode is None else _mode(mode),))
    paths = choose_capture(wanted, out)
    with reserved(paths, wanted), stop_on_signals() as should_stop, ProgressDisplay() as display:
        outcome = run_sweep(
            wanted,
            paths,
            on_progress=display,
            should_stop=should_stop,
            argv=("radixbench", *sys.argv[1:]),
            server_arguments=server_argument or [],
            keep_text=keep_text,
        )
    ((arm, capture),) = outcome.captures.items()
    print_view(build_single_view(capture, path=str(outcome.paths[arm])))
    output.print_line(f"radixbench report {quote(str(outcome.paths[arm]))} -o report.html")
    if outcome.error is not None:
        raise outcome.error
    return EXIT_OK


def _mode(word: str) -> Mode:
    if word == "on":
        return "on"
    if word == "off":
        return "off"
    raise UsageError(f"--mode: {word!r} is no arm", remedy="choose on or off")
