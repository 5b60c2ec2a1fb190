"""Several logs next to each other, figure by figure. Whether one is better is for the reader to say: logs are no experiment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from radixbench.report import text
from radixbench.report.logs.model import Fact, LogView, Section, SideBlock, SideBySide, SideRow


def build_side_by_side(views: Sequence[LogView]) -> SideBySide:
    """A column for each log, a row for each figure that any of them has."""
    columns = [_sections(view) for view in views]
    titles = {section.key: section.title for column in columns for section in column.values()}
    names = short_names([view.file for view in views])
    blocks = tuple(
        _block(title, names, [column.get(key) for column in columns]) for key, title in titles.items()
    )
    return SideBySide(names, tuple(views), (*blocks, *_notes(views)))


def short_names(files: Sequence[str]) -> tuple[str, ...]:
    """The shortest ends of paths that tell them apart; equal paths are numbered."""
    parts = [PurePath(file).parts or (file,) for file in files]
    deepest = max(map(len, parts))
    for depth in range(1, deepest + 1):
        names = [str(PurePath(*path[-depth:])) for path in parts]
        if len(set(names)) == len(names):
            return tuple(names)
    return tuple(f"{place}: {path[-1]}" for place, path in enumerate(parts, 1))


def _sections(view: LogView) -> dict[str, Section]:
    hit = Section("hit", "Hit rate", (Fact("hit_rate", "hit rate", view.hit.value), *view.hit.windows))
    settings = () if view.settings is None else (view.settings,)
    time = () if view.time is None else (view.time,)
    found = (view.about, hit, *view.figures, *time, *settings)
    return {section.key: section for section in found}


def _block(title: str, names: Sequence[str], sections: Sequence[Section | None]) -> SideBlock:
    by_key = [{fact.key: fact for fact in section.facts} if section else {} for section in sections]
    titles = {key: fact.title for facts in by_key for key, fact in facts.items()}
    rows = tuple(
        SideRow(title, tuple(facts[key].value if key in facts else text.MISSING for facts in by_key))
        for key, title in titles.items()
    )
    return SideBlock(title, rows, tuple(_reasons(names, sections)))


def _notes(views: Sequence[LogView]) -> Iterator[SideBlock]:
    """Which note is on which log."""
    found = [{note.code for note in view.notes} for view in views]
    codes = dict.fromkeys(note.code for view in views for note in view.notes)
    if codes:
        rows = tuple(SideRow(code, tuple("yes" if code in has else "no" for has in found)) for code in codes)
        yield SideBlock("Notes", rows)


def _reasons(names: Sequence[str], sections: Sequence[Section | None]) -> Iterator[str]:
    """Why a log has no figure at all in a section."""
    for name, section in zip(names, sections, strict=True):
        if section is not None and not section.facts:
            yield from (f"{name}: {note}" for note in section.notes)
