"""Which log it is: its server, its time, its lines, and which part of them the figures are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from radixbench.metrics.log_summary.model import LogSummary, Selected
from radixbench.report import text
from radixbench.report.logs.labels import between, event_word, events_words
from radixbench.report.logs.model import Fact, Section
from radixbench.report.logs.numbers import clock_span

_SERVERS: Mapping[str, str] = {
    "sglang": "SGLang",
    "vllm": "vLLM",
    "llamacpp": "llama.cpp",
    "radixbench": "radixbench",
}
_ROLES = {"prefill": "prefill server of a pair", "decode": "decode server of a pair"}
_STOPPED = "reading was interrupted here"
_EVENTS = "other"


def server_name(summary: LogSummary) -> str:
    """``SGLang``, ``SGLang, prefill server of a pair``."""
    names = [_SERVERS.get(part, part) for part in summary.dialect.split("+")]
    name = text.several([part.strip() for part in names]) or "no known server"
    role = _ROLES.get(summary.role)
    return f"{name}, {role}" if role else name


def head(summary: LogSummary) -> str:
    """One line about the log: its name, its server, its time, its lines by kind."""
    when = _when(summary) if summary.selected is None else ""
    stopped = _STOPPED if summary.interrupted else ""
    parts = [f"{summary.file}: {server_name(summary)}", when, _lines(summary), stopped]
    return "; ".join(part for part in parts if part)


def part(summary: LogSummary) -> str:
    """``selected 10:00:55 to 10:01:00, rank DP1: 2 of 10 prefill lines, 3 of 11 decode lines; 10:00:56 to 10:00:59, 3 s``."""
    if summary.selected is None:
        return ""
    counted = _share_of_lines(summary, summary.selected) or "nothing"
    lines = f"selected {_chosen(summary.selected)}: {counted}"
    when = _when(summary)
    return f"{lines}; {when}" if when else lines


def about(summary: LogSummary) -> Section:
    """The same as facts."""
    facts = [Fact("server", "server", server_name(summary))]
    if summary.selected is not None:
        counted = _share_of_lines(summary, summary.selected) or "nothing"
        facts.append(Fact("selected", "selected", f"{_chosen(summary.selected)}: {counted}"))
    if summary.first is not None and summary.last is not None:
        facts.append(Fact("first", "from", summary.first))
        facts.append(Fact("last", "to", summary.last))
    if summary.span_s is not None:
        facts.append(Fact("span", "length", clock_span(summary.span_s)))
    facts.append(Fact("lines", "lines in all", text.count(summary.lines.read)))
    facts += [
        Fact(f"lines_{kind}", f"{event_word(kind)} lines", text.count(n)) for kind, n in _kinds(summary)
    ]
    if summary.lines.events:
        facts.append(Fact("events", "events", events_words(summary.lines.events)))
    return Section("log", "Log", tuple(facts), (_STOPPED.capitalize() + ".",) if summary.interrupted else ())


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
        ((k, n) for k, n in summary.lines.by_kind.items() if n), key=lambda pair: pair[0] == _EVENTS
    )


def _chosen(selected: Selected) -> str:
    """In the user's words: ``from 10:00:55 to 10:01:00, rank DP1``."""
    since, until = selected.since, selected.until
    if since is not None and until is not None:
        time = f"{since} to {until}"
    else:
        time = f"from {since}" if since is not None else f"until {until}" if until is not None else ""
    ranks = f"rank{'s' * (len(selected.ranks) > 1)} {', '.join(selected.ranks)}" if selected.ranks else ""
    return ", ".join(words for words in (time, ranks) if words)


def _share_of_lines(summary: LogSummary, selected: Selected) -> str:
    """How many lines of each kind lie in the part, of all that the log has."""
    told = [
        f"{text.count(selected.by_kind.get(kind, 0))} of {text.count(n)} {event_word(kind)} lines"
        for kind, n in _kinds(summary)
        if kind not in {_EVENTS, "malformed"}
    ]
    if summary.lines.events:
        events = text.plural(sum(summary.lines.events.values()), "event")
        told.append(f"{text.count(selected.by_kind.get(_EVENTS, 0))} of {events}")
    return ", ".join(told)
