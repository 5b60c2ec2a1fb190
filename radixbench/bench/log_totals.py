"""What a server's log says of one run, summed while its lines are read.

One accumulator for all dialects. Servers that print no prefill lines (vLLM) leave cached tokens unknown; what vLLM
prints instead is a rolling rate over its last thousand requests, kept apart. Tensor-parallel ranks work
on the same batches, so only the first of them counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from radixbench.logs.record import LogRecord
from radixbench.records import LogTotals

_USAGE = ("token_usage", "full_token_usage", "swa_token_usage")
_POOLS_PCT = ("gpu_kv_usage_pct", "cpu_kv_usage_pct")  # on a GPU the second is old vLLM's swap space
_HIT_RATES = ("prefix_hit_pct", "prefix_hit_gpu_pct")
_CHUNK = 512  # the smallest chunk size in use


@dataclass(slots=True)
class LogSum:
    """The running sums; ``totals`` reads them at any moment."""

    _dialect: str | None = None
    _prefill_lines: int = 0
    _decode_lines: int = 0
    _new: int = 0
    _cached: int = 0
    _retractions: int = 0
    _usage: float | None = None
    _state_usage: float | None = None
    _window_rate: float | None = None
    _continued: bool = False
    _before: dict[str, tuple[int, int]] = field(default_factory=dict)
    _splits: dict[str, int] = field(default_factory=dict)

    def add(self, record: LogRecord) -> None:
        """One line of the window."""
        if dict(record.rank.parts).get("TP"):
            return
        values = record.values
        self._dialect = self._dialect or record.dialect
        if record.kind == "prefill":
            self._prefill(record)
        elif record.kind in {"decode", "eval"}:
            self._decode_lines += 1
        elif record.kind in {"prompt_eval", "timing_block"}:
            self._prefill_lines += 1
            self._new += _count(values, "prompt_n")
        elif record.kind in {"prompt_split", "cached"}:
            self._splits[record.kind] = self._splits.get(record.kind, 0) + _count(values, "cached_n")
        if record.event == "retract":
            self._retractions += _count(values, "retracted_reqs")
        self._peaks(values)

    def totals(self) -> LogTotals | None:
        """What was read so far; ``None`` if the window holds no line anybody knows."""
        if self._dialect is None:
            return None
        known = self._prefill_lines > 0 and (self._dialect != "llamacpp" or bool(self._splits))
        cached = self._cached + next(iter(self._splits.values()), 0)  # two wordings of one fact, never added
        return LogTotals(
            dialect=self._dialect,
            prefill_lines=self._prefill_lines,
            decode_lines=self._decode_lines,
            new_tokens=self._new if self._prefill_lines else None,
            cached_tokens=cached if known else None,
            retractions=self._retractions,
            peak_token_usage=self._usage,
            peak_state_usage=self._state_usage,
            window_hit_rate=self._window_rate,
            chunk_continuations_as_hits=self._continued,
        )

    def _prefill(self, record: LogRecord) -> None:
        new, cached = _count(record.values, "new_token"), _count(record.values, "cached_token")
        self._prefill_lines += 1
        self._new += new
        self._cached += cached
        before = self._before.get(record.rank.label, (0, 0))
        if (
            "cache_hit_rate_pct" in record.values
            and record.values.get("new_seq") == 1
            and before[0] >= _CHUNK
            and cached == sum(before)
        ):
            self._continued = True  # SGLang up to 2024: a prompt's earlier chunks were printed as hits
        self._before[record.rank.label] = (new, cached)

    def _peaks(self, values: Mapping[str, Any]) -> None:
        for key in _USAGE:
            self._usage = _higher(self._usage, values.get(key), 1)
        pool = next((values[key] for key in _POOLS_PCT if key in values), None)
        self._usage = _higher(self._usage, pool, 100)
        self._state_usage = _higher(self._state_usage, values.get("mamba_usage"), 1)
        for key in _HIT_RATES:
            if isinstance(rate := values.get(key), int | float):
                self._window_rate = rate / 100


def _count(values: Mapping[str, Any], key: str) -> int:
    """A count as printed; a line that was cut before it adds nothing."""
    value = values.get(key)
    return value if isinstance(value, int) else 0


def _higher(peak: float | None, value: Any, scale: float) -> float | None:
    if not isinstance(value, int | float):
        return peak
    return max(value / scale, peak) if peak is not None else value / scale
