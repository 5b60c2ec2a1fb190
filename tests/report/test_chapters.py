"""The order of a page: everything has its one place."""

from __future__ import annotations

from typing import get_args

import pytest

from radixbench.report import chapters
from radixbench.report.model import FigureKey, SectionKey
from tests.report.views import NAMES, view


def places(kind: str) -> list[str]:
    """The keys of a kind in the order of a page."""
    return [key for *_, listed in chapters._CHAPTERS for found, key, _ in listed if found == kind]


def test_every_figure_and_section_there_can_be_has_one_place():
    """A new one that nobody placed would be lost; questions stand at the top by themselves, clocks in words only beside several captures."""
    assert sorted(places("figure")) == sorted(get_args(FigureKey))
    assert sorted(places("section")) == sorted(set(get_args(SectionKey)) - {"questions", "clocks"})


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_all_of_its_view(name):
    """Every figure and section of a view is in a chapter, and no chapter is empty; the first has the table."""
    shown = view(name)
    found = chapters.chapters(shown)
    blocks = [block for chapter in found for block in chapter.blocks]
    assert sorted(block.key for block in blocks if block.kind == "figure") == sorted(
        figure.key for figure in shown.figures
    )
    assert sorted(block.index for block in blocks if block.kind == "section") == list(
        range(len(shown.sections))
    )
    assert all(chapter.title and chapter.name for chapter in found)
    assert all(chapter.blocks for chapter in found[1:])
    assert len({block.anchor for block in blocks}) == len(blocks)
