"""One vLLM engine: what its periodic lines add up to.

A line tells rates over the interval since the line before; idle engines print nothing, so a longer gap is no longer
interval. Its prefix hit rate is the server's own, over the last thousand requests (V1) or since its start (V0), which an idle
line merely repeats. The lines print no cached tokens at all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from radixbench.logs.record import LogRecord, Rank
from radixbench.metrics.log_summary.course import Course
from radixbench.metrics.log_summary.ledger import FULL
from radixbench.metrics.log_summary.model import ServerWindow
from radixbench.metrics.log_summary.readable import count, number
from radixbench.metrics.log_summary.speculation import Speculation

_LONGEST_GAP = 3600
_LONGEST_INTERVAL = 60.0
_JUST_BEFORE_S = 1.0
_RATES = {
    "prefix_hit_pct": "prefix cache hit rate over the last 1000 requests",
    "external_prefix_hit_pct": "external prefix cache hit rate over the last 1000 requests",
    "mm_hit_pct": "multi-modal cache hit rate over the last 1000 requests",
}
_V0_RATE = "prefix cache hit rate since the server's start (V0, {} blocks)"
_POOLS = ("gpu", "xpu", "tpu", "cpu")
"""Where the KV cache may lie; beside another one the CPU's holds what was swapped out."""


class Flow(NamedTuple):
    """Tokens over time: prompt tokens as printed, generated tokens, and the seconds of the lines at work."""

    prompt_tokens: float
    output_tokens: float
    seconds: float
    interval_s: float | None


class _Rates:
    """Sums of printed rates over lines with the same gap before them."""

    __slots__ = ("generated", "lines", "prompt")

    def __init__(self) -> None:
        self.prompt = self.generated = 0.0
        self.lines = 0


class Engine:
    """The lines of one rank, in the order of the log. ``v0``: the engine before V1 wrote them."""

    __slots__ = (
        "_by_gap", "_gaps", "_last_s", "_windows", "course", "cut_lines", "idle_lines", "lines",
        "main_pool", "preemptions",
        "rank", "speculation", "v0",
    )  # fmt: skip

    def __init__(self, rank: Rank, width: float | None) -> None:
        self.rank = rank
        self.course = Course(width)
        self.speculation = Speculation()
        self.lines = self.idle_lines = self.cut_lines = self.preemptions = 0
        self.main_pool = "gpu"
        self.v0 = False
        self._last_s: float | None = None
        self._gaps: dict[int, int] = {}
        self._by_gap: dict[int | None, _Rates] = {}
        self._windows: dict[str, ServerWindow] = {}

    def stats(self, record: LogRecord) -> None:
        """A line of rates, requests and usage."""
        values, extra = record.values, record.extra
        prompt, generated = number(values.get("prompt_throughput")), number(values.get("gen_throughput"))
        running = count(values.get("running_req"))
        self.cut_lines += "truncated" in values
        if prompt is None or generated is None or running is None:
            return
        self.lines += 1
        self.v0 |= "swapped_req" in values or "swapped_req" in extra
        idle = not (prompt or generated or running)
        gap = self._gap(record.at_s)
        if idle:
            self.idle_lines += 1
            self.course.pause()
            self.course.visit(record.at_s, self._before(gap))
        else:
            self.course.tell(record.at_s, self._before(gap))
            rates = self._by_gap.setdefault(gap, _Rates())
            rates.prompt += prompt
            rates.generated += generated
            rates.lines += 1
            self.course.sums.work += generated
            self.course.sums.work_time += 1.0
        self._press(record, running)
        self.preemptions += count(extra.get("preemptions")) or 0
        if not idle or not self._windows:
            for key, what in _RATES.items():
                self._own_rate(what, values.get(key), main=key == "prefix_hit_pct")

    def hit_rates(self, record: LogRecord) -> None:
        """V0's separate line. On a CPU backend the hits stand under the CPU's label."""
        self.v0 = True
        self.course.visit(record.at_s)
        gpu, cpu = (number(record.values.get(f"prefix_hit_{one}_pct")) for one in ("gpu", "cpu"))
        if cpu and not gpu:
            self._own_rate(_V0_RATE.format("CPU"), cpu, main=True)
        else:
            self._own_rate(_V0_RATE.format("GPU"), gpu, main=True)

    def drafts(self, record: LogRecord) -> None:
        """A line about speculation; V0 counts since its start, so that only its last line holds."""
        values = record.values
        weight = float(count(values.get("drafted_tokens")) or 1)
        length, rate = number(values.get("mean_acceptance_len")), number(values.get("draft_acceptance_pct"))
        if "emitted_tokens" in values:
            self.speculation = Speculation()
        if length:
            self.speculation.add_length(length, weight)
        if rate is not None:
            self.speculation.add_rate(rate / 100, weight)

    def restart(self) -> None:
        """The server began anew: the next line has no interval before it."""
        self._last_s = None

    def flow(self) -> Flow:
        """Rates times intervals. Without times, every line stands for one and the same interval."""
        interval = self._interval()
        prompt = generated = seconds = 0.0
        for gap, rates in self._by_gap.items():
            span = 1.0 if interval is None else interval if gap is None else min(float(gap), interval)
            prompt += rates.prompt * span
            generated += rates.generated * span
            seconds += rates.lines * span
        return Flow(prompt, generated, seconds, interval)

    def server_windows(self) -> list[ServerWindow]:
        """What the server itself says about its hit rates."""
        return list(self._windows.values())

    def _gap(self, at_s: float | None) -> int | None:
        """Whole seconds since the line before."""
        last, self._last_s = self._last_s, at_s
        if at_s is None or last is None or at_s < last:
            return None
        gap = min(round(at_s - last), _LONGEST_GAP)
        self._gaps[gap] = self._gaps.get(gap, 0) + 1
        return gap

    def _before(self, gap: int | None) -> float:
        """How far before a line the middle of its interval lies, as far as it is known by now."""
        interval = self._interval()
        if interval is None:
            return _JUST_BEFORE_S
        return (interval if gap is None else min(float(gap), interval)) / 2

    def _interval(self) -> float | None:
        """The seconds a line stands for: the lower quartile of the gaps, since idle engines are silent and leave longer ones."""
        rest = sum(self._gaps.values()) // 4
        for gap in sorted(self._gaps):
            rest -= self._gaps[gap]
            if rest < 0:
                return min(float(gap), _LONGEST_INTERVAL) or None
        return None

    def _press(self, record: LogRecord, running: int) -> None:
        """Requests and pools."""
        values = record.values
        sums, peaks = self.course.sums, self.course.peaks
        sums.running += running
        sums.running_lines += 1
        peaks.running = max(peaks.running, running)
        queue = count(values.get("queue_req"))
        if queue is not None:
            sums.queue += queue
            sums.queue_lines += 1
            sums.queued_lines += queue > 0
            peaks.queue = max(peaks.queue, queue)
        name, main = next(
            ((pool, used) for pool in _POOLS if (used := _pool(record, pool)) is not None),
            (self.main_pool, None),
        )
        swapped = _pool(record, "cpu")
        if swapped and name != "cpu":
            peaks.pools["cpu"] = max(peaks.pools.get("cpu", 0.0), swapped)
        if main is not None:
            self.main_pool = name
            sums.usage_lines += 1
            sums.full_lines += main >= FULL
            peaks.usage = max(peaks.usage, main)

    def _own_rate(self, what: str, printed: Any, *, main: bool) -> None:
        """A hit rate of the server's own, in percent."""
        percent = number(printed)
        if percent is None or not 0.0 <= percent <= 100.0:
            return
        rate = percent / 100
        if main:
            self.course.peaks.server_hit = rate
        known = self._windows.get(what)
        low, high = (rate, rate) if known is None else (min(known.low, rate), max(known.high, rate))
        self._windows[what] = ServerWindow(what, rate, low, high)


def _pool(record: LogRecord, name: str) -> float | None:
    key = f"{name}_kv_usage_pct"
    printed = number(record.values.get(key, record.extra.get(key)))
    return None if printed is None else printed / 100
