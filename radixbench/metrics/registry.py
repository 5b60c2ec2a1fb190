"""The one table of metrics: every figure radixbench prints, with its formula in words.

Report and documentation quote it; nothing else defines a figure. Percentiles are numpy's linear ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from radixbench.errors import UsageError
from radixbench.metrics import cache, efficiency, goodput, latency, phases, steps, throughput
from radixbench.metrics.definition import Metric
from radixbench.metrics.figure import RunSummary

_WINDOW = "from the first send to the last token of the run"
_STEADY = "from when all requests of the fullest moment have their first token to the first finish after the last send"
_TTFT = "from when the request was due to the first event that carries a generated token"

_TABLE = (
    Metric(
        name="ttft_p50",
        title="TTFT, median",
        unit="s",
        better="lower",
        aggregate="geometric",
        formula=f"median over requests of the time {_TTFT}",
        compute=partial(latency.ttft_quantile, q=0.5),
    ),
    Metric(
        name="ttft_p99",
        title="TTFT, p99",
        unit="s",
        better="lower",
        aggregate="geometric",
        formula=f"99th percentile over requests of the time {_TTFT}",
        compute=partial(latency.ttft_quantile, q=0.99),
        few=100,
    ),
    Metric(
        name="e2e_p50",
        title="E2E latency, median",
        unit="s",
        better="lower",
        aggregate="geometric",
        formula="median over requests of the time from when the request was due to its last generated token",
        compute=partial(latency.e2e_quantile, q=0.5),
    ),
    Metric(
        name="itl_p50",
        title="ITL, median",
        unit="s",
        better="lower",
        aggregate="geometric",
        formula="median over all gaps between generated tokens; an event of k tokens closes k equal gaps",
        compute=partial(latency.itl_quantile, q=0.5),
    ),
    Metric(
        name="tpot_p50",
        title="TPOT, median",
        unit="s",
        better="lower",
        aggregate="geometric",
        formula="median over requests of (E2E latency − TTFT) / (output tokens − 1)",
        compute=partial(latency.tpot_quantile, q=0.5),
    ),
    Metric(
        name="output_throughput",
        title="Output throughput",
        unit="tokens/s",
        better="higher",
        aggregate="geometric",
        formula=f"generated tokens of completed requests / time {_WINDOW}",
        compute=throughput.output_throughput,
    ),
    Metric(
        name="steady_output_throughput",
        title="Output throughput, steady",
        unit="tokens/s",
        better="higher",
        aggregate="geometric",
        formula=f"generated tokens of completed requests / time, both {_STEADY}",
        compute=phases.steady_output_throughput,
    ),
    Metric(
        name="peak_output_throughput",
        title="Output throughput, peak",
        unit="tokens/s",
        better=None,
        aggregate="arithmetic",
        formula="generated tokens of completed requests / time, in the best of the run's equal parts of at least a second",
        compute=phases.peak_output_throughput,
    ),
    Metric(
        name="output_throughput_per_gpu",
        title="Output throughput per GPU",
        unit="tokens/s",
        better=None,
        aggregate="arithmetic",
        formula="output throughput / GPUs by the server's arguments (tensor × pipeline × data parallel size)",
        compute=throughput.output_throughput_per_gpu,
    ),
    Metric(
        name="input_throughput",
        title="Input throughput, nominal",
        unit="tokens/s",
        better="higher",
        aggregate="geometric",
        formula=f"prompt tokens of completed requests, cached ones included / time {_WINDOW}",
        compute=throughput.input_throughput,
        warning="counts cached tokens too: it is no speed of the hardware",
    ),
    Metric(
        name="prefill_throughput",
        title="Prefill throughput, computed",
        unit="tokens/s",
        better="higher",
        aggregate="geometric",
        formula=f"prompt tokens minus cached tokens of completed requests / time {_WINDOW}",
        compute=throughput.prefill_throughput,
        warning="counts computed tokens only: a cache that saves prefill lowers it",
        like_modes_only=True,
    ),
    Metric(
        name="request_throughput",
        title="Request throughput",
        unit="requests/s",
        better="higher",
        aggregate="geometric",
        formula=f"completed requests with an answer / time {_WINDOW}",
        compute=throughput.request_throughput,
    ),
    Metric(
        name="goodput",
        title="Goodput",
        unit="requests/s",
        better="higher",
        aggregate="geometric",
        formula=f"requests that met every target of --goodput / time {_WINDOW}",
        compute=goodput.goodput,
        on_request=True,
    ),
    Metric(
        name="goodput_share",
        title="Goodput, share",
        unit="ratio",
        better=None,
        aggregate="arithmetic",
        formula="requests that met every target of --goodput / requested ones; a failed request met none",
        compute=goodput.goodput_share,
        on_request=True,
    ),
    Metric(
        name="duration",
        title="Duration",
        unit="s",
        better="lower",
        aggregate="geometric",
        formula=f"time {_WINDOW}",
        compute=throughput.duration,
    ),
    Metric(
        name="hit_rate",
        title="Hit rate",
        unit="ratio",
        better=None,
        aggregate="arithmetic",
        formula="cached tokens / prompt tokens, each summed over the run's completed requests; cached tokens above what this run can have left are in it, so that a cache that held something before shows",
        compute=cache.hit_rate,
    ),
    Metric(
        name="cached_tokens",
        title="Cached tokens",
        unit="tokens",
        better=None,
        aggregate="arithmetic",
        formula="cached prompt tokens by the server's word, summed over the run's completed requests",
        compute=cache.cached_tokens,
    ),
    Metric(
        name="hit_efficiency",
        title="Hit efficiency",
        unit="ratio",
        better=None,
        aggregate="arithmetic",
        formula="cached tokens, as far as possible at all / the most an unlimited cache would have reused for these token ids, in whole pages",
        explain=efficiency.hit_efficiency,
    ),
    Metric(
        name="lateness_p99",
        title="Lateness, p99",
        unit="s",
        better=None,
        aggregate="arithmetic",
        formula="99th percentile over requests of the time from when the request was due to its sending; 0 in a closed loop",
        compute=partial(latency.lateness_quantile, q=0.99),
        few=100,
    ),
    Metric(
        name="host_share",
        title="Tree and scheduler",
        unit="ratio",
        better=None,
        aggregate="arithmetic",
        formula="time in tree and scheduler / time of all scheduler steps",
        compute=steps.host_share,
    ),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in _TABLE}


def reported(summaries: Iterable[RunSummary]) -> tuple[Metric, ...]:
    """The metrics that these runs have rows of: all but those that nobody asked for."""
    known = tuple(summaries)
    return tuple(
        metric
        for metric in _TABLE
        if not metric.on_request
        or any(metric.name in run.figures and goodput.asked(run.figures[metric.name]) for run in known)
    )


def metric(name: str) -> Metric:
    """The metric of that name; an unknown one is refused."""
    if name not in METRICS:
        raise UsageError(f"no metric is called {name!r}", remedy=f"choose from {', '.join(METRICS)}")
    return METRICS[name]
