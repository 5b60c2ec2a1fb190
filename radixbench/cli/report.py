"""``radixbench report``: one capture, or a pair, as something to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from radixbench.cli import options
from radixbench.cli.app import app
from radixbench.errors import EXIT_OK, UsageError
from radixbench.report.model import ReportView

_PAGES = {".html", ".htm"}


@app.command()
def report(
    captures: Annotated[
        list[Path], typer.Argument(help="One capture, or two: A then B.", metavar="CAPTURE...")
    ],
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The HTML file to write.")] = None,
    markdown: options.Markdown = None,
    png: Annotated[
        Path | None, typer.Option("--png", help="Write every figure as a PNG into this directory.")
    ] = None,
) -> int:
    """Render captures as HTML, Markdown or PNG; prints a table when no output is named."""
    from radixbench.cli import output

    if out is not None and out.suffix.lower() not in _PAGES:
        raise UsageError(f"-o {out}: a report is an HTML page", remedy="-o takes .html; PNGs: --png DIR")
    if len(captures) > 2:
        raise UsageError(f"{len(captures)} captures given", remedy="a report shows one, or two side by side")
    outputs = () if out is None else (out,)
    output.check_outputs(captures, *outputs, *output.markdown_file(markdown))
    view = _view(captures)
    if out is not None:
        output.write_report(out, view)
        output.say(f"report: {out}")
    if markdown is not None:
        output.write_markdown(markdown, view)
    if png is not None:
        from radixbench.report.charts import export_png

        for path in export_png(view, png):
            output.say(f"figure: {path}")
    if out is None and markdown is None and png is None:
        from radixbench.report.console import print_view

        print_view(view)
    return EXIT_OK


def _view(paths: list[Path]) -> ReportView:
    from radixbench.capture.store import load
    from radixbench.compare.comparison import compare
    from radixbench.compare.single import single_caveats
    from radixbench.report.view import build_single_view, build_view

    loaded = [load(path) for path in paths]
    if len(loaded) == 1:
        return build_single_view(loaded[0], path=str(paths[0]), caveats=single_caveats(loaded[0]))
    comparison = compare(loaded[0], loaded[1], a_path=str(paths[0]), b_path=str(paths[1]))
    return build_view(comparison, loaded[0], loaded[1])
