"""Text stands out from its ground in both themes, as the palette and the style sheet have it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from radixbench import report
from radixbench.report.palette import DARK, LIGHT, Palette

STYLE = (Path(report.__file__).parent / "templates" / "style.css").read_text(encoding="utf-8")
SCREEN = STYLE[: STYLE.index("@media print")]


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """1 for equal colours, 21 for black on white."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def style_colours(theme: str) -> dict[str, str]:
    """The style sheet's own colours of a theme."""
    start = SCREEN.index(":root {" if theme == "light" else ':root[data-theme="dark"]')
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", SCREEN[start : SCREEN.index("}", start)]))


@pytest.mark.parametrize(("theme", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_text_has_a_contrast_of_four_and_a_half(theme: str, palette: Palette):
    """Ink, muted ink, links and the words of tones, on paper and on cards."""
    colours = style_colours(theme)
    texts = [palette.ink, palette.muted, *(colours[name] for name in ("good", "bad", "warn", "stop", "link"))]
    assert all(contrast(text, ground) >= 4.5 for text in texts for ground in (palette.paper, colours["card"]))
    assert contrast(palette.paper, palette.ink) >= 4.5


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_what_is_drawn_has_a_contrast_of_three(palette: Palette):
    """Arms, tokens and causes stand out from the paper; the grid and what was expected lie behind them."""
    drawn = (palette.a, palette.b, palette.computed, palette.cached, palette.raced, palette.paged)
    assert all(contrast(one, palette.paper) >= 3 for one in (*drawn, palette.evicted, palette.unexplained))


def test_contrast_is_that_of_the_guidelines():
    """Black on white is 21, a colour on itself 1."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#777777") == 1
