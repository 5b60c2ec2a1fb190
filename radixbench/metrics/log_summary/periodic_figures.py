"""The figures of a vLLM log: rates times intervals, its own hit-rate windows, and no cached tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from radixbench.metrics.log_summary.engine import Engine, Flow
from radixbench.metrics.log_summary.figures import mean, peaks_of, pressure_of
from radixbench.metrics.log_summary.kept import Kept
from radixbench.metrics.log_summary.model import (
    DecodeFigures,
    PrefillFigures,
    Pressure,
    RankFigures,
    RequestFigures,
    ServerWindow,
    Throughput,
)
from radixbench.metrics.log_summary.reading import Figures
from radixbench.metrics.log_summary.speculation import Speculation
from radixbench.metrics.log_summary.speed import Joint, Turn, joint_basis, joint_rate, length, spans_of
from radixbench.metrics.log_summary.sums import Sums, plus, read_sums, sums_of
from radixbench.metrics.log_summary.version import Version
from radixbench.metrics.log_summary.windows import Lane

NO_TOKENS = "vLLM's periodic lines print no cached tokens: the hit rate they print is the server's own"
NO_BATCHES = "vLLM prints a line each interval, none for a batch"
NO_REQUESTS = "vLLM prints no line about a finished request"

COUNTS_CACHED_UNTIL: Version = (0, 13, 0)
COUNTS_COMPUTED_FROM: Version = (0, 16, 0)


def periodic_figures(kept: Kept) -> Figures:
    """Everything that the log's periodic lines come to."""
    engines = kept.vllm.engines()
    drafting = kept.vllm.drafting()
    version = kept.server.version
    v0 = any(engine.v0 for engine in kept.vllm.all())
    ranks = tuple(
        RankFigures(
            rank=_name(engine),
            counted=True,
            prefill=PrefillFigures(reason=NO_TOKENS),
            decode=_decode([engine], [engine]),
            throughput=_throughput([engine], version, v0=v0),
            pressure=_pressure([engine], None),
        )
        for engine in engines
    )
    return Figures(
        role="unified",
        prefill=PrefillFigures(reason=NO_TOKENS),
        decode=_decode(engines, drafting),
        requests=RequestFigures(reason=NO_REQUESTS),
        throughput=_throughput(engines, version, v0=v0),
        pressure=_pressure(engines, kept.server.pool_tokens),
        ranks=ranks,
        lanes=tuple(_lane(engine) for engine in engines),
        main_pool=_main_pool(engines),
        server_windows=tuple(_windows(engines)),
    )


def _lane(engine: Engine) -> Lane:
    interval = engine.flow().interval_s
    return Lane(engine.course, sums_of, interval or 1.0, interval or 0.0, engine.rank.source)


def _name(engine: Engine) -> str:
    rank = engine.rank
    if rank.dp is None:
        return rank.label
    return f"{rank.source} engine {rank.dp}".strip()


def _windows(engines: Sequence[Engine]) -> list[ServerWindow]:
    """Each engine's own, told apart by its name where there are several."""
    return [
        replace(window, what=f"{window.what}, {_name(engine)}") if len(engines) > 1 else window
        for engine in engines
        for window in engine.server_windows()
    ]


def _whole(engines: Sequence[Engine]) -> Sums:
    whole = read_sums(Sums())
    for engine in engines:
        whole = plus(whole, read_sums(engine.course.sums))
    return sums_of(whole)


def _decode(engines: Sequence[Engine], drafting: Sequence[Engine]) -> DecodeFigures:
    sums, peaks = _whole(engines), peaks_of([engine.course for engine in engines])
    speculation = Speculation()
    for engine in drafting:
        speculation.merge(engine.speculation)
    return DecodeFigures(
        running_mean=mean(sums.running, sums.running_lines),
        running_max=peaks.running if sums.running_lines else None,
        accept_len=speculation.accept_len,
        accept_rate=speculation.accept_rate,
        idle_lines=sum(engine.idle_lines for engine in engines),
        reason=NO_BATCHES,
    )


def _pressure(engines: Sequence[Engine], pool_tokens: int | None) -> Pressure:
    peaks = peaks_of([engine.course for engine in engines])
    return pressure_of(_whole(engines), peaks, _main_pool(engines), pool_tokens)


def _main_pool(engines: Sequence[Engine]) -> str:
    return engines[0].main_pool if engines else "gpu"


def _throughput(engines: Sequence[Engine], version: Version | None, *, v0: bool) -> Throughput:
    """Each engine's tokens over its own time, weighted with its share of the time in which any engine worked."""
    flows = [engine.flow() for engine in engines]
    seconds = max((flow.seconds for flow in flows), default=0.0)
    if seconds <= 0:
        return Throughput(reason="no line tells of any work")
    intervals = [flow.interval_s for flow in flows if flow.interval_s is not None]
    spans = [spans_of(engine.course.worked(max(intervals, default=0.0))) for engine in engines]
    parts = list(zip(flows, spans, strict=True))
    prompt = joint_rate([Turn(flow.prompt_tokens, flow.seconds, own) for flow, own in parts])
    output = joint_rate([Turn(flow.output_tokens, flow.seconds, own) for flow, own in parts])
    prompt_rate = 0.0 if prompt is None else prompt.rate
    counts_cached = v0 or (version is not None and version <= (*COUNTS_CACHED_UNTIL[:2], 99))
    counts_computed = version is not None and version >= COUNTS_COMPUTED_FROM
    reason = None
    if not (counts_cached or counts_computed):
        reason = (
            f"Avg prompt throughput ({prompt_rate:,.1f} token/s over the same time) counts cached tokens up to 0.13 and only "
            "computed ones from 0.16, and the log doesn't name its version"
        )
    if sum(flow.seconds > 0 for flow in flows) > 1:
        seconds = max(seconds, length(span for own in spans for span in own))
    return Throughput(
        input=prompt_rate if counts_cached else None,
        computed=prompt_rate if counts_computed else None,
        output=0.0 if output is None else output.rate,
        busy_s=seconds if intervals else None,
        basis=_basis(flows, output or prompt, timed=bool(intervals)),
        reason=reason,
    )


def _basis(flows: Sequence[Flow], joint: Joint | None, *, timed: bool) -> str:
    several = joint is not None and sum(flow.seconds > 0 for flow in flows) > 1
    together = f"; {joint_basis(joint, 'engines')}" if joint is not None and several else ""
    if not timed:
        return f"printed rates over equal intervals (the lines have no time), idle lines left out{together}"
    interval = max(flow.interval_s or 0.0 for flow in flows)
    seconds = sum(flow.seconds for flow in flows)
    return (
        f"printed rates x the interval they cover ({interval:g} s, or the gap where it is shorter), "
        f"{seconds:,.0f} s in all; idle lines left out{together}"
    )
