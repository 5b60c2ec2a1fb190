"""Panels as Vega-Lite, SVG and PNG. No browser is needed for any of them.

What keeps a page small: rows are thinned and rounded where they are made (``clocks.MAX_ROWS`` points a
device, ``batches.MAX_BATCHES`` bars a run), still pictures leave out what only serves hovering, and the
drawing library travels compressed.
"""

from __future__ import annotations

import base64
import gzip
import re
from functools import cache
from pathlib import Path
from typing import Any

import vl_convert

from radixbench.errors import OutputError
from radixbench.report.marks import chart
from radixbench.report.model import Panel, ReportView
from radixbench.report.palette import LIGHT, Palette

_WIDTH = 640
_FONT = "system-ui, -apple-system, Segoe UI, Roboto, sans-serif"
_FILE_FONT = "sans-serif"
_SNIPPET = "window.vegaEmbed = vegaEmbed;"
_LINK = re.compile(r"https://(?:vega\.github\.io/editor/|github\.com/[\w/.-]+)")
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
    document = chart(panel, palette, hover=hover).properties(width=width).to_dict(validate=False)
    document["config"] = _config(palette, font)
    document["description"] = panel.summary
    document["background"] = None
    document["autosize"] = {"type": "fit-x", "contains": "padding"}
    return document


def live(panel: Panel, palette: Palette) -> dict[str, Any]:
    """The panel as a Vega-Lite specification that fits the width of its place, with marks to hover over."""
    return spec(panel, palette, width="container", font=_FONT, hover=True)


def svg(panel: Panel, palette: Palette = LIGHT, *, font: str = _FILE_FONT) -> str:
    """The panel as SVG, with ids of its own so that several may share a page."""
    drawn: str = vl_convert.vegalite_to_svg(spec(panel, palette, font=font))
    names = {
        name: f"{panel.key}-{i}" for i, name in enumerate(dict.fromkeys(m[2] for m in _CLIP.finditer(drawn)))
    }
    return _CLIP.sub(lambda match: f"{match[1]}{names[match[2]]}", drawn)


def png(panel: Panel, *, scale: float = 2.0) -> bytes:
    """The panel as a PNG on white, with its title: for places that show no SVG."""
    document = spec(panel)
    document["background"] = LIGHT.paper
    document["padding"] = 12
    if panel.title:
        document["title"] = {"text": panel.title, "anchor": "start", "fontSize": 13, "color": LIGHT.ink}
    drawn: bytes = vl_convert.vegalite_to_png(document, scale=scale)
    return drawn


def export_png(view: ReportView, directory: Path) -> tuple[Path, ...]:
    """Every panel of every figure as ``<key>.png``; files already there are replaced."""
    written = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for figure in view.figures:
            for panel in figure.panels:
                target = directory / f"{panel.key}.png"
                target.write_bytes(png(panel))
                written.append(target)
    except OSError as error:
        raise OutputError(
            f"figures can't be written to {directory}: {error.strerror or error}",
            remedy="give --png a directory you may write to",
        ) from error
    return tuple(written)


@cache
def runtime() -> str:
    """What draws live charts on a page: Vega, Vega-Lite and Vega-Embed as one script, gzip in base64.

    Links to the web that it holds for menus this project doesn't show are taken out.
    """
    script: str = _LINK.sub("", vl_convert.javascript_bundle(snippet=_SNIPPET))
    return base64.b64encode(gzip.compress(script.encode(), compresslevel=9, mtime=0)).decode()


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
        },
        "text": {"color": palette.ink},
    }
