"""The figures of a log in words and numbers, section by section. What is unknown is left out or told with its reason."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from radixbench.metrics.log_summary.model import (
    DecodeFigures,
    LogSummary,
    PrefillFigures,
    Quantiles,
    RequestFigures,
    Throughput,
    UncachedPart,
)
from radixbench.report import text
from radixbench.report.logs.model import Fact, Section
from radixbench.report.logs.numbers import clock_span, per_second, rate, usage

_FEW = 100
_PRINT_RETRACTIONS = frozenset({"sglang", "radixbench"})
_LEFT_OUT = {"diluted": "diluted by a shorter rest"}
_SAMPLED = "over lines: sampled when one is printed"
_FULL = "usage of 97 % or more"


def sections(summary: LogSummary) -> tuple[Section, ...]:
    """Every section that has a figure or a reason to have none; why prefill has none is told by the hit rate."""
    prefill = tuple(_prefill(summary.prefill))
    found = (
        _section("prefill", "Prefill", prefill, summary.prefill.reason if prefill else None),
        _section("decode", "Decode", _decode(summary.decode), summary.decode.reason),
        _throughput(summary.throughput),
        _section("requests", "Requests", _requests(summary.requests), summary.requests.reason),
        _section("pressure", "Queue and pools", _pressure(summary), None),
    )
    return tuple(section for section in found if section.facts or section.notes)


def settings(summary: LogSummary) -> Section | None:
    """What start-up lines state about the server, as they state it."""
    facts = tuple(Fact(name, name, _as_stated(value)) for name, value in summary.server.items())
    return Section("server", "Server, as its start-up lines state it", facts) if facts else None


def time_spent(summary: LogSummary) -> Section | None:
    """Where the time went: what each kind of phase took of all of it."""
    total = sum(summary.time_shares.values())
    facts = tuple(
        Fact(kind, kind, f"{clock_span(seconds)} ({rate(seconds / total)})")
        for kind, seconds in summary.time_shares.items()
        if seconds
    )
    return Section("time", "Where the time went", facts) if facts else None


def causes(parts: Sequence[UncachedPart]) -> Section | None:
    """Why tokens had to be computed."""
    total = sum(part.tokens for part in parts)
    facts = tuple(
        Fact(
            part.cause,
            part.cause.replace("-", " "),
            f"{text.count(part.tokens)} ({rate(part.tokens / total)})",
            part.text,
        )
        for part in parts
        if part.tokens
    )
    return Section("causes", "New tokens by cause", facts) if facts else None


def _section(key: str, title: str, facts: Iterable[Fact], reason: str | None) -> Section:
    shown = tuple(facts)
    note = () if reason is None else (reason,) if shown else (f"unknown: {reason}",)
    return Section(key, title, shown, note)


def _counted(key: str, title: str, value: int | None, note: str = "") -> Iterator[Fact]:
    if value is not None:
        yield Fact(key, title, text.count(value), note)


def _prefill(figures: PrefillFigures) -> Iterator[Fact]:
    yield from _counted("prefill_batches", "batches", figures.batches)
    yield from _counted("prompts", "prompts", figures.prompts, _prompts_note(figures))
    yield from _counted("new_tokens", "new tokens", figures.new_tokens, "computed")
    yield from _counted("cached_tokens", "cached tokens", figures.cached_tokens, "reused, not computed")
    if figures.largest_batch_tokens is not None:
        yield Fact(
            "largest_batch", "largest batch", text.plural(figures.largest_batch_tokens, "token"), "computed"
        )


def _prompts_note(figures: PrefillFigures) -> str:
    if figures.new_seq is None or not (figures.continuations or figures.readmissions):
        return ""
    parts = [text.plural(figures.new_seq, "printed sequence")]
    if figures.continuations:
        parts.append(f"{text.plural(figures.continuations, 'continuation')} of chunked prompts")
    if figures.readmissions:
        parts.append(text.plural(figures.readmissions, "readmission"))
    return "= " + " − ".join(parts)


def _decode(figures: DecodeFigures) -> Iterator[Fact]:
    yield from _counted("decode_batches", "lines", figures.batches, "a server may print one in many steps")
    yield from _mean_and_most("running", "running requests", figures.running_mean, figures.running_max)
    if figures.graph_share is not None:
        yield Fact("graph_share", "in a captured graph", rate(figures.graph_share), "of lines that say")
    if figures.accept_len is not None:
        yield Fact(
            "accept_len",
            "accept length",
            f"{text.number(figures.accept_len)} tokens",
            "a speculative step, weighted by running requests",
        )
    if figures.accept_rate is not None:
        yield Fact("accept_rate", "accept rate", rate(figures.accept_rate), "of drafted tokens")
    if figures.idle_lines:
        yield Fact("left_out", "lines left out", text.count(figures.idle_lines), _why_left_out(figures))


def _why_left_out(figures: DecodeFigures) -> str:
    """``of the output throughput: 1 first of a rank, 2 after an idle gap``."""
    reasons = figures.left_out or {"idle": figures.idle_lines}
    why = (f"{text.count(n)} {_LEFT_OUT.get(reason, reason)}" for reason, n in reasons.items())
    return f"of the output throughput: {', '.join(why)}"


def _throughput(figures: Throughput) -> Section:
    facts = [
        Fact(key, title, per_second(value), note)
        for key, title, value, note in (
            ("input_throughput", "input", figures.input, "cached and new prompt tokens"),
            ("computed_throughput", "computed", figures.computed, "new prompt tokens only"),
            ("output_throughput", "output", figures.output, "generated tokens"),
        )
        if value is not None
    ]
    if figures.busy_s is not None:
        facts.append(Fact("busy_s", "busy time", clock_span(figures.busy_s), _idle(figures)))
    section = _section("throughput", "Throughput", facts, figures.reason)
    basis = () if figures.basis is None else (figures.basis,)
    return Section(section.key, section.title, section.facts, (*basis, *section.notes))


def _idle(figures: Throughput) -> str:
    if figures.idle_after_s is None:
        return ""
    if figures.idle_after_s == 0:
        return "as the lines tell it"
    return f"gaps of more than {clock_span(figures.idle_after_s)} with nothing at work are idle"


def _requests(figures: RequestFigures) -> Iterator[Fact]:
    if not figures.n:
        return
    yield Fact("requests", "requests", text.count(figures.n), "with a line of their own")
    yield from _counted("request_prompt_tokens", "prompt tokens", figures.prompt_tokens)
    yield from _counted("request_cached_tokens", "cached tokens", figures.cached_tokens)
    yield from _counted("request_output_tokens", "output tokens", figures.output_tokens)
    if figures.hit_rate is not None:
        yield Fact("request_hit_rate", "hit rate", rate(figures.hit_rate), _made_of(figures))
    for key, title, quantiles in (
        ("ttft", "TTFT", figures.ttft),
        ("e2e", "end-to-end", figures.e2e),
        ("queue", "in the queue", figures.queue),
        ("prefill_time", "in prefill", figures.prefill),
        ("decode_time", "in decode", figures.decode),
        ("forward_time", "in prefill and decode", figures.forward),
    ):
        if quantiles is not None:
            yield _quantiles(key, title, quantiles)


def _made_of(figures: RequestFigures) -> str:
    known = figures.known_prompt_tokens
    if known is None or known == figures.prompt_tokens:
        return "cached / prompt tokens"
    return f"cached / the {text.count(known)} prompt tokens of the requests that tell both"


def _quantiles(key: str, title: str, values: Quantiles) -> Fact:
    of = f"of {text.plural(values.n, 'value')}"
    note = f"{of}: a p99 of so few hangs on the largest" if values.n < _FEW else of
    shown = f"{text.duration(values.p50)} / {text.duration(values.p99)}"
    return Fact(key, f"{title}, median / p99", shown, note)


def _mean_and_most(key: str, title: str, mean: float | None, most: int | None) -> Iterator[Fact]:
    known = [
        (word, shown)
        for word, shown in (
            ("mean", None if mean is None else text.number(mean)),
            ("most", None if most is None else text.count(most)),
        )
        if shown is not None
    ]
    if known:
        words, values = zip(*known, strict=True)
        yield Fact(key, f"{title}, {' / '.join(words)}", " / ".join(values), _SAMPLED)


def _pressure(summary: LogSummary) -> Iterator[Fact]:
    figures = summary.pressure
    yield from _mean_and_most("queue", "waiting requests", figures.queue_mean, figures.queue_max)
    if figures.queued_share is not None:
        yield Fact("queued_share", "lines with a queue", rate(figures.queued_share))
    yield from _counted("pending_tokens_max", "pending tokens, most", figures.pending_tokens_max)
    for name, value in figures.pools.items():
        yield Fact(f"pool_{name}", f"{name} usage, highest", usage(value))
    if figures.full_share is not None:
        yield Fact("full_share", "lines with a full pool", rate(figures.full_share), _FULL)
    yield from _counted("pool_tokens", "pool size", figures.pool_tokens, "tokens")
    if figures.retract_events or figures.retracted_requests:
        sent_back = f"{text.plural(figures.retracted_requests, 'request')} sent back to the queue"
        yield Fact("retractions", "retractions", text.count(figures.retract_events), sent_back)
    elif summary.dialect in _PRINT_RETRACTIONS and (summary.prefill.batches or summary.decode.batches):
        yield Fact("retractions", "retractions", text.count(0))


def _as_stated(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return json.dumps(value, ensure_ascii=False, default=str)
