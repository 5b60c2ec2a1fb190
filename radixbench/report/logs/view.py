"""From the figures of a log to a ``LogView``: the one place where what is said about a log is put together.

Nothing is drawn here and no drawing library is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from radixbench.metrics.log_summary.model import LogSummary
from radixbench.report import text
from radixbench.report.logs.hit import hit_rate
from radixbench.report.logs.labels import between, event_word, events_words
from radixbench.report.logs.model import Fact, LogNote, LogView, Section
from radixbench.report.logs.numbers import clock_span
from radixbench.report.logs.sections import sections, settings
from radixbench.report.logs.tables import concurrency_table, event_table, phase_table, rank_table
from radixbench.report.logs.windows import window_table

BRIEF_WINDOWS = 40
BRIEF_PHASES = 12

_SERVERS: Mapping[str, str] = {
    "sglang": "SGLang",
    "vllm": "vLLM",
    "llamacpp": "llama.cpp",
    "radixbench": "radixbench",
}
_ROLES = {"prefill": "prefill server of a pair", "decode": "decode server of a pair"}


def build_log_view(summary: LogSummary, *, brief: bool = False, most_windows: int | None = None) -> LogView:
    """Everything a reader is shown of one log; ``brief`` tables fit a terminal and say what they leave out.

    Above ``most_windows``, neighbouring windows are added up.
    """
    about = _about(summary)
    return LogView(
        file=summary.file,
        head=_head(summary),
        about=about,
        hit=hit_rate(summary),
        sections=sections(summary),
        ranks=rank_table(summary),
        phases=phase_table(summary.phases, BRIEF_PHASES if brief else None),
        concurrency=concurrency_table(summary.concurrency),
        windows=window_table(summary, BRIEF_WINDOWS if brief else most_windows),
        events=event_table(summary.events, summary.lines.events, brief=brief),
        settings=settings(summary),
        notes=tuple(LogNote(note.code, note.text) for note in summary.notes),
    )


def server_name(summary: LogSummary) -> str:
    """``SGLang``, ``SGLang, prefill server of a pair``."""
    names = [_SERVERS.get(part, part) for part in summary.dialect.split("+")]
    name = text.several([part.strip() for part in names]) or "no known server"
    role = _ROLES.get(summary.role)
    return f"{name}, {role}" if role else name


def _head(summary: LogSummary) -> str:
    parts = [f"{summary.file}: {server_name(summary)}", _when(summary), _lines(summary)]
    return "; ".join(part for part in parts if part)


def _when(summary: LogSummary) -> str:
    span = "" if summary.span_s is None else clock_span(summary.span_s)
    return ", ".join(part for part in (between(summary.first, summary.last), span) if part)


def _lines(summary: LogSummary) -> str:
    kinds = _kinds(summary)
    told = ", ".join(f"{text.count(n)} {event_word(kind)}" for kind, n in kinds)
    lines = text.plural(summary.lines.read, "line")
    return f"{lines}: {told}" if told else lines


def _kinds(summary: LogSummary) -> Sequence[tuple[str, int]]:
    """Lines by kind, those of no interest last."""
    return sorted(
        ((k, n) for k, n in summary.lines.by_kind.items() if n), key=lambda pair: pair[0] == "other"
    )


def _about(summary: LogSummary) -> Section:
    facts = [Fact("server", "server", server_name(summary))]
    if summary.first is not None and summary.last is not None:
        facts.append(Fact("first", "from", summary.first))
        facts.append(Fact("last", "to", summary.last))
    if summary.span_s is not None:
        facts.append(Fact("span", "length", clock_span(summary.span_s)))
    facts.append(Fact("lines", "lines", text.count(summary.lines.read)))
    facts += [
        Fact(f"lines_{kind}", f"{event_word(kind)} lines", text.count(n)) for kind, n in _kinds(summary)
    ]
    if summary.lines.events:
        facts.append(Fact("events", "events", events_words(summary.lines.events)))
    return Section("log", "Log", tuple(facts))
