"""``radixbench report``: one capture, a pair, or several beside one another, as something to look at, or as files that other programs read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from radixbench.cli import options
from radixbench.cli.app import app
from radixbench.cli.goodput import Goodput
from radixbench.cli.stderr import say
from radixbench.cli.terms import Terms
from radixbench.errors import EXIT_OK, OutputError, UsageError

if TYPE_CHECKING:
    from radixbench.capture.model import Capture
    from radixbench.compare.arm import Arm
    from radixbench.compare.change import Comparison
    from radixbench.report.charts import Illustrated
    from radixbench.report.model import ReportView

_PAGES = {".html", ".htm"}
_FLAT = {".json", ".jsonl", ""}


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What to write, each ``None`` where it isn't wanted."""

    out: Path | None
    markdown: str | None
    png: Path | None
    svg: Path | None
    csv: Path | None
    flat: Path | None

    @property
    def nothing(self) -> bool:
        """A table on the terminal is all."""
        return all(one is None for one in (self.out, self.markdown, self.png, self.svg, self.csv, self.flat))

    @property
    def shows(self) -> bool:
        """Whether a view is needed, not only data."""
        return self.nothing or any(one is not None for one in (self.out, self.markdown, self.png, self.svg))

    @property
    def folders(self) -> tuple[tuple[str, Path], ...]:
        """The directories to write files into, with the option that names each."""
        flat = self.flat if self.flat is not None and not self.flat.suffix else None
        named = (("--png", self.png), ("--svg", self.svg), ("--csv", self.csv), ("--flat", flat))
        return tuple((flag, folder) for flag, folder in named if folder is not None)


@app.command()
def report(
    captures: Annotated[
        list[Path],
        typer.Argument(
            help="One capture; two, A then B; or more (8 at most), the last of which is the reference.",
            metavar="CAPTURE",
        ),
    ],
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The HTML file to write.")] = None,
    markdown: options.Markdown = None,
    png: Annotated[
        Path | None,
        typer.Option("--png", help="Write every figure as a PNG into this directory.", metavar="DIR"),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", help="Write every figure as an SVG into this directory.", metavar="DIR"),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv", help="Write runs, requests and factors as CSV into this directory.", metavar="DIR"
        ),
    ] = None,
    flat: Annotated[
        Path | None,
        typer.Option(
            "--flat",
            help="Write the flat keys that scripts read (median_ttft_ms, output_throughput, …): .json, .jsonl for a"
            " line a run, or a directory for a JSON file a run.",
            metavar="FILE",
        ),
    ] = None,
    goodput: Goodput = None,
    gate: options.Gate = options.GATE,
    threshold: options.Threshold = options.THRESHOLD,
    clock_floor: options.ClockFloor = None,
    allow: options.Allow = None,
) -> int:
    """Render captures as HTML, Markdown, PNG, SVG, CSV or flat JSON; prints a table when no output is named."""
    wanted = _Wanted(out, markdown, png, svg, csv, flat)
    terms = Terms.of(gate=gate, threshold=threshold, clock_floor=clock_floor, allow=allow)
    _check(captures, wanted, terms)
    loaded = terms.load(captures, goodput)
    if len(loaded) > 2:
        return _report_many(captures, loaded, wanted, terms)
    arms = _gathered(captures, loaded) if wanted.shows or len(loaded) > 1 else []
    comparison = _comparison(arms, terms)
    if wanted.csv is not None or wanted.flat is not None:
        _write_data(captures, loaded, [] if comparison is None else [comparison], wanted, terms.gate)
    if wanted.shows:
        view = _view(arms, comparison, terms)
        _write_view(view, wanted)
        if wanted.nothing:
            from radixbench.report.console import print_view

            print_view(view)
    return EXIT_OK


def _check(captures: list[Path], wanted: _Wanted, terms: Terms) -> None:
    """Refuse, before anything is read, what couldn't be written."""
    from radixbench.cli import output
    from radixbench.cli.many import check_captures

    if wanted.out is not None and wanted.out.suffix.lower() not in _PAGES:
        raise UsageError(
            f"-o {wanted.out}: a report is an HTML page", remedy="-o takes .html; PNGs: --png DIR"
        )
    if wanted.flat is not None and wanted.flat.suffix.lower() not in _FLAT:
        raise UsageError(
            f"--flat {wanted.flat}: flat keys are JSON",
            remedy="--flat takes .json, .jsonl or a directory; CSV: --csv DIR",
        )
    check_captures(captures)
    if len(captures) == 1:
        terms.refuse_with_one()
    for flag, folder in wanted.folders:
        if folder.exists() and not folder.is_dir():
            raise OutputError(f"{flag} {folder}: is a file", remedy="name a directory")
    folders = [folder for _, folder in wanted.folders]
    files = (one for one in (wanted.out, wanted.flat) if one is not None and one not in folders)
    output.check_outputs(captures, *files, *output.markdown_file(wanted.markdown))


def _report_many(paths: list[Path], loaded: list[Capture], wanted: _Wanted, terms: Terms) -> int:
    from radixbench.cli.many import show, write_view
    from radixbench.compare.many import compare_many
    from radixbench.report.many.view import build_many_view

    many = compare_many(
        loaded,
        [str(path) for path in paths],
        threshold=terms.threshold,
        clock_floor_mhz=terms.clock_floor,
        allow=terms.allow,
    )
    if wanted.csv is not None or wanted.flat is not None:
        _write_data(paths, loaded, many.comparisons, wanted, terms.gate)
    if wanted.shows:
        view = build_many_view(many, gate=terms.gate)
        write_view(view, page=wanted.out, markdown=wanted.markdown)
        _write_figures(view, wanted)
        if wanted.nothing:
            show(view)
    return EXIT_OK


def _gathered(paths: list[Path], loaded: list[Capture]) -> list[Arm]:
    """Every run summarised, once for all that is made of it."""
    from radixbench.compare.arm import gather

    named = zip("AB", loaded, paths, strict=False)
    return [gather(side, capture, str(path)) for side, capture, path in named]


def _comparison(arms: list[Arm], terms: Terms) -> Comparison | None:
    from radixbench.compare.comparison import compare_arms

    if len(arms) < 2:
        return None
    a, b = arms
    return compare_arms(a, b, threshold=terms.threshold, clock_floor_mhz=terms.clock_floor, allow=terms.allow)


def _view(arms: list[Arm], comparison: Comparison | None, terms: Terms) -> ReportView:
    from radixbench.compare.single import single_caveats
    from radixbench.report.view import build_single_view, build_view

    if comparison is not None:
        a, b = arms
        return build_view(comparison, a.capture, b.capture, arms=(a, b), gate=terms.gate)
    (arm,) = arms
    caveats = single_caveats(arm.capture, arm)
    return build_single_view(arm.capture, path=arm.path, gathered=arm, caveats=caveats, gate=terms.gate)


def _write_view(view: ReportView, wanted: _Wanted) -> None:
    from radixbench.cli import output

    if wanted.out is not None:
        output.write_report(wanted.out, view)
        say(f"report: {wanted.out}")
    if wanted.markdown is not None:
        output.write_markdown(wanted.markdown, view)
    _write_figures(view, wanted)


def _write_figures(view: Illustrated, wanted: _Wanted) -> None:
    if wanted.png is not None or wanted.svg is not None:
        from radixbench.report.charts import export_png, export_svg

        drawn = [] if wanted.png is None else list(export_png(view, wanted.png))
        drawn += [] if wanted.svg is None else list(export_svg(view, wanted.svg))
        for path in drawn:
            say(f"figure: {path}")


def _write_data(
    paths: list[Path],
    loaded: list[Capture],
    comparisons: Sequence[Comparison],
    wanted: _Wanted,
    gate: Sequence[str],
) -> None:
    from radixbench.report.export import write_csv, write_flat

    named = [(str(path), capture) for path, capture in zip(paths, loaded, strict=True)]
    if wanted.csv is not None:
        for path in write_csv(named, wanted.csv, comparisons=comparisons, gate=gate):
            say(f"table: {path}")
    if wanted.flat is not None:
        for path in write_flat(named, wanted.flat):
            say(f"flat keys: {path}")
