"""vLLM's log: the periodic lines of V0 and V1 (0.2 to 0.32), speculation, transfers, start-up.

The hit rate that vLLM prints is its own window over the last thousand requests, and ``Avg prompt throughput``
counts cached tokens up to 0.13 and leaves them out from 0.16: both are kept as printed. A line that
aggregates several engines has ``extra["aggregated"]`` and no ``engine``: it must not be added to theirs.
"""

from __future__ import annotations

from typing import Any

from radixbench.logs.record import DialectName, LogRecord, Parsed
from radixbench.logs.timeline import Timeline
from radixbench.logs.vllm.events import READERS, read_transfer
from radixbench.logs.vllm.head import Line, Moments, bare_line, met_lines, wrapped_line
from radixbench.logs.vllm.pairs import PREFIX_CACHE, SPEC, STATS, Pairs, read_pairs
from radixbench.logs.vllm.shapes import PairReader
from radixbench.logs.wrapper.unwrap import strip_ansi

_STATS = "Avg prompt throughput"
_SPEC = ("SpecDecoding metrics: ", "Speculative metrics: ")
_TRANSFER = "KV Transfer metrics: "
_PREFIX_CACHE = "Prefix cache hit rate: "
_STARTS = (_STATS, *_SPEC, _TRANSFER, f"{_PREFIX_CACHE}GPU", *(start for start, _ in READERS))
_STATS_MUST = frozenset({"prompt_throughput", "gen_throughput", "running_req"})
_OTHER_POOLS = frozenset({"xpu_kv_usage_pct", "tpu_kv_usage_pct"})
_PLAIN_HEAD: tuple[str, ...] = ("timestamp",)
_HEAD_KEYS: dict[str, tuple[str, ...]] = {
    "stats": ("timestamp", "process", "pid", "process_dp_rank"),
    "spec": ("timestamp", "process", "pid"),
}
_LEAST_UNLED = 2


class Vllm:
    """Reads one log's vLLM lines. Every statement is one physical line; a line may hold several when two met."""

    name: DialectName = "vllm"
    markers = (
        _STATS,
        " metrics: ",
        "hit rate: GPU",
        "KV cache size: ",
        "PU blocks: ",
        "Maximum concurrency for ",
        "reset prefix cache",
        "preempted by Preemption",
        "iteration elapsed time",
        "LMCache hit tokens",
        "LLM engine (v",
        "server version ",
        "args: ",
        "Starting vLLM",
    )
    open = False

    def __init__(self, timeline: Timeline) -> None:
        self._moments = Moments(timeline)
        self._read_stats = PairReader(STATS).read
        self._read_spec = PairReader(SPEC).read

    def parse(self, line_no: int, text: str) -> Parsed:
        """A line that holds one of ``markers``."""
        text = strip_ansi(text)
        if text.count(".py:") > 1 or text.count(_STATS) > 1:
            parsed = [self._statement(line_no, piece) for piece in met_lines(text)]
            kind = next((one.kind for one in parsed if one.kind is not None), None)
            return Parsed(kind, tuple(record for one in parsed for record in one.records))
        return self._statement(line_no, text)

    def extend(self, line_no: int, text: str) -> Parsed:  # noqa: ARG002 the protocol's form; no statement of vLLM's goes on
        """No statement goes on in a next line."""
        return Parsed(None)

    def close(self) -> tuple[LogRecord, ...]:
        """Nothing is ever open."""
        return ()

    def _statement(self, line_no: int, text: str) -> Parsed:
        line = bare_line(text)
        if not line.message.startswith(_STARTS):
            inner = wrapped_line(text, _STARTS)
            if inner is None or not inner.message.startswith(_STARTS):
                return Parsed(None)
            line = inner
        message = line.message
        if message.startswith(_STATS):
            return self._stats(line_no, line)
        if message.startswith(_SPEC):
            return self._spec(line_no, line)
        if message.startswith(_PREFIX_CACHE):
            pairs = read_pairs(message[len(_PREFIX_CACHE) :], PREFIX_CACHE)
            pairs.flawed |= pairs.known < len(PREFIX_CACHE)
            return self._periodic(line_no, line, "prefix_cache", pairs)
        if message.startswith(_TRANSFER):
            extra = read_transfer(message[len(_TRANSFER) :])
            return self._record(line_no, line, "kv_transfer", {} if extra else {"truncated": True}, extra)
        return self._event(line_no, line)

    def _stats(self, line_no: int, line: Line) -> Parsed:
        pairs = self._read_stats(line.message)
        values = pairs.values
        pairs.flawed |= not (
            values.keys() >= _STATS_MUST
            and (
                "gpu_kv_usage_pct" in values
                or "cpu_kv_usage_pct" in values
                or not pairs.extra.keys().isdisjoint(_OTHER_POOLS)
            )
        )
        return self._periodic(line_no, line, "stats", pairs)

    def _spec(self, line_no: int, line: Line) -> Parsed:
        body = line.message.partition(": ")[2]
        pairs = self._read_spec(body)
        pairs.flawed |= (
            body.startswith("Mean acceptance length") and "draft_acceptance_pct" not in pairs.values
        )
        return self._periodic(line_no, line, "spec", pairs)

    def _periodic(self, line_no: int, line: Line, kind: str, pairs: Pairs) -> Parsed:
        """A line of figures. Without a head of vLLM's own, one figure may as well be someone's prose."""
        if not line.own and pairs.known < _LEAST_UNLED:
            return Parsed(None)
        if pairs.flawed:
            pairs.values["truncated"] = True
        if pairs.damaged_key is not None:
            (pairs.values if kind == "stats" else pairs.extra)["damaged_key"] = pairs.damaged_key
        if line.engine is not None:
            (pairs.values if kind == "stats" else pairs.extra)["engine"] = line.engine
        if line.aggregated is not None:
            pairs.extra["aggregated"] = line.aggregated
        return self._record(line_no, line, kind, pairs.values, pairs.extra)

    def _event(self, line_no: int, line: Line) -> Parsed:
        for start, read in READERS:
            if line.message.startswith(start):
                event = read(line.message)
                if event is not None:
                    values = event.values if event.name is None else {"event": event.name, **event.values}
                    return self._record(line_no, line, "other", values, event.extra)
        return Parsed(None)

    def _record(
        self, line_no: int, line: Line, kind: str, values: dict[str, Any], extra: dict[str, Any]
    ) -> Parsed:
        keys = _HEAD_KEYS.get(kind, _PLAIN_HEAD)
        for key, value in line.head.items():
            (values if key in keys else extra)[key] = value
        if extra and not extra.keys().isdisjoint(values):
            extra = {key: value for key, value in extra.items() if key not in values}
        record = LogRecord(line_no, "vllm", kind, values, extra, line.rank, self._moments.at(line))
        return Parsed(kind, (record,))
