"""Which requests of a run count, and why the others don't.

Failed requests, empty answers and impossible stamps never enter a latency; impossible token counts
never enter a sum. What is left out is counted by cause, so that nothing vanishes silently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal, TypeVar

from radixbench.capture.model import Run
from radixbench.records import RequestRecord
from radixbench.scenario.model import GoodputSpec

Cause = Literal["failed", "empty", "impossible-times", "impossible-counts"]

T = TypeVar("T")

CAUSE_WORDS: dict[str, str] = {
    "failed": "failed or cancelled",
    "empty": "completed without a token",
    "impossible-times": "with stamps that run backwards",
    "impossible-counts": "with more cached than prompt tokens, or a prompt of 0 tokens",
}


@dataclass(frozen=True, slots=True)
class Answers:
    """A run with its requests sorted out.

    ``completed`` ended well, ``timed`` of them brought tokens at possible times, ``counted`` of them have
    possible token counts. ``goodput`` are the targets they are judged by. ``kept`` is what ``once`` holds.
    """

    run: Run
    completed: tuple[RequestRecord, ...]
    timed: tuple[RequestRecord, ...]
    counted: tuple[RequestRecord, ...]
    excluded: dict[str, int]
    goodput: GoodputSpec = field(default_factory=GoodputSpec)
    kept: dict[Callable[..., Any], Any] = field(init=False, default_factory=dict, repr=False, compare=False)

    @property
    def why_none(self) -> str:
        """Why no request is left to measure, in words."""
        if not self.run.requests:
            return "no request was sent"
        causes = [f"{n} {CAUSE_WORDS[cause]}" for cause, n in self.excluded.items()]
        return f"none of {len(self.run.requests)} requests counts: {', '.join(causes)}"


def once(work: Callable[[Answers], T]) -> Callable[[Answers], T]:
    """Work that several ask for, done once for each ``Answers``; the result lives as long as they do.

    For what walks every request of a run: summary, findings and report all look at the same few of these.
    """

    @wraps(work)
    def known(answers: Answers) -> T:
        if work not in answers.kept:
            answers.kept[work] = work(answers)
        found: T = answers.kept[work]
        return found

    return known


def sort_out(run: Run, goodput: GoodputSpec | None = None) -> Answers:
    """The run's requests by what they are good for, and the targets they are judged by."""
    excluded: Counter[str] = Counter()
    completed, timed, counted = [], [], []
    for request in run.requests:
        if request.status != "completed":
            excluded["failed"] += 1
            continue
        completed.append(request)
        fault = _time_fault(request)
        if fault is None:
            timed.append(request)
        else:
            excluded[fault] += 1
        if _counts_possible(request):
            counted.append(request)
        else:
            excluded["impossible-counts"] += 1
    return Answers(
        run=run,
        completed=tuple(completed),
        timed=tuple(timed),
        counted=tuple(counted),
        excluded=dict(excluded),
        goodput=goodput or GoodputSpec(),
    )


def prompt_length(request: RequestRecord) -> int:
    """Prompt tokens by the server's word, else as sent."""
    return request.sent_prompt_tokens if request.prompt_tokens is None else request.prompt_tokens


def _time_fault(request: RequestRecord) -> Cause | None:
    if not request.chunk_ns or request.output_tokens == 0:
        return "empty"
    first = request.chunk_ns[0]
    if first < request.due_ns or first < request.send_ns:
        return "impossible-times"
    if sorted(request.chunk_ns) != list(request.chunk_ns):
        return "impossible-times"
    return None


def _counts_possible(request: RequestRecord) -> bool:
    prompt = prompt_length(request)
    if prompt <= 0:
        return False
    return request.cached_tokens is None or 0 <= request.cached_tokens <= prompt
