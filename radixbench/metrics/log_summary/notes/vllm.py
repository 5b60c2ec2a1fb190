"""What vLLM's periodic lines mean."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.metrics.log_summary.model import Note
from radixbench.metrics.log_summary.notes.words import percent, several
from radixbench.metrics.log_summary.periodic_figures import COUNTS_COMPUTED_FROM
from radixbench.metrics.log_summary.reading import Reading

_FULL = 0.99
_MENDED = (0, 11, 1)
_LEAST_LINES = 3


def vllm_notes(reading: Reading) -> Iterator[Note]:
    """Notes on vLLM's own hit rate and prompt throughput."""
    if reading.dialect != "vllm":
        return
    yield from _window(reading)
    yield from _prompt_throughput(reading)
    yield from _preempted(reading)
    yield from _aggregated(reading)


def _window(reading: Reading) -> Iterator[Note]:
    shown = reading.figures.server_windows
    if not shown:
        return
    yield Note("server-window", _choice(reading))
    busy = sum(engine.lines - engine.idle_lines for engine in reading.kept.vllm.engines())
    if busy >= _LEAST_LINES and all(window.high == 0.0 for window in shown):
        yield Note(
            "never-hit",
            "The server's hit rate never rose above 0 %: prompts share no prefix, caching is off, or the prompts are shorter than one block (16 tokens by default), "
            "which are never cached.",
        )


def _is_v0(reading: Reading) -> bool:
    return any(engine.v0 for engine in reading.kept.vllm.all())


def _choice(reading: Reading) -> str:
    """What the server's own rate counts."""
    tail = "reset by reset_prefix_cache: shown as printed, it is no rate of this log or of one run. Idle lines repeat the last one."
    if _is_v0(reading):
        return f"vLLM's engine V0 prints a hit rate counted since the server's start, {tail}"
    starts = reading.kept.starts.values()
    if starts and not any(one.restarts for one in starts):
        whole = " This log has the server's start: until its 1000th request that is all of them."
    else:
        whole = ""
    return f"vLLM prints the hit rate of its last 1000 requests, {tail}{whole}"


def _prompt_throughput(reading: Reading) -> Iterator[Note]:
    version = reading.kept.server.version
    if _is_v0(reading):
        told = "the engine V0 counts all prompt tokens, cached ones too; from 0.16 on only computed ones are counted"
    elif version is None:
        told = "up to 0.13 it counts all prompt tokens, cached ones too, from 0.16 only computed ones, and the log doesn't name its version"
    elif version >= COUNTS_COMPUTED_FROM:
        told = "this version counts only computed prompt tokens; up to 0.13 cached ones are counted too"
    elif version <= (0, 13, 99):
        told = "this version counts all prompt tokens, cached ones too; from 0.16 on only computed ones are counted"
    else:
        told = "it changed its meaning between 0.13 (all prompt tokens) and 0.16 (computed ones only), just around this version"
    yield Note(
        "prompt-throughput-meaning", f"Avg prompt throughput: {told}. Don't compare it across versions."
    )


def _preempted(reading: Reading) -> Iterator[Note]:
    """vllm-project/vllm#25780, mended by #25787."""
    version = reading.kept.server.version
    if _is_v0(reading) or (version is not None and version >= _MENDED):
        return
    log = reading.kept.vllm
    preemptions = log.preempt_events + sum(engine.preemptions for engine in log.engines())
    usage = reading.figures.pressure.pools.get(reading.figures.main_pool, 0.0)
    if not reading.figures.server_windows or not (preemptions or usage >= _FULL):
        return
    seen = several(preemptions, "preemption") if preemptions else f"the KV cache {percent(usage)} full"
    yield Note(
        "preemption-inflates",
        f"The log shows {seen}: up to 0.11 vLLM counts a preempted request's own blocks as hits when it comes back, so its hit rate may be far too high.",
    )


def _aggregated(reading: Reading) -> Iterator[Note]:
    lines = reading.kept.vllm.aggregated_lines
    if not lines:
        return
    engines = reading.kept.vllm.engines()
    own = any(engine.lines for engine in engines) and not any(
        engine in reading.kept.vllm.aggregates() for engine in engines
    )
    told = (
        "not added to those of single engines"
        if own
        else "the only ones with figures: per-engine rates are unknown"
    )
    yield Note("aggregated-lines", f"{several(lines, 'line')} over several engines together, {told}.")
