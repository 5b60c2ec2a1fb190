"""``radixbench compare``: what two captures say about each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from radixbench.cli import options
from radixbench.cli.app import app
from radixbench.errors import EXIT_OK, EXIT_VERDICT, UsageError


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(help="Capture A, the candidate.", metavar="A.json")],
    b: Annotated[Path, typer.Argument(help="Capture B, the reference.", metavar="B.json")],
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
    gate: Annotated[
        str, typer.Option("--gate", help="The metrics --fail-on looks at.")
    ] = "ttft_p50,output_throughput",
    threshold: options.Threshold = 0.03,
    clock_floor: Annotated[
        float | None,
        typer.Option("--clock-floor", help="SM clock in MHz below which a caveat is due.", min=0.0),
    ] = None,
) -> int:
    """Compare capture A with capture B; a factor above 1 means A is better."""
    from radixbench.capture.store import load
    from radixbench.cli import output
    from radixbench.compare.comparison import compare as compare_captures
    from radixbench.compare.document import to_document
    from radixbench.compare.gate import conclusion, withdrawn
    from radixbench.compare.gate import gate as judge

    output.refuse_two_on_stdout(as_json=as_json, markdown=markdown)
    report = options.report_path(report, html)
    outputs = () if report is None else (report,)
    output.check_outputs((a, b), *outputs, *output.markdown_file(markdown))
    wanted = None if fail_on is None else _words("--fail-on", fail_on)
    gated = _words("--gate", gate)
    capture_a, capture_b = load(a), load(b)
    comparison = compare_captures(
        capture_a,
        capture_b,
        a_path=str(a),
        b_path=str(b),
        threshold=threshold,
        clock_floor_mhz=clock_floor,
    )
    failing = judge(comparison, wanted or (), gated)
    if as_json:
        output.print_json(to_document(comparison))
    if report is not None or markdown is not None or not as_json:
        from radixbench.report.view import build_view

        view = build_view(comparison, capture_a, capture_b, gate=gated)
        if report is not None:
            output.write_report(report, view)
            output.say(f"report: {report}")
        if markdown is not None:
            output.write_markdown(markdown, view)
        if not as_json and markdown != "-":
            from radixbench.report.console import print_view

            print_view(view)
    if wanted is not None:
        output.say_gate(failing, withdrawn(comparison, wanted, gated), conclusion(comparison, wanted, gated))
    return EXIT_VERDICT if failing else EXIT_OK


def _words(flag: str, text: str) -> tuple[str, ...]:
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    if not words:
        raise UsageError(f"{flag}: is empty, so that it would judge nothing", remedy="name at least one")
    return words
