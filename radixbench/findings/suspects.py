"""Hits that nobody tells of, betrayed by their first token's time.

In a run that was to be cold, a request that couldn't have found anything and yet had its first token several times
sooner than the server can compute its prompt has found something. How fast the server computes is read from the
other requests: prompt tokens whose first token came within one of their waits, over that wait. A queue makes
every wait longer, and as many more tokens fall into it, so it accuses nobody.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from radixbench.capture.model import Run
from radixbench.findings.model import Finding
from radixbench.findings.words import duration, listed, several
from radixbench.metrics.answers import Answers, prompt_length
from radixbench.metrics.cache import page_size
from radixbench.metrics.figure import RunSummary
from radixbench.metrics.reuse import expected_reuse
from radixbench.records import RequestRecord
from radixbench.scenario.model import Engine
from radixbench.stats.quantile import median
from radixbench.stats.sample import Absent, Sample
from radixbench.units import NS_PER_S, seconds

SPEED_UP = 5.0
"""How many times sooner than computed a first token must come to accuse a request."""

_FEWEST = 8
_FEWEST_FIRST = 2
_LEAST_GAIN_S = 0.01
_HARDLY = 0.1
_MOSTLY = 0.5

REPORT_FLAGS: dict[Engine, str] = {
    "sglang": "start it with --enable-cache-report",
    "vllm": "start it with --enable-prompt-tokens-details",
    "llamacpp": "take a version whose answers carry prompt_tokens_details or timings.cache_n",
}


class _Wait(NamedTuple):
    """One request's wait for its first token, and how many tokens it must have computed at least."""

    request: RequestRecord
    computed: int

    @property
    def first_ns(self) -> int:
        return self.request.chunk_ns[0]

    @property
    def ttft_ns(self) -> int:
        return max(self.first_ns - self.request.send_ns, 1)

    @property
    def speed(self) -> float:
        """Tokens per second, as if nothing else had been computed meanwhile."""
        return self.computed * NS_PER_S / self.ttft_ns

    def beats(self, capacity: float) -> bool:
        """Whether a server that computes so many tokens per second can't have computed these."""
        gain_s = self.computed / capacity - seconds(self.ttft_ns)
        return self.speed > SPEED_UP * capacity and gain_s > _LEAST_GAIN_S


def suspect_findings(answers: Answers, summary: RunSummary) -> Iterator[Finding]:
    """Single requests that must have hit where nothing was to be found, and hits on a server that doesn't tell of them."""
    declared = answers.run.protocol.declared
    if declared in {"cold", "off"}:
        yield from _suspects(answers, summary, declared)
    if summary.cache.cached_tokens is None and summary.answered:
        yield from _unreported(answers)


def _suspects(answers: Answers, summary: RunSummary, declared: str) -> Iterator[Finding]:
    found = _found(answers, summary)
    waits = [
        _Wait(request, prompt_length(request) - tokens)
        for request, tokens in zip(answers.timed, found, strict=True)
    ]
    fast = _faster(waits)
    if declared == "off" and summary.cache.cached_tokens is None:
        fast = fast or _faster_than_first(answers.run, waits)
    if not fast:
        return
    accused = {wait.request.prompt for wait in fast}
    usual = median(
        Sample(tuple(seconds(wait.ttft_ns) for wait in waits if wait.request.prompt not in accused))
    )
    soonest = min(fast, key=lambda wait: wait.ttft_ns)
    yield Finding(
        "suspected-hit",
        "warning",
        f"suspected hit in {declared} run: {several(len(fast), 'request')} ({listed(sorted(accused))}): first token of"
        f" request {soonest.request.prompt} after {duration(seconds(soonest.ttft_ns))} for"
        f" {soonest.computed:,} tokens to compute"
        + ("" if isinstance(usual, Absent) else f", where the others' median is {duration(usual)}"),
        "something was sent to this server that begins like them: look for a warm-up or another client",
    )


def _found(answers: Answers, summary: RunSummary) -> list[int]:
    """What each request found by the server's word; all that is possible where it says nothing."""
    timed = answers.timed
    if summary.cache.cached_tokens is not None:
        return [min(request.cached_tokens or 0, prompt_length(request)) for request in timed]
    if answers.run.mode == "off" or summary.cache.sharable == 0:
        return [0] * len(timed)
    reuse = expected_reuse(answers.run, page_size(answers.run))
    return [reuse[request.prompt].most for request in timed]


def _faster_than_first(run: Run, waits: Sequence[_Wait]) -> list[_Wait]:
    """Those that could find most of their prompt, were the cache on, and came as if they had.

    The server's speed is read from the waits of prompts that nobody had sent before.
    """
    reuse = expected_reuse(run, page_size(run))
    first = [wait for wait in waits if reuse[wait.request.prompt].most <= _HARDLY * wait.computed]
    if len(first) < _FEWEST_FIRST:
        return []
    capacity = _capacity(first, waits)
    return [
        wait
        for wait in waits
        if reuse[wait.request.prompt].low >= _MOSTLY * wait.computed and wait.beats(capacity)
    ]


def _faster(waits: Sequence[_Wait]) -> list[_Wait]:
    """Those whose tokens came several times faster than the server computes, by the waits of prompts no shorter than half.

    Short prompts say nothing of the speed of long ones: what a step costs anyway is most of their time.
    """
    sizes = sorted({wait.computed.bit_length() for wait in waits if wait.computed > 0})
    return [
        wait
        for size in sizes
        for wait in _faster_of([one for one in waits if one.computed.bit_length() >= size - 1])
        if wait.computed.bit_length() == size
    ]


def _faster_of(waits: Sequence[_Wait]) -> list[_Wait]:
    usual = median(Sample(tuple(wait.speed for wait in waits)))
    if isinstance(usual, Absent) or len(waits) < _FEWEST:
        return []
    fast = [wait for wait in waits if wait.speed > SPEED_UP * usual]
    if not fast:
        return []
    slow = [wait for wait in waits if wait.speed <= SPEED_UP * usual]
    capacity = _capacity(slow, slow)
    return [wait for wait in fast if wait.beats(capacity)]


def _capacity(waits: Sequence[_Wait], among: Sequence[_Wait]) -> float:
    """The most tokens per second that any of these waits shows, counting all of ``among`` that were answered within it."""
    ordered = sorted(among, key=lambda wait: wait.first_ns)
    firsts = [wait.first_ns for wait in ordered]
    sums = [0, *accumulate(wait.computed for wait in ordered)]
    best = 0.0
    for wait in waits:
        start = bisect_left(firsts, wait.first_ns - wait.ttft_ns)
        end = bisect_right(firsts, wait.first_ns)
        best = max(best, (sums[end] - sums[start]) * NS_PER_S / wait.ttft_ns)
    return max(best, 1e-9)


def _unreported(answers: Answers) -> Iterator[Finding]:
    run = answers.run
    flag = _flag(run)
    if run.mode == "on":
        ratio = _fall(answers)
        if ratio is not None and ratio > SPEED_UP:
            yield Finding(
                "unreported-hits",
                "warning",
                f"cache probably hit; server does not report ({flag}): the first token of prompts sent in part before"
                f" came {ratio:.1f} times sooner than that of the others",
                flag,
            )
            return
    yield Finding(
        "cached-unknown",
        "info",
        "the server doesn't report cached tokens: whether the cache was used, and in which state it was, isn't proved",
        flag,
    )


def _flag(run: Run) -> str:
    name = run.server.engine.lower().replace(".", "").replace("-", "")
    for engine, flag in REPORT_FLAGS.items():
        if engine in name:
            return flag
    return "let it report prompt_tokens_details in its usage"


def _fall(answers: Answers) -> float | None:
    """Median TTFT of requests that found nothing for sure, over that of those that could find most of their prompt."""
    run = answers.run
    reuse = expected_reuse(run, page_size(run))
    without, with_hits = [], []
    for request in answers.timed:
        ttft = seconds(request.chunk_ns[0] - request.send_ns)
        length, one = prompt_length(request), reuse[request.prompt]
        if one.most <= _HARDLY * length:
            without.append(ttft)
        elif one.known and one.low >= _MOSTLY * length:
            with_hits.append(ttft)
    cold, warm = median(Sample(tuple(without))), median(Sample(tuple(with_hits)))
    if isinstance(cold, Absent) or isinstance(warm, Absent) or warm <= 0:
        return None
    return cold / warm
