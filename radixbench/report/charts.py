"""Panels as Vega-Lite, SVG and PNG. No browser is needed for any of them.

What keeps a page small: rows are thinned and rounded where they are made (``clocks.MAX_ROWS`` points a
device, ``batches.MAX_BATCHES`` bars a run, ``gantt.MAX_REQUESTS`` requests), still pictures leave out what
only serves hovering and round their coordinates, and the drawing library travels compressed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import vl_convert
from altair.utils.schemapi import debug_mode

from radixbench.errors import OutputError
from radixbench.report.inert import inert_within
from radixbench.report.marks import chart
from radixbench.report.model import Figure, Panel, PanelKind
from radixbench.report.packed import packed
from radixbench.report.palette import LIGHT, Palette

_WIDTH = 640
_FONT = "system-ui, -apple-system, Segoe UI, Roboto, sans-serif"
_FILE_FONT = "sans-serif"
_SNIPPET = "window.vegaEmbed = vegaEmbed;"
_LINK = re.compile(r"https://(?:vega\.github\.io/editor/|github\.com/[\w/.-]+)")
ZOOM = "zoom"
_ZOOMED: frozenset[PanelKind] = frozenset(
    {
        "curve",
        "forest",
        "shortfall",
        "distribution",
        "fit",
        "gantt",
        "timeline",
        "reasons",
        "batches",
        "lines",
    }
)
_DRAG = "[pointerdown[event.pointerType === 'mouse'], window:pointerup] > window:pointermove!"
_WHEEL = "wheel![event.ctrlKey || event.metaKey]"
_PLACED = re.compile(r' (?:d|transform)="[^"]+"')
_LONG = re.compile(r"(\d+\.\d\d)\d+")
_SPOKEN = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"| pointer-events="none"')
_UNSEEN = re.compile(r'<path class="(?:fore|back)ground"(?: d="[^"]*")?/>')
_CLIP = re.compile(r"(id=\"|url\(#)((?:clip|gradient)[\w-]*)")


def spec(
    panel: Panel,
    palette: Palette = LIGHT,
    *,
    width: int | str = _WIDTH,
    font: str = _FILE_FONT,
    hover: bool = False,
) -> dict[str, Any]:
    """The panel as a Vega-Lite specification; ``width="container"`` fits it to its place on a page.

    It isn't held against Vega-Lite's schema each time it is drawn, which would cost as much as the drawing.
    """
    with debug_mode(False):
        document = chart(panel, palette, hover=hover).properties(width=width).to_dict(validate=False)
    document["config"] = _config(palette, font)
    document["description"] = panel.summary
    document["background"] = None
    document["autosize"] = {"type": "fit-x", "contains": "padding"}
    drawn: dict[str, Any] = inert_within(document)
    return drawn


def live(panel: Panel, palette: Palette) -> dict[str, Any]:
    """The panel as a Vega-Lite specification that fits the width of its place, with marks to hover over.

    Where ``zooms`` says so it has one selection, ``ZOOM``, bound to its scales: dragging with a mouse moves the view, a
    wheel turned with Ctrl or Cmd held zooms, a double click resets. A finger and a plain wheel scroll the page.
    """
    document = spec(panel, palette, width="container", font=_FONT, hover=True)
    if zooms(panel):
        _bind(document)
    return document


def zooms(panel: Panel) -> bool:
    """Whether a panel has a horizontal axis of numbers; one of words has nothing to be looked at closely."""
    return panel.kind in _ZOOMED and not any(isinstance(row.get("x"), str) for row in panel.rows[:1])


def _bind(document: dict[str, Any]) -> None:
    """Bind the scales of the first layer that has a horizontal position; keep all marks within the plot."""
    for layer in document["layer"]:
        mark = layer["mark"]
        layer["mark"] = {**({"type": mark} if isinstance(mark, str) else mark), "clip": True}
    target = next(one for one in document["layer"] if "field" in one["encoding"].get("x", {}))
    select = {"type": "interval", "encodings": ["x"], "translate": _DRAG, "zoom": _WHEEL}
    target["params"] = [{"name": ZOOM, "select": select, "bind": "scales"}]


def svg(panel: Panel, palette: Palette = LIGHT, *, font: str = _FILE_FONT) -> str:
    """The panel as SVG, with ids of its own so that several may share a page."""
    drawn: str = _light(vl_convert.vegalite_to_svg(spec(panel, palette, font=font)))
    names = {
        name: f"{panel.key}-{i}" for i, name in enumerate(dict.fromkeys(m[2] for m in _CLIP.finditer(drawn)))
    }
    return _CLIP.sub(lambda match: f"{match[1]}{names[match[2]]}", drawn)


def _light(drawn: str) -> str:
    """Without paths that draw nothing, with coordinates to a hundredth of a pixel, and without a name for each mark:
    whoever listens is told the panel's summary.
    """
    seen = _UNSEEN.sub("", _SPOKEN.sub("", drawn))
    return _PLACED.sub(lambda place: _LONG.sub(r"\1", place[0]), seen)


def png(panel: Panel, *, scale: float = 2.0) -> bytes:
    """The panel as a PNG on white, with its title: for places that show no SVG."""
    document = spec(panel)
    document["background"] = LIGHT.paper
    document["padding"] = 12
    if panel.title:
        document["title"] = {"text": panel.title, "anchor": "start", "fontSize": 13, "color": LIGHT.ink}
    drawn: bytes = vl_convert.vegalite_to_png(document, scale=scale)
    return drawn


class Illustrated(Protocol):
    """A view with figures."""

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All of them, in order."""
        ...


def export_png(view: Illustrated, directory: Path) -> tuple[Path, ...]:
    """Every panel of every figure as ``<key>.png``; files already there are replaced."""
    return _export(view, directory, "png", png)


def export_svg(view: Illustrated, directory: Path) -> tuple[Path, ...]:
    """Every panel of every figure as ``<key>.svg`` in light colours; files already there are replaced."""
    return _export(view, directory, "svg", lambda panel: svg(panel).encode())


def _export(
    view: Illustrated, directory: Path, suffix: str, draw: Callable[[Panel], bytes]
) -> tuple[Path, ...]:
    written = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for figure in view.figures:
            for panel in figure.panels:
                target = directory / f"{panel.key}.{suffix}"
                target.write_bytes(draw(panel))
                written.append(target)
    except OSError as error:
        raise OutputError(
            f"figures can't be written to {directory}: {error.strerror or error}",
            remedy=f"give --{suffix} a directory you may write to",
        ) from error
    return tuple(written)


@cache
def runtime() -> str:
    """What draws live charts on a page: Vega, Vega-Lite and Vega-Embed as one script, packed.

    Links to the web that it holds for menus this project doesn't show are taken out.
    """
    script: str = _LINK.sub("", vl_convert.javascript_bundle(snippet=_SNIPPET))
    return packed(script)


def _config(palette: Palette, font: str) -> dict[str, Any]:
    text = {"labelColor": palette.muted, "titleColor": palette.ink, "labelFontSize": 11, "titleFontSize": 11}
    return {
        "font": font,
        "view": {"stroke": None},
        "axis": {
            **text,
            "gridColor": palette.grid,
            "domainColor": palette.muted,
            "tickColor": palette.muted,
            "titleFontWeight": "normal",
            "titlePadding": 8,
        },
        "legend": {
            **text,
            "labelColor": palette.ink,
            "labelFontSize": 12,
            "labelLimit": 320,
            "symbolSize": 90,
            "layout": {"top": {"direction": "vertical", "anchor": "start", "margin": 4}},
        },
        "text": {"color": palette.ink},
    }
