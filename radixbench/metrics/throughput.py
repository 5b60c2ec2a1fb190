"""Rates over one window: from the run's first send to its last token.

Only completed requests put tokens into a rate; the window is that of all requests, so that time lost
on failed ones isn't given back. A missing token count makes a rate absent, never smaller.
"""

from __future__ import annotations

from collections.abc import Callable

from radixbench.metrics.answers import Answers, once, prompt_length
from radixbench.metrics.cache import reported_cached
from radixbench.metrics.definition import Measured
from radixbench.metrics.gpu_count import gpu_count
from radixbench.records import RequestRecord
from radixbench.stats.sample import Absent
from radixbench.units import seconds


@once
def window_ns(answers: Answers) -> tuple[int, int] | Absent:
    """First send and last token, on the run's clock."""
    last_tokens = [request.chunk_ns[-1] for request in answers.run.requests if request.chunk_ns]
    if not answers.timed or not last_tokens:
        return Absent(answers.why_none)
    start, end = min(request.send_ns for request in answers.run.requests), max(last_tokens)
    return (start, end) if end > start else Absent("first send and last token carry the same stamp")


def window(answers: Answers) -> float | Absent:
    """Seconds from the first send to the last token."""
    between = window_ns(answers)
    return between if isinstance(between, Absent) else seconds(between[1] - between[0])


def duration(answers: Answers) -> Measured:
    """The window itself."""
    return Measured(window(answers), len(answers.timed))


def request_throughput(answers: Answers) -> Measured:
    """Answered requests per second."""
    return _rate(float(len(answers.timed)), len(answers.timed), answers)


def output_throughput(answers: Answers) -> Measured:
    """Generated tokens per second."""
    return _summed(answers, answers.timed, lambda request: request.output_tokens, "output tokens")


def output_throughput_per_gpu(answers: Answers) -> Measured:
    """Generated tokens per second, shared out among the GPUs that the server's arguments name."""
    whole, gpus = output_throughput(answers), gpu_count(answers.run)
    if isinstance(whole.value, Absent):
        return whole
    if isinstance(gpus, Absent):
        return Measured(gpus, 0)
    return Measured(whole.value / gpus, whole.n_values)


def input_throughput(answers: Answers) -> Measured:
    """Prompt tokens per second, cached ones included."""
    return _summed(answers, answers.counted, prompt_length, "prompt tokens")


def prefill_throughput(answers: Answers) -> Measured:
    """Computed prompt tokens per second: prompt minus cached."""
    cached = reported_cached(answers)
    if isinstance(cached, Absent):
        return Measured(cached, 0)
    computed = sum(prompt_length(request) for request in answers.counted) - sum(cached)
    return _rate(float(computed), len(cached), answers)


def _summed(
    answers: Answers,
    requests: tuple[RequestRecord, ...],
    count: Callable[[RequestRecord], int | None],
    noun: str,
) -> Measured:
    counts = [count(request) for request in requests]
    known = [value for value in counts if value is not None]
    if len(known) < len(counts):
        return Measured(Absent(f"{noun} unknown for {len(counts) - len(known)} of {len(counts)} requests"), 0)
    return _rate(float(sum(known)), len(known), answers)


def _rate(total: float, n_values: int, answers: Answers) -> Measured:
    length = window(answers)
    if isinstance(length, Absent):
        return Measured(length, 0)
    if n_values == 0:
        return Measured(Absent(answers.why_none), 0)
    return Measured(total / length, n_values)
