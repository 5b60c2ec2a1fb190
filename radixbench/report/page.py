"""What every page shares: templates that escape, themes, figures drawn still and live, no network.

Every figure is in a page as a still SVG and as a live chart that takes its place where scripts run.
A page forbids itself the network by its content security policy. All text is escaped by the
templates; only what this package draws itself goes in as it is. Equal views give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from radixbench.report import charts
from radixbench.report.inert import inert
from radixbench.report.model import Figure, Panel
from radixbench.report.packed import packed
from radixbench.report.palette import DARK, LIGHT, NAMED, Palette

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class DrawnPanel:
    """A panel with its still picture."""

    key: str
    title: str
    summary: str
    svg: Markup


@dataclass(frozen=True, slots=True)
class DrawnFigure:
    """A figure with its panels drawn."""

    figure: Figure
    panels: tuple[DrawnPanel, ...]


def drawn(figure: Figure) -> DrawnFigure:
    """The figure with a still picture of each panel."""
    return DrawnFigure(figure, tuple(_drawn(panel) for panel in figure.panels))


def fill(
    template: str,
    shown: Sequence[Figure],
    /,
    *,
    title: str,
    styles: Sequence[str] = ("style.css",),
    **values: Any,
) -> str:
    """The template as a whole page; ``shown`` are all the figures that it places, for their live charts."""
    panels = [panel for figure in shown for panel in figure.panels]
    return (
        _environment()
        .get_template(template)
        .render(
            title=title,
            **values,
            style=_trusted(_colours() + "".join(_file(name) for name in styles)),
            theme_script=_trusted(_file("theme.js")),
            plots_script=_trusted(_file("tools.js") + _file("plots.js")),
            runtime=_trusted(charts.runtime()) if panels else "",
            specs=_specs(panels) if panels else "",
        )
    )


def _specs(panels: Sequence[Panel]) -> Markup:
    """What the live charts are drawn from, by panel."""
    specs = {panel.key: charts.live(panel, NAMED) for panel in panels}
    return _trusted(packed(json.dumps(specs, separators=(",", ":"), sort_keys=True)))


def _drawn(panel: Panel) -> DrawnPanel:
    picture = charts.svg(panel, NAMED, font="inherit")
    return DrawnPanel(panel.key, panel.title, panel.summary, _trusted(picture))


def _trusted(text: str) -> Markup:
    return Markup(text)  # noqa: S704 - made by this package or by the drawing library, which escapes


def _seen(value: Any) -> Any:
    """Plain text without what acts on a reader's eye; what this package made itself stays as it is."""
    return inert(value) if type(value) is str else value


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_seen,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _file(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _colours() -> str:
    light, dark = _variables(LIGHT), _variables(DARK)
    return (
        f":root{{{light}}}\n"
        f':root[data-theme="dark"]{{{dark}}}\n'
        f'@media (prefers-color-scheme: dark){{:root:not([data-theme="light"]){{{dark}}}}}\n'
        f"@media print{{:root:root:root{{{light}}}}}\n"
    )


def _variables(palette: Palette) -> str:
    pairs: Iterable[tuple[str, str]] = asdict(palette).items()
    return "".join(f"--{name}:{value};" for name, value in pairs)
