"""Figures of four logs, made by hand: everything a view can meet is in one of them."""

from __future__ import annotations

from collections import Counter

from radixbench.logs.record import LineCounts
from radixbench.metrics.log_summary.model import (
    Concurrency,
    DecodeFigures,
    Event,
    LogSummary,
    Note,
    Phase,
    PrefillFigures,
    Pressure,
    Quantiles,
    RankFigures,
    RequestFigures,
    ServerWindow,
    Throughput,
    UncachedPart,
    Window,
)

_DAY = 20_000 * 86_400.0
_START = _DAY + 9 * 3600 + 5 * 60
_WIDTH = 10.0
_N = 26


def clock(at_s: float) -> str:
    """A moment of the made-up day."""
    whole = int(at_s - _DAY)
    return f"2026-08-23 {whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def lines(dialect: str, events: dict[str, int] | None = None, **kinds: int) -> LineCounts:
    """So many physical lines of each kind."""
    happened = Counter(events or {})
    records = sum(n for kind, n in kinds.items() if kind not in {"other", "malformed"}) + sum(
        happened.values()
    )
    return LineCounts(sum(kinds.values()), Counter(kinds), happened, Counter({dialect: records}))


def _sglang_window(place: int) -> Window:
    start = _START + place * _WIDTH
    flushed = place == 14
    warm = (place if place < 14 else place - 14) / 10
    new = round(9000 - 6000 * min(warm, 1.0)) + 37 * place % 400
    cached = round(8500 * min(warm, 1.0))
    retracted = place in {9, 10, 22}
    return Window(
        start_s=start,
        length_s=_WIDTH,
        label=clock(start),
        prefill_batches=6 + place % 3,
        new_tokens=new,
        cached_tokens=cached,
        hit_rate=cached / (cached + new),
        decode_batches=4,
        output_throughput=(output := 900.0 + 31 * (place % 7)),
        output_tokens=output * 8,
        output_s=8.0,
        running_max=4 + place % 9,
        queue_max=12 if retracted else place % 4,
        usage_max=0.99 if retracted else 0.4 + place / 100,
        pools={"token": 0.99 if retracted else round(0.4 + place / 100, 2), "swa": 0.31},
        events={"flush": 1} if flushed else {"retract": 2} if retracted else {},
    )


def sglang() -> LogSummary:
    """A busy server of two data-parallel ranks: a flush, retractions, rounded pages, request lines."""
    windows = tuple(_sglang_window(place) for place in range(_N))
    new, cached = sum(w.new_tokens for w in windows), sum(w.cached_tokens for w in windows)
    batches = sum(w.prefill_batches for w in windows)
    end = _START + _N * _WIDTH
    pressure = Pressure(
        queue_mean=2.31,
        queue_max=12,
        queued_share=0.61,
        pending_tokens_max=46_401,
        pools={"token": 0.99, "swa": 0.31},
        full_share=0.031,
        retract_events=6,
        retracted_requests=7,
        pool_tokens=65_536,
    )
    return LogSummary(
        file="logs/prod/server.log",
        dialect="sglang",
        lines=lines(
            "sglang",
            {"retract": 6, "flush": 1, "ready": 1},
            prefill=batches,
            decode=104,
            other=11_922,
            malformed=3,
        ),
        first=clock(_START),
        last=clock(end),
        span_s=end - _START,
        role="unified",
        prefill=PrefillFigures(
            batches=batches,
            new_seq=412,
            new_tokens=new,
            cached_tokens=cached,
            hit_rate=cached / (cached + new),
            hit_rate_bound="lower",
            hit_rate_upper=0.50001,
            prompts=380,
            continuations=25,
            readmissions=7,
            largest_batch_tokens=8192,
        ),
        decode=DecodeFigures(
            batches=104,
            running_mean=7.31,
            running_max=12,
            graph_share=0.9996,
            accept_len=2.51,
            accept_rate=0.86,
            idle_lines=2,
            left_out={"first of a rank": 1, "after an idle gap": 1},
        ),
        requests=RequestFigures(
            n=64,
            prompt_tokens=204_800,
            cached_tokens=122_884,
            output_tokens=16_384,
            hit_rate=122_884 / 204_800,
            known_prompt_tokens=204_800,
            ttft=Quantiles(64, 0.0483, 1.36),
            e2e=Quantiles(64, 2.41, 7.9),
            queue=Quantiles(64, 0.0031, 0.9),
        ),
        throughput=Throughput(
            input=2512.4,
            computed=1103.2,
            output=987.1,
            busy_s=131.4,
            idle_after_s=12.0,
            basis="Prefill tokens over the time between prefill lines; the lines' times have a resolution of 1 s.",
        ),
        pressure=pressure,
        server={
            "page_size": 64,
            "disable_radix_cache": False,
            "chunked_prefill_size": 8192,
            "schedule_policy": "lpm",
            "mem_fraction_static": 0.88,
        },
        ranks=_ranks(new, cached, batches, pressure),
        windows=windows,
        phases=_phases(windows),
        time_shares={"start-up": 45.0, "busy": 260.0, "idle": 0.0},
        concurrency=(
            Concurrency(2, 8_425, 27_500, 27_500 / 35_925),
            Concurrency(4, 40_000, 50_000, 50_000 / 90_000),
            Concurrency(16, 100_000, 50_000, 1 / 3),
        ),
        events=_events(),
        uncached=(
            UncachedPart("empty-cache", 8_425, "the cache was empty: after the start and after 1 flush"),
            UncachedPart("behind-the-hit", 40_000, "the rest of prompts that reused something"),
            UncachedPart(
                "untold", new - 48_425, "lines of several prompts: which of them reused what isn't told"
            ),
        ),
        quote="requests",
        quote_reason="batch lines are rounded to pages",
        notes=(
            Note(
                "page-rounding",
                "New tokens are rounded up to pages of 64: the true hit rate can only be higher.",
            ),
            Note("retractions", "7 requests were sent back to the queue and computed again: a pool ran out."),
            Note("health-checks", "3 of 182 prefill lines look like health checks (1 new token): 1.6 %."),
        ),
    )


def _ranks(new: int, cached: int, batches: int, pressure: Pressure) -> tuple[RankFigures, ...]:
    half_new, half_cached = new // 3, cached // 2
    return (
        _rank("DP0", half_new, half_cached, batches // 2, pressure),
        _rank("DP1", new - half_new, cached - half_cached, batches - batches // 2, Pressure(queue_max=3)),
        RankFigures("DP1 TP1", False, PrefillFigures(batches=12), DecodeFigures(), Throughput(), Pressure()),
    )


def _rank(name: str, new: int, cached: int, batches: int, pressure: Pressure) -> RankFigures:
    prefill = PrefillFigures(
        batches=batches, new_tokens=new, cached_tokens=cached, hit_rate=cached / (cached + new)
    )
    return RankFigures(name, True, prefill, DecodeFigures(batches=52), Throughput(output=493.5), pressure)


def _phases(windows: tuple[Window, ...]) -> tuple[Phase, ...]:
    def busy(first: int, last: int, opened_by: str | None) -> Phase:
        part = windows[first:last]
        new, cached = sum(w.new_tokens for w in part), sum(w.cached_tokens for w in part)
        return Phase(
            "busy",
            part[0].start_s,
            part[-1].start_s + _WIDTH,
            part[0].label,
            sum(w.prefill_batches for w in part),
            sum(w.decode_batches for w in part),
            new,
            cached,
            cached / (cached + new),
            opened_by,
        )

    start = _START - 45
    return (
        Phase("start-up", start, _START, clock(start)),
        busy(0, 14, None),
        busy(14, _N, "flush"),
    )


def _events() -> tuple[Event, ...]:
    found = [Event(52, _START - 2, clock(_START - 2), "ready", "The server is fired up and ready to roll!")]
    for place in (9, 10, 22):
        at_s = _START + place * _WIDTH + 3
        for again in range(2):
            text = "KV cache pool is full. Retract requests. #retracted_reqs: 1, #new_token_ratio: 0.2000 -> 0.4500"
            found.append(Event(900 * place + again, at_s, clock(at_s), "retract", text))
    at_s = _START + 14 * _WIDTH
    found.append(Event(12_700, at_s, clock(at_s), "flush", "Cache flushed successfully!"))
    return tuple(sorted(found, key=lambda event: event.line_no))


def vllm() -> LogSummary:
    """Periodic lines: rates over windows of the server's own choice, and no token counts."""
    start = _DAY + 23 * 3600 + 43 * 60
    rates = (None, 0.0, 0.123, 0.481, 0.812, 0.794)
    windows = tuple(
        Window(
            start_s=start + 10 * place,
            length_s=10.0,
            label=clock(start + 10 * place),
            running_max=8,
            queue_max=place,
            usage_max=round(0.1 * place, 3),
            pools={"gpu": round(0.1 * place, 3)},
            output_throughput=412.5 + place,
            server_hit_rate=rate,
        )
        for place, rate in enumerate(rates)
    )
    return LogSummary(
        file="vllm.log",
        dialect="vllm",
        lines=lines("vllm", stats=6, spec=2, other=40),
        first=clock(start),
        last=clock(start + 60),
        span_s=60.0,
        role="unified",
        prefill=PrefillFigures(reason="vLLM prints rates over windows of its own, and no token counts"),
        decode=DecodeFigures(running_mean=8.0, running_max=8, accept_len=2.5, accept_rate=0.7),
        requests=RequestFigures(
            reason="no line about a single request: start the server with --enable-log-requests"
        ),
        throughput=Throughput(
            output=415.0,
            basis="Printed rates times the time that each covers.",
            reason="prompt rates changed their meaning with 0.16",
        ),
        pressure=Pressure(queue_mean=2.5, queue_max=5, pools={"gpu": 0.5}, pool_tokens=12_345),
        server_windows=(
            ServerWindow("prefix cache hit rate over the last 1000 requests", 0.794, 0.0, 0.812),
        ),
        windows=windows,
        notes=(
            Note("server-window", "The printed hit rate is over the last 1,000 requests, not over this log."),
        ),
    )


def llamacpp() -> LogSummary:
    """Timings of single requests without a clock: a hit rate from prompts, no windows."""
    return LogSummary(
        file="standard input",
        dialect="llamacpp",
        lines=lines("llamacpp", prompt_eval=12, eval=12, total=12, cached=12, other=310),
        first=None,
        last=None,
        span_s=None,
        role="unified",
        prefill=PrefillFigures(reason="llama.cpp prints no batches"),
        decode=DecodeFigures(reason="llama.cpp prints no batches"),
        requests=RequestFigures(
            n=12,
            prompt_tokens=100_000,
            cached_tokens=99_997,
            output_tokens=1536,
            hit_rate=0.99997,
            known_prompt_tokens=100_000,
            prefill=Quantiles(12, 0.0123, 0.181),
            decode=Quantiles(12, 1.21, 1.3),
        ),
        throughput=Throughput(computed=812.4, output=104.2, basis="From each request's own timings."),
        pressure=Pressure(),
        notes=(Note("no-clock", "The lines carry no time: there is no table over time."),),
    )


def unknown() -> LogSummary:
    """A prefill server that prints no prefill lines, with words that try to command a terminal."""
    start = _START
    windows = tuple(
        Window(
            start_s=start + 10 * place,
            length_s=10.0,
            label=clock(start + 10 * place),
            decode_batches=3,
            output_throughput=100.0 * place if place else None,
            running_max=place,
            queue_max=0,
            events={"restart": 1} if place == 2 else {},
        )
        for place in (0, 1, 2, 7, 8)
    )
    return LogSummary(
        file="dec\x1b[31mode.log",
        dialect="sglang",
        lines=lines("sglang", {"restart": 1}, decode=15, other=6),
        first=clock(start),
        last=clock(start + 90),
        span_s=90.0,
        role="decode",
        prefill=PrefillFigures(reason="no prefill lines"),
        decode=DecodeFigures(batches=15, running_mean=3.2, running_max=8),
        requests=RequestFigures(reason="no line about a single request"),
        throughput=Throughput(output=250.0, reason="no prefill lines"),
        pressure=Pressure(queue_mean=0.0, queue_max=0),
        server={"model_path": "x\x1b]0;pwned\x07/y", "served": "<script>alert(1)</script>"},
        windows=windows,
        events=(Event(9, start + 20, clock(start + 20), "restart", "the server \x1b[2Jstarted <b>anew</b>"),),
        notes=(Note("no-prefill-lines", "Cached tokens are unknown\x07: the log has no prefill line."),),
    )


ALL = {"sglang": sglang, "vllm": vllm, "llamacpp": llamacpp, "unknown": unknown}
