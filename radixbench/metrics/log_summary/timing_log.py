"""llama.cpp's lines about single requests, stitched by server, slot and task.

How much of a prompt was reused stands in another line than its timings: ``kv cache rm [p0, end)``, ``cached n_tokens``, ``in cache``, or
``new prompt`` with the prompt's length. Where none of them came before the timings, the slot's tokens when it is released tell it: all of them
but the computed and the generated ones (the last of which is never stored). Else the cached tokens are unknown, not 0.
A prompt that was cached but for its last token is timed as one token, and such a rate says nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from radixbench.logs.record import LogRecord
from radixbench.metrics.log_summary.course import Course
from radixbench.metrics.log_summary.readable import count, number
from radixbench.metrics.log_summary.requests import RequestBook, take
from radixbench.metrics.log_summary.speculation import Speculation
from radixbench.metrics.log_summary.sums import Moment, read_sums

_MOST_OPEN = 4096
_MS = 1e-3
_HALF = 0.5
_HELD = ("n_tokens", "n_past", "n_cache_tokens")


class Task(NamedTuple):
    """Whose request a line is about; old versions print no task, the oldest no slot."""

    source: str
    pid: int | None
    slot: int | None
    task: int | None


class _Reuse:
    """What was said of a request before its timings."""

    __slots__ = ("cached", "prompt", "to_process")

    def __init__(self) -> None:
        self.cached: int | None = None
        self.prompt: int | None = None
        self.to_process: int | None = None


class _Timed:
    """A timed request whose reuse nothing told so far."""

    __slots__ = ("computed", "generated", "prompt_ms")

    def __init__(self, computed: int, prompt_ms: float | None) -> None:
        self.computed = computed
        self.prompt_ms = prompt_ms
        self.generated: int | None = None


class TimingLog:
    """All timings of one log. ``unknown`` counts the requests whose cached tokens nothing tells, ``derived`` those told at release."""

    __slots__ = (
        "_before", "_open", "_timed", "book", "context_shifts", "course", "cut_lines", "derived", "fully_cached", "known_prompt_ms", "lines", "predicted_ms", "predicted_n",
        "prompt_ms", "reprocessed", "speculation", "timed_prompt_n", "truncated_contexts", "unknown",
        "unknown_tokens",
    )  # fmt: skip

    def __init__(self, width: float | None) -> None:
        self.course = Course(width)
        self.book = RequestBook()
        self.speculation = Speculation()
        self.lines = self.cut_lines = 0
        self.unknown = self.unknown_tokens = self.derived = 0
        self.fully_cached = self.reprocessed = self.context_shifts = self.truncated_contexts = 0
        self.timed_prompt_n = self.predicted_n = 0
        self.prompt_ms = self.predicted_ms = self.known_prompt_ms = 0.0
        self._before: Moment | None = None
        self._open: OrderedDict[Task, _Reuse] = OrderedDict()
        self._timed: OrderedDict[Task, _Timed] = OrderedDict()

    def add(self, record: LogRecord) -> None:
        """A line of any kind but an event."""
        values = record.values
        self.cut_lines += "truncated" in values
        match record.kind:
            case "prompt_eval":
                self._prompt(record)
            case "eval":
                self._answer(record)
            case "total":
                self._spent(record)
            case "timing_block":
                self._prompt(record)
                self._answer(record)
                self._spent(record)
            case "kv_rm" | "cached" | "prompt_split" | "new_prompt":
                self._reuse(record)
            case "full_reprocess":
                self.reprocessed += 1
            case "release":
                self._release(record)
            case "draft":
                self._draft(record)

    def _reuse(self, record: LogRecord) -> None:
        """How much a request reuses. The same words come again for every batch of its prompt: only the first counts."""
        task = _task(record)
        said = self._open.get(task)
        if said is None:
            said = self._open[task] = _Reuse()
            if len(self._open) > _MOST_OPEN:
                self._open.popitem(last=False)
        values = record.values
        if record.kind == "new_prompt":
            said.prompt = count(values.get("n_prompt_tokens"))
            return
        cached = count(values.get("p0" if record.kind == "kv_rm" else "cached_n"))
        if said.cached is None:
            said.cached = cached
            said.to_process = count(values.get("to_process_n"))

    def _prompt(self, record: LogRecord) -> None:
        """A prompt's timing: the request counts from here."""
        computed = count(record.values.get("prompt_n"))
        if computed is None:
            return
        self.lines += 1
        self._before = read_sums(self.course.sums)
        self.book.add(None, None, None)
        took = number(record.values.get("prompt_ms"))
        take(self.book.prefill, took, _MS)
        if computed > 1 and took:
            self.timed_prompt_n += computed
            self.prompt_ms += took
        cached = self._cached(record, computed)
        if cached is not None:
            self._learn(record, computed, cached, took)
            return
        self.unknown += 1
        self.unknown_tokens += computed
        task = _task(record)
        if task.task is not None:
            self._timed[task] = _Timed(computed, took)
            if len(self._timed) > _MOST_OPEN:
                self._timed.popitem(last=False)

    def _learn(self, record: LogRecord, computed: int, cached: int, took: float | None) -> None:
        """How much of a request was reused."""
        self.book.learn(cached + computed, cached, None)
        self.known_prompt_ms += took or 0.0
        self.fully_cached += computed <= 1 and cached > 0
        self.course.visit(record.at_s)
        sums = self.course.sums
        sums.prefill_batches += 1
        sums.new_seq += 1
        sums.new_tokens += computed
        sums.cached_tokens += cached

    def _release(self, record: LogRecord) -> None:
        """A request ends; what its slot holds then may tell how much it reused."""
        values = record.values
        task = _task(record)
        self._open.pop(task, None)
        timed = self._timed.pop(task, None)
        cut = values.get("truncated_context") is True
        self.truncated_contexts += cut
        held = next((found for key in _HELD if (found := count(values.get(key))) is not None), None)
        if timed is None or timed.generated is None or held is None or cut:
            return
        cached = held - timed.computed - max(timed.generated - 1, 0)
        if cached >= 0:
            self.unknown -= 1
            self.unknown_tokens -= timed.computed
            self.derived += 1
            self._learn(record, timed.computed, cached, timed.prompt_ms)

    def _cached(self, record: LogRecord, computed: int) -> int | None:
        said = self._open.pop(_task(record), None)
        if said is None and "slot" not in record.values and "program" not in record.values:
            said = self._take_unnamed(record, computed)
        if said is None:
            return None
        if said.cached is None and said.prompt is not None and said.prompt >= computed:
            return said.prompt - computed
        return said.cached

    def _take_unnamed(self, record: LogRecord, computed: int) -> _Reuse | None:
        """The latest request of this server that announced as many tokens as were timed: early 2024's timings name no slot."""
        for task, said in reversed(self._open.items()):
            if task.source == record.rank.source and said.to_process == computed:
                return self._open.pop(task)
        return None

    def _answer(self, record: LogRecord) -> None:
        values = record.values
        tokens, took = count(values.get("predicted_n")), number(values.get("predicted_ms"))
        if tokens is None:
            return
        self.book.learn(None, None, tokens)
        timed = self._timed.get(_task(record))
        if timed is not None:
            timed.generated = tokens
        take(self.book.decode, took, _MS)
        if tokens and took:
            timed_tokens = _timed_tokens(record, tokens, took)
            self.predicted_n += timed_tokens
            self.predicted_ms += took
            if record.kind == "eval":
                self.course.visit(record.at_s)
            self.course.sums.work += timed_tokens
            self.course.sums.work_time += took * _MS

    def _spent(self, record: LogRecord) -> None:
        took = number(record.values.get("total_ms"))
        if record.at_s is not None and took is not None:
            before = read_sums(self.course.sums) if self._before is None else self._before
            self.course.spend(record.at_s - took * _MS, record.at_s, before)
            self._before = None

    def _draft(self, record: LogRecord) -> None:
        values = record.values
        drafted = count(values.get("drafted_n"))
        length, rate = number(values.get("mean_acceptance_len")), number(values.get("draft_acceptance"))
        if length:
            self.speculation.add_length(length, drafted or 1)
        if rate is not None:
            self.speculation.add_rate(rate, drafted or 1)


def _timed_tokens(record: LogRecord, tokens: int, took_ms: float) -> int:
    """The tokens that the time is of: later versions leave out the first, which the prompt's time made, as their printed rate shows."""
    printed = number(record.values.get("predicted_per_second", record.extra.get("predicted_per_second")))
    if printed is None or tokens < 2:
        return tokens
    return tokens - 1 if abs(printed * took_ms * _MS - (tokens - 1)) < _HALF else tokens


def _task(record: LogRecord) -> Task:
    values, extra = record.values, record.extra
    pid = values.get("pid", extra.get("pid"))
    slot = values.get("slot", extra.get("slot"))
    return Task(record.rank.source, pid, slot, values.get("task", extra.get("task")))
