"""The words of a report: what metrics, cells, verdicts and settings are called in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from radixbench.compare.change import Severity, VerdictName
from radixbench.metrics.registry import METRICS
from radixbench.report.model import Tone

HEADLINE_METRICS = ("ttft_p50", "output_throughput")


_PROSE = {
    "ttft_p50": "time to first token",
    "ttft_p99": "the 99th percentile of time to first token",
    "e2e_p50": "end-to-end latency",
    "itl_p50": "inter-token latency",
    "tpot_p50": "time per output token",
    "output_throughput": "output throughput",
    "input_throughput": "nominal input throughput",
    "prefill_throughput": "computed prefill throughput",
    "request_throughput": "request throughput",
    "goodput": "goodput",
    "goodput_share": "the share of requests that met their targets",
    "duration": "the duration of a run",
    "hit_rate": "the hit rate",
    "cached_tokens": "cached tokens",
}

VERDICT_WORDS: Mapping[VerdictName, str] = {
    "better": "▲ better",
    "worse": "▼ worse",
    "within-noise": "≈ within noise",
    "undecided": "? undecided",
    "incomparable": "✕ incomparable",
}

VERDICT_TONES: Mapping[VerdictName, Tone] = {
    "better": "better",
    "worse": "worse",
    "within-noise": "neutral",
    "undecided": "caution",
    "incomparable": "refused",
}

SEVERITY_MARKS: Mapping[Severity, str] = {"serious": "‼", "warning": "!", "info": "i"}
SEVERITY_TONES: Mapping[Severity, Tone] = {"serious": "worse", "warning": "caution", "info": "neutral"}
SEVERITY_ORDER: tuple[Severity, ...] = ("serious", "warning", "info")


def metric_title(name: str) -> str:
    """A metric's title in tables; one the registry doesn't know goes by its name."""
    return METRICS[name].title if name in METRICS else name


def metric_prose(name: str) -> str:
    """A metric's name within a sentence."""
    return _PROSE.get(name, metric_title(name))


def known(values: Iterable[object]) -> list[str]:
    """The distinct values that are there, as text, in the order met."""
    seen: dict[str, None] = {}
    for value in values:
        if value is not None:
            seen[str(value)] = None
    return list(seen)
