"""Where recorded traffic came from: what was read of it, what was used, what was left out and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from radixbench.capture.model import Capture
from radixbench.records import CorpusRecord
from radixbench.report import text
from radixbench.report.evidence import Evidence
from radixbench.report.model import Grid, Section, Statement

_TITLE = "Where the traffic came from"
_DIGITS = 12
_TOLD = 2


def corpus_name(capture: Capture, corpus: CorpusRecord) -> str:
    """A file by its name alone, which means the same on every machine; a dataset as its hub calls it."""
    return PurePath(corpus.name).name if capture.scenario.workload.file is not None else corpus.name


def corpus_section(sides: Sequence[Evidence]) -> Section | None:
    """``None`` for traffic that was made up. Arms that played the same file share its rows."""
    found: dict[str, tuple[list[str], CorpusRecord]] = {}
    for side in sides:
        for run in side.capture.runs:
            if run.corpus is not None:
                corpus = replace(run.corpus, name=corpus_name(side.capture, run.corpus))
                names, _ = found.setdefault(repr(corpus), ([], corpus))
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
    yield Statement(f"{corpus.name} ({corpus.format}{digest}): {kept}{_why(corpus)}.")
    for note in corpus.notes:
        yield Statement(note, "caution", "note")


def _why(corpus: CorpusRecord) -> str:
    """The commonest reasons for leaving items out, for readers who see this sentence and not the table."""
    reasons = _reasons(corpus)
    if not reasons:
        return ""
    told = [f"{reason} ({text.count(n)})" for reason, n in reasons[:_TOLD]]
    others = sum(n for _, n in reasons[_TOLD:])
    rest = [f"{text.count(others)} for other reasons"] if others else []
    return f"; left out: {text.several([*told, *rest])}"


def _reasons(corpus: CorpusRecord) -> list[tuple[str, int]]:
    """What was left out by reason, the commonest first."""
    return sorted(((reason, n) for reason, n in corpus.dropped.items() if n), key=lambda item: -item[1])


def _rows(corpus: CorpusRecord) -> Iterator[tuple[str, str, str]]:
    yield corpus.name, "read", text.count(corpus.items_read)
    yield corpus.name, "used", text.count(corpus.items_used)
    for reason, n in _reasons(corpus):
        yield corpus.name, f"left out: {reason}", text.count(n)
