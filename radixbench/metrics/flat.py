"""The flat keys that scripts around vLLM's and SGLang's tools read, of one run and pooled over a cell's runs.

The names are theirs, the definitions this registry's. Times are in ms, lists in s. TTFT, E2EL (``e2el`` and
``e2e_latency`` alike) and ``duration`` begin when a request was due, queueing in the client included. TPOT and ITL are
those of the registry: an answer of one token has no TPOT, an event of k tokens closes k gaps. ``std`` divides by n, as
theirs does. ``completed`` requests brought tokens, ``failed`` are all others. Input tokens count cached ones too.
Pooled, quantiles are of all requests of the runs together, rates are sums over summed durations. What is unknown is
``None``, where those tools write 0.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from radixbench.capture.model import Run
from radixbench.metrics import latency
from radixbench.metrics.answers import Answers, prompt_length, sort_out
from radixbench.metrics.cache import reported_cached
from radixbench.metrics.goodput import MS_PER_S, good_requests
from radixbench.metrics.throughput import window
from radixbench.records import RequestRecord
from radixbench.scenario.defaults import MAX_CONCURRENCY
from radixbench.scenario.model import Scenario
from radixbench.stats.sample import Absent
from radixbench.units import NS_PER_S

PERCENTILES = (50, 90, 95, 99)
_YEAR_10000 = 253_402_300_800

Flat = dict[str, Any]


def flat_run(run: Run, scenario: Scenario, *, detail: bool = False) -> Flat:
    """The keys of one run; ``detail`` adds the lists with a value for each request."""
    answers = sort_out(run, scenario.goodput)
    flat: Flat = {
        **_setting(run, scenario),
        "seed": run.seed,
        "mode": run.mode,
        "order": run.order,
        "num_prompts": run.requested,
        **_totals([answers]),
        **_latencies([answers]),
    }
    return {**flat, **_lists(run, answers)} if detail else flat


def flat_cell(runs: Sequence[Run], scenario: Scenario) -> Flat:
    """The same keys pooled over the runs (at least one) of one cell and arm; ``n_runs`` in place of the seed."""
    answers = [sort_out(run, scenario.goodput) for run in runs]
    return {
        **_setting(runs[0], scenario),
        "n_runs": len(runs),
        "mode": "/".join(sorted({run.mode for run in runs})),
        "num_prompts": sum(run.requested for run in runs),
        **_totals(answers),
        **_latencies(answers),
    }


def _setting(run: Run, scenario: Scenario) -> Flat:
    """What was measured, under their names: a closed loop has the rate ``inf`` and a cap on concurrency."""
    load = scenario.load
    closed = load.arrival == "closed"
    rate = "inf" if closed else "trace" if load.arrival == "trace" else load.request_rate
    cap = MAX_CONCURRENCY if closed and load.max_concurrency is None else load.max_concurrency
    return {
        **run.cell,
        "date": _date(run.clock_anchor.wall_at(run.start_ns) // NS_PER_S),
        "backend": run.server.engine,
        "endpoint_type": scenario.target.endpoint,
        "label": scenario.name,
        "model_id": run.server.model,
        "request_rate": run.cell.get("request_rate", rate),
        "burstiness": load.burstiness,
        "max_concurrency": run.cell.get("max_concurrency", cap),
    }


def _date(wall_s: int) -> str | None:
    """In UTC, as their file names have it; ``None`` for a moment that no calendar has."""
    if not 0 <= wall_s < _YEAR_10000:
        return None
    return datetime.fromtimestamp(wall_s, UTC).strftime("%Y%m%d-%H%M%S")


def _totals(parts: Sequence[Answers]) -> Flat:
    lengths = [window(part) for part in parts]
    known = [length for length in lengths if not isinstance(length, Absent)]
    duration = sum(known) if len(known) == len(lengths) else None
    done = sum(len(part.timed) for part in parts)
    given = sum(prompt_length(one) for part in parts for one in part.counted)
    made = _sum(one.output_tokens for part in parts for one in part.timed)
    cached = _cached(parts)
    good = [good_requests(part) for part in parts]
    within = (
        None
        if any(isinstance(one, Absent) for one in good)
        else sum(one for one in good if isinstance(one, int))
    )
    busy = sum(latency.e2e(one) for part in parts for one in part.timed)

    def rate(total: float | None) -> float | None:
        return None if total is None or duration is None else total / duration

    whole = None if made is None else given + made
    return {
        "duration": duration,
        "completed": done,
        "failed": sum(part.run.requested for part in parts) - done,
        "total_input_tokens": given,
        "total_output_tokens": made,
        "total_cached_tokens": cached,
        "hit_rate": None if cached is None or not given else cached / given,
        "request_throughput": rate(done),
        "request_goodput": rate(within),
        "input_throughput": rate(given),
        "output_throughput": rate(made),
        "total_token_throughput": rate(whole),
        "total_throughput": rate(whole),
        "concurrency": rate(busy),
    }


def _latencies(parts: Sequence[Answers]) -> Flat:
    flat: Flat = {}
    for names, values in (
        (("ttft",), _pooled(parts, latency.ttft)),
        (("tpot",), _pooled(parts, latency.tpot)),
        (("itl",), _gaps(parts)),
        (("e2el", "e2e_latency"), _pooled(parts, latency.e2e)),
    ):
        spread = _spread(values)
        for name in names:
            flat |= {f"{figure}_{name}_ms": value for figure, value in spread.items()}
    return flat


def _pooled(parts: Sequence[Answers], figure: Callable[[RequestRecord], float | None]) -> array[float]:
    return array("d", (value for part in parts for one in part.timed if (value := figure(one)) is not None))


def _gaps(parts: Sequence[Answers]) -> array[float]:
    """None at all where one run's spacing is unknown: a pool without it would be of other requests."""
    if any(latency.spacing_unknown(part) for part in parts):
        return array("d")
    return array("d", (gap for part in parts for one in part.timed for gap in latency.itl(one)))


def _spread(values: array[float]) -> dict[str, float | None]:
    names = ("mean", "median", "std", "max", *(f"p{percent}" for percent in PERCENTILES))
    if not values:
        return dict.fromkeys(names)
    ms = np.asarray(values, dtype=np.float64) * MS_PER_S
    figures = (ms.mean(), np.median(ms), ms.std(), ms.max(), *np.percentile(ms, PERCENTILES))
    return {name: float(figure) for name, figure in zip(names, figures, strict=True)}


def _cached(parts: Sequence[Answers]) -> int | None:
    told = [reported_cached(part) for part in parts]
    if any(isinstance(one, Absent) for one in told):
        return None
    return sum(sum(one) for one in told if not isinstance(one, Absent))


def _sum(values: Iterable[int | None]) -> int | None:
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def _lists(run: Run, answers: Answers) -> Flat:
    """A value for each request in the order of the run; one that doesn't count has ``None``, and no gaps."""
    timed = {id(one) for one in answers.timed}
    requests = run.requests
    return {
        "start_times": [(one.send_ns - run.start_ns) / NS_PER_S for one in requests],
        "input_lens": [prompt_length(one) for one in requests],
        "output_lens": [one.output_tokens for one in requests],
        "cached_tokens": [one.cached_tokens for one in requests],
        "ttfts": [latency.ttft(one) if id(one) in timed else None for one in requests],
        "itls": [latency.itl(one) if id(one) in timed else [] for one in requests],
        "errors": [one.error or "" for one in requests],
    }
