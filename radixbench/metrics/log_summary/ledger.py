"""One rank of SGLang or of our own server: what its batch lines add up to.

Nearly every line of a log ends here, so ``prefill`` and ``decode`` do as little as they can: sums, the highest values, and
one comparison for each thing that rarely happens. Everything that depends on the whole log (the chunk
budget, the page size, which ranks print the same batches) is decided when figures are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from radixbench.logs.record import LogRecord, Rank
from radixbench.metrics.log_summary.chunks import PROBE_TOKENS, Chunks, Load
from radixbench.metrics.log_summary.course import Course
from radixbench.metrics.log_summary.exact_steps import ExactSteps
from radixbench.metrics.log_summary.pace import DecodePace
from radixbench.metrics.log_summary.readable import MOST_COUNT, count, number
from radixbench.metrics.log_summary.running_rate import RunningRate
from radixbench.metrics.log_summary.signs import Signs
from radixbench.metrics.log_summary.speculation import Speculation
from radixbench.metrics.log_summary.sums import (
    NOTHING,
    SUM_NAMES,
    Moment,
    Sums,
    minus,
    plus,
    read_sums,
    sums_of,
)
from radixbench.records import StepRecord
from radixbench.units import NS_PER_S

FULL = 0.97
"""A pool used to this share is full: the next request has to wait or to evict."""

_LONGEST_STEP_NS = 86_400 * NS_PER_S
_REPEATED = SUM_NAMES.index("repeated_tokens")
SIDE_POOLS = {
    "swa_token_usage": "swa",
    "mamba_usage": "mamba",
    "gpu token usage": "gpu",
    "cpu token usage": "cpu",
}
"""Labels of pools beside the one for full attention, and their names."""


class Ledger:
    """The batch lines of one rank, in the order of the log."""

    __slots__ = (
        "_admitted",
        "_sent_back",
        "_started",
        "chunks",
        "course",
        "cut_lines",
        "exact",
        "full_pool",
        "graph_hits",
        "graph_lines",
        "pace",
        "rank",
        "running_rate",
        "signs",
        "speculation",
        "unreadable_lines",
        "waiting",
        "warm_up",
    )  # fmt: skip

    def __init__(self, rank: Rank, width: float | None) -> None:
        self.rank = rank
        self.course = Course(width)
        self.chunks = Chunks()
        self.pace = DecodePace()
        self.exact = ExactSteps()
        self.signs = Signs()
        self.running_rate = RunningRate()
        self.speculation = Speculation()
        self.cut_lines = self.unreadable_lines = 0
        self.graph_lines = self.graph_hits = 0
        self.full_pool = False
        self.warm_up = NOTHING
        self._sent_back = self._admitted = 0
        self._started = NOTHING
        self.waiting = False

    @property
    def lines(self) -> int:
        """Batch lines that counted."""
        return self.course.sums.prefill_batches + self.course.sums.decode_batches

    def prefill(self, record: LogRecord) -> None:
        """A prefill line. One whose token counts can't be read is counted, and no more."""
        values = record.values
        get = values.get
        new, cached, seqs = get("new_token"), get("cached_token"), get("new_seq")
        running, queue, pending = get("running_req"), get("queue_req"), get("pending_token")
        if "truncated" in values:
            self.cut_lines += 1
            self.running_rate.lose()
        if not (
            new.__class__ is cached.__class__ is int and 0 <= new <= MOST_COUNT and 0 <= cached <= MOST_COUNT
        ):
            self.unreadable_lines += 1
            self.running_rate.lose()
            return
        if not (
            seqs.__class__ is running.__class__ is queue.__class__ is int
            and 0 <= seqs | running | queue <= MOST_COUNT
        ):
            seqs, running, queue = count(seqs) or 0, count(running), count(queue)
        if pending is not None:
            pending = count(pending)
        course = self.course
        resting = not running and not self.waiting
        few = new <= PROBE_TOKENS >= cached and seqs == 1
        self._reach(record, resting, few and resting and not (queue or pending))
        sums = course.sums
        sums.prefill_batches += 1
        sums.new_seq += seqs
        sums.new_tokens += new
        sums.cached_tokens += cached
        self._press(values, record.extra, queue)
        if pending and pending > (course.peaks.pending or 0):
            course.peaks.pending = pending
        self.waiting = waiting = bool(queue or pending)
        self.signs.prefill(record, new, cached, seqs, running or 0, not waiting and not running)
        if record.exact is None:
            self.pace.prefilled(running, course.gap_s, resting)
        else:
            self._step(record.exact)
        if new >= self.chunks.floor or pending or self.chunks.open is not None:
            self._chunk(values, new, cached, seqs, (running, queue, pending))
        if "cache_hit_rate_pct" in values:
            self._printed_rate(values["cache_hit_rate_pct"], new, cached)

    def decode(self, record: LogRecord) -> None:
        """A decode line; whatever of it can be read counts."""
        values = record.values
        get = values.get
        running, queue, graph = get("running_req"), get("queue_req"), get("cuda_graph")
        if not (running.__class__ is queue.__class__ is int and 0 <= running | queue <= MOST_COUNT):
            running, queue = count(running), count(queue)
        if "truncated" in values:
            self.cut_lines += 1
        course = self.course
        sums = course.sums
        resting = not self.waiting and not sums.prefill_batches
        self._reach(record, resting, False)
        sums.decode_batches += 1
        self._press(values, record.extra, queue)
        self.waiting = bool(queue)
        self.signs.decode(values, record.extra)
        if self.chunks.open is not None:
            self.chunks.decoded(running)
        if graph is not None:
            self.graph_lines += 1
            self.graph_hits += graph is True
        if running is None:
            return
        sums.running += running
        sums.running_lines += 1
        course.peaks.running = max(course.peaks.running, running)
        if record.exact is not None:
            self._step(record.exact)
            return
        if self.exact.steps:  # a cut line of ours: the others tell their times
            return
        rate = get("gen_throughput")
        accept = self._accepted(values, running) if "accept_len" in values else 1.0
        if running and accept and rate.__class__ in (int, float) and rate > 0:
            self.pace.line(sums, running, accept, rate, course.gap_s if resting else None)

    def retracted(self, requests: int) -> None:
        """So many requests were sent back to the queue; the next sequences admitted may be they."""
        self._sent_back = self.still_waiting + requests
        self._admitted = self.course.sums.new_seq

    @property
    def still_waiting(self) -> int:
        """Requests sent back to the queue that can't be back yet: fewer sequences were admitted since."""
        return max(self._sent_back - (self.course.sums.new_seq - self._admitted), 0)

    def restart(self) -> None:
        """The server began anew."""
        self.running_rate.reset()
        self.pace.start_again()
        self.waiting = False
        self.signs.probes.start()
        self._started = read_sums(self.course.sums)

    def ready(self) -> None:
        """The server takes requests from here on: what it did since its start was its own warm-up."""
        now = read_sums(self.course.sums)
        self.warm_up = plus(self.warm_up, minus(now, self._started))
        self.signs.probes.ready()
        self._started = now

    def sums(self, added: Moment, *, repeated: bool) -> Sums:
        """A moment of this rank; ``repeated``: its tokens printed again as cached are known to be that, unless its lines tell otherwise."""
        repeated = repeated and added[_REPEATED] > 0 and not self.chunks.count(1).bare
        return sums_of(added if repeated else (*added[:_REPEATED], 0, *added[_REPEATED + 1 :]))

    def _press(self, values: Mapping[str, Any], extra: Mapping[str, Any], queue: int | None) -> None:
        """Queue and pools."""
        sums, peaks = self.course.sums, self.course.peaks
        if queue is not None:
            sums.queue_lines += 1
            if queue:
                sums.queue += queue
                sums.queued_lines += 1
                peaks.queue = max(peaks.queue, queue)
        usage = values.get("token_usage")
        if usage is None:
            usage = self._other_pools(values, extra)
        if usage.__class__ is float:
            sums.usage_lines += 1
            peaks.usage = max(peaks.usage, usage)
            if usage >= FULL:
                sums.full_lines += 1

    def _other_pools(self, values: Mapping[str, Any], extra: Mapping[str, Any]) -> Any:
        """The pools of a model with several kinds of state; returns the usage of the one for full attention."""
        usage = values.get("full_token_usage")
        if usage is not None:
            self.full_pool = True
        pools = self.course.peaks.pools
        for key, name in SIDE_POOLS.items():
            side = values.get(key)
            if side is None:
                side = extra.get(key)
            if side.__class__ is float and side >= pools.get(name, 0.0):
                pools[name] = side
        return usage

    def _chunk(self, values: Mapping[str, Any], new: int, cached: int, seqs: int, load: Load) -> None:
        """A line that may go on with a prompt, or be gone on with."""
        top = self.chunks.top
        repeated = self.chunks.line(new, cached, seqs, load, "cache_hit_rate_pct" in values)
        if self.course.sums.repeated_tokens and self.chunks.top != top:
            self.course.forget_repeated()
        self.course.sums.repeated_tokens += repeated

    def _printed_rate(self, printed: Any, new: int, cached: int) -> None:
        percent = number(printed)
        if percent is None:
            self.running_rate.lose()
        else:
            self.running_rate.add(new, cached, percent)

    def _accepted(self, values: Mapping[str, Any], running: int) -> float:
        """Tokens accepted for each request and step."""
        length, rate = number(values["accept_len"]), number(values.get("accept_rate"))
        if not length:
            return 0.0
        self.speculation.add_length(length, running)
        if rate is not None:
            self.speculation.add_rate(rate, running)
        return length

    def _reach(self, record: LogRecord, resting: bool, probe: bool) -> None:
        """A line is about to be added; ``probe``: of an idle server, by its looks."""
        exact = record.exact
        if exact is None and probe:
            self.course.probe(record.at_s)
        elif isinstance(exact, StepRecord) and 0 <= exact.end_ns - exact.start_ns <= _LONGEST_STEP_NS:
            took = (exact.end_ns - exact.start_ns) / NS_PER_S
            self.course.step(record.at_s, took, self.exact.rest_s(exact))
        else:
            self.course.reach(record.at_s, resting)

    def _step(self, exact: object) -> None:
        """A step of our own, with its exact times."""
        if not isinstance(exact, StepRecord) or not 0 <= exact.end_ns - exact.start_ns <= _LONGEST_STEP_NS:
            return
        self.exact.add(exact)
        if exact.phase == "decode":
            self.course.sums.work += exact.new_tokens
            self.course.sums.work_time += (exact.end_ns - exact.start_ns) / NS_PER_S
