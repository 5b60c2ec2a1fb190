"""``radixbench compare``: what two captures say about each other, or several candidates about one reference."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radixbench.cli import options
from radixbench.cli.app import app
from radixbench.cli.goodput import Goodput
from radixbench.cli.stderr import say
from radixbench.cli.terms import Terms, names_in
from radixbench.errors import EXIT_OK, EXIT_VERDICT, UsageError

if TYPE_CHECKING:
    from radixbench.capture.model import Capture
    from radixbench.cli.many import Wanted


@app.command()
def compare(
    captures: Annotated[
        list[Path],
        typer.Argument(
            help="A, the candidate, then B, the reference. With more (8 at most), each is a candidate but the last.",
            metavar="CAPTURE",
        ),
    ],
    report: options.Report = None,
    html: options.Html = None,
    markdown: options.Markdown = None,
    as_json: options.Json = False,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on",
            help="Exit with 1 if a gated row has one of these verdicts (worse,undecided,incomparable) when all"
            " gated rows are judged together (Holm's correction).",
        ),
    ] = None,
    gate: options.Gate = options.GATE,
    threshold: options.Threshold = options.THRESHOLD,
    clock_floor: options.ClockFloor = None,
    allow: options.Allow = None,
    goodput: Goodput = None,
) -> int:
    """Compare capture A with capture B, or several with the last; a factor above 1 means the candidate is better."""
    from radixbench.cli import many, output

    output.refuse_two_on_stdout(as_json=as_json, markdown=markdown)
    report = options.report_path(report, html)
    outputs = () if report is None else (report,)
    if len(captures) < 2:
        raise UsageError(f"{captures[0]}: is one capture", remedy="give the candidate, then the reference")
    many.check_captures(captures)
    output.check_outputs(captures, *outputs, *output.markdown_file(markdown))
    failing = None if fail_on is None else names_in("--fail-on", fail_on)
    terms = Terms.of(gate=gate, threshold=threshold, clock_floor=clock_floor, allow=allow)
    loaded = terms.load(captures, goodput)
    wanted = many.Wanted(report, markdown, as_json, failing, terms.gate)
    if len(captures) == 2:
        return _compare_two(captures, loaded, terms, wanted)
    from radixbench.compare.many import compare_many

    found = compare_many(
        loaded,
        [str(path) for path in captures],
        threshold=threshold,
        clock_floor_mhz=clock_floor,
        allow=terms.allow,
    )
    return many.compare_several(found, wanted)


def _compare_two(paths: Sequence[Path], captures: Sequence[Capture], terms: Terms, wanted: Wanted) -> int:
    """Write and print what is wanted of candidate and reference; 1 where a gated row fails."""
    from radixbench.cli import output
    from radixbench.compare.arm import gather
    from radixbench.compare.comparison import compare_arms
    from radixbench.compare.document import to_document
    from radixbench.compare.gate import conclusion, gate, withdrawn

    a, b = (gather(*named) for named in zip("AB", captures, map(str, paths), strict=True))
    comparison = compare_arms(
        a, b, threshold=terms.threshold, clock_floor_mhz=terms.clock_floor, allow=terms.allow
    )
    failing = gate(comparison, wanted.fail_on or (), wanted.gate)
    if wanted.as_json:
        output.print_json(to_document(comparison, gate=wanted.gate, fail_on=wanted.fail_on))
    if wanted.report is not None or wanted.markdown is not None or not wanted.as_json:
        from radixbench.report.view import build_view

        view = build_view(comparison, *captures, arms=(a, b), gate=wanted.gate)
        if wanted.report is not None:
            output.write_report(wanted.report, view)
            say(f"report: {wanted.report}")
        if wanted.markdown is not None:
            output.write_markdown(wanted.markdown, view)
        if not wanted.as_json and wanted.markdown != "-":
            from radixbench.report.console import print_view

            print_view(view)
    if wanted.fail_on is not None:
        told = (comparison, wanted.fail_on, wanted.gate)
        output.say_gate(failing, withdrawn(*told), conclusion(*told))
    return EXIT_VERDICT if failing else EXIT_OK
