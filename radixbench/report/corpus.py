"""Where recorded traffic came from: what was read of it, what was used, what was left out and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from radixbench.records import CorpusRecord
from radixbench.report import text
from radixbench.report.evidence import Evidence
from radixbench.report.model import Grid, Section, Statement

_TITLE = "Where the traffic came from"
_DIGITS = 12


def corpus_section(sides: Sequence[Evidence]) -> Section | None:
    """``None`` for traffic that was made up. Arms that played the same file share its rows."""
    found: dict[str, tuple[list[str], CorpusRecord]] = {}
    for side in sides:
        for run in side.capture.runs:
            if run.corpus is not None:
                names, _ = found.setdefault(repr(run.corpus), ([], run.corpus))
                if side.arm.name not in names:
                    names.append(side.arm.name)
    if not found:
        return None
    says, rows = [], []
    for names, corpus in found.values():
        says += list(_says(corpus))
        rows += [(text.several(names), *row) for row in _rows(corpus)]
    header = ("arms", "source", "items", "number")
    return Section(
        "corpus",
        _TITLE,
        tuple(dict.fromkeys(says)),
        (("Items by what became of them", Grid(header, tuple(rows))),),
    )


def _says(corpus: CorpusRecord) -> Iterator[Statement]:
    kept = f"{text.count(corpus.items_used)} of {text.count(corpus.items_read)} items used"
    digest = f", sha256 {corpus.sha256[:_DIGITS]}…" if corpus.sha256 else ""
    yield Statement(f"{corpus.name} ({corpus.format}{digest}): {kept}.")
    for note in corpus.notes:
        yield Statement(note, "caution", "note")


def _rows(corpus: CorpusRecord) -> Iterator[tuple[str, str, str]]:
    yield corpus.name, "read", text.count(corpus.items_read)
    yield corpus.name, "used", text.count(corpus.items_used)
    for reason, n in sorted(corpus.dropped.items(), key=lambda item: -item[1]):
        yield corpus.name, f"left out: {reason}", text.count(n)
