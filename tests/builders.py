"""Synthetic captures: real records with chosen times, tokens and clocks, nothing measured.

``make_sweep`` gives the two captures of one small sweep, back to back and alternating, whose TTFTs,
cached tokens and clocks the caller chooses per arm and seed; everything else is plausible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from radixbench.capture.model import Capture, Environment, ProtocolRecord, Run, ServerRecord
from radixbench.capture.prompt_tree import build_prompt_tree
from radixbench.clock import ClockAnchor
from radixbench.records import DeviceInfo, GpuSample, Mode, RequestRecord, TelemetryInfo
from radixbench.scenario.model import Scenario
from radixbench.units import NS_PER_S

RUN_S = 100
IDENTITY: dict[str, Any] = {
    "weights_sha256": "w" * 64,
    "tokenizer_sha256": "t" * 64,
    "dtype": "float32",
    "device": "cpu",
    "random_weights": True,
}


def ns(seconds: float) -> int:
    """Seconds as whole nanoseconds."""
    return round(seconds * NS_PER_S)


def make_request(
    prompt: int = 0,
    *,
    send_s: float = 0.0,
    ttft_s: float = 0.1,
    gap_s: float = 0.01,
    output: int = 4,
    chunk: int = 1,
    prompt_tokens: int = 32,
    cached: int | None = 0,
    **overrides: Any,
) -> RequestRecord:
    """One answered request: ``output`` tokens in events of ``chunk``, ``gap_s`` from event to event."""
    sizes = [min(chunk, output - first) for first in range(0, output, chunk)]
    stamps = [ns(send_s + ttft_s + i * gap_s) for i in range(len(sizes))]
    facts: dict[str, Any] = {
        "rid": f"r{prompt}",
        "prompt": prompt,
        "conversation": prompt,
        "turn": 0,
        "group": 0,
        "requested_tokens": output,
        "sent_prompt_tokens": prompt_tokens,
        "due_ns": ns(send_s),
        "send_ns": ns(send_s),
        "end_ns": stamps[-1] if stamps else ns(send_s + ttft_s),
        "status": "completed",
        "chunk_ns": tuple(stamps),
        "chunk_tokens": tuple(sizes),
        "prompt_tokens": prompt_tokens,
        "output_tokens": output,
        "output_source": "usage",
        "cached_tokens": cached,
        "output_ids": tuple(range(output)),
        "finish_reason": "length",
    }
    return RequestRecord(**(facts | overrides))


def failed_request(prompt: int, *, send_s: float = 0.0) -> RequestRecord:
    """A request that broke off without a token."""
    return make_request(
        prompt,
        send_s=send_s,
        output=0,
        cached=None,
        prompt_tokens=32,
        requested_tokens=4,
        status="failed",
        error="connection lost",
        output_tokens=None,
        output_source=None,
        output_ids=None,
        finish_reason=None,
    )


def prompt_ids(seed: int, prompt: int, *, shared: int, question: int) -> tuple[int, ...]:
    """A prompt of ``shared`` tokens that all prompts of the seed begin with, then its own."""
    own = 1000 * (1 + prompt) + 100_000 * (1 + seed)
    return (*range(10 + 100_000 * seed, 10 + 100_000 * seed + shared), *range(own, own + question))


def make_run(
    requests: Sequence[RequestRecord],
    *,
    seed: int = 0,
    cell: Mapping[str, int | str] | None = None,
    mode: Mode = "on",
    order: int = 0,
    prompts: Sequence[Sequence[int] | None] | None = None,
    held: Sequence[Sequence[int]] = (),
    gpu: Sequence[GpuSample] = (),
    devices: Sequence[DeviceInfo] = (),
    identity: Mapping[str, Any] | None = None,
    args: Mapping[str, Any] | None = None,
    declared: str | None = None,
    probe: int | None = 0,
    **overrides: Any,
) -> Run:
    """A run over these requests; ``prompts`` are the token ids by prompt number, 32 own ones by default.

    ``held`` are sequences that were cached beforehand.
    """
    count = 1 + max((request.prompt for request in requests), default=-1)
    if prompts is None:
        prompts = [prompt_ids(seed, prompt, shared=0, question=32) for prompt in range(count)]
    outputs: list[tuple[int, ...] | None] = [None] * len(prompts)
    for request in requests:
        outputs[request.prompt] = request.output_ids
    start = order * RUN_S * NS_PER_S
    facts: dict[str, Any] = {
        "cell": {"shared_tokens": 0} if cell is None else dict(cell),
        "seed": seed,
        "mode": mode,
        "order": order,
        "status": "completed",
        "error": None,
        "clock_anchor": ClockAnchor(monotonic_ns=0, wall_ns=start),
        "start_ns": 0,
        "end_ns": (RUN_S - 1) * NS_PER_S,
        "workload_digest": f"{seed}{cell}",
        "requested": len(requests),
        "server": ServerRecord(
            engine="bundled",
            version="0.1",
            pid=1,
            base_url="http://127.0.0.1:1",
            model="tiny",
            args={"page_size": 1} | dict(args or {}),
            identity=IDENTITY | dict(identity or {}),
        ),
        "protocol": ProtocolRecord(
            declared=declared or ("off" if mode == "off" else "cold"),  # type: ignore[arg-type]  # any state
            verified=True,
            warmup_requests=2,
            flush_attempts=1,
            flush_status=200,
            flush_body="Cache flushed.",
            probe_cached_tokens=probe,
            evidence="a probe found 0 cached tokens",
        ),
        "telemetry": TelemetryInfo(
            probe="scripted",
            interval_ns=200_000_000,
            ticks=len(gpu),
            missed_ticks=0,
            failed_reads=0,
            read_ns_mean=None,
            devices=tuple(devices),
        ),
        "prompts": build_prompt_tree(prompts, outputs, held),
        "requests": tuple(requests),
        "gpu": tuple(gpu),
    }
    return Run(**(facts | overrides))


def make_capture(runs: Sequence[Run], *, planned_runs: int | None = None, **overrides: Any) -> Capture:
    """A capture of these runs on a machine without a GPU."""
    facts: dict[str, Any] = {
        "scenario": Scenario(name="test"),
        "environment": Environment(
            radixbench="0.1",
            python="3.11",
            platform="linux",
            cpu="EPYC",
            cores=2,
            memory_bytes=2**33,
            gpus=(),
            driver=None,
            packages={"torch": "2.13.0"},
            variables={},
            host_id="host",
            argv=("radixbench", "sweep"),
        ),
        "created_wall_ns": 0,
        "planned_runs": len(runs) if planned_runs is None else planned_runs,
        "runs": tuple(runs),
    }
    return Capture(**(facts | overrides))


def gpu_samples(
    *,
    clock: int = 1900,
    reasons: int = 0,
    temperature: int = 50,
    seconds: float = 2.0,
    step_s: float = 0.1,
    device: int = 0,
) -> tuple[GpuSample, ...]:
    """Even readings of one card from 0.5 s before the run's first send on."""
    return tuple(
        GpuSample(
            at_ns=ns(-0.5 + i * step_s),
            device=device,
            sm_clock_mhz=clock,
            event_reasons=reasons,
            temperature_c=temperature,
            memory_used_bytes=2**30,
        )
        for i in range(round((seconds + 0.5) / step_s))
    )


CARD = DeviceInfo(index=0, name="H200", max_sm_clock_mhz=1980)

Ttft = float | Callable[[int], float]


def arm_run(
    *,
    seed: int,
    mode: Mode,
    order: int,
    ttft_s: float,
    shared: int,
    requests: int = 8,
    hits: bool | None = None,
    **options: Any,
) -> Run:
    """A run of one group: requests one after the other; with the cache on, all but the first hit."""
    hits = mode == "on" if hits is None else hits
    length = shared + 8
    prompts = [prompt_ids(seed, i, shared=shared, question=8) for i in range(requests)]
    records = [
        make_request(
            i,
            send_s=i * (ttft_s + 0.05),
            ttft_s=ttft_s,
            prompt_tokens=length,
            cached=shared if hits and i > 0 else 0,
        )
        for i in range(requests)
    ]
    cell = {"shared_tokens": shared}
    return make_run(records, seed=seed, cell=cell, mode=mode, order=order, prompts=prompts, **options)


def make_sweep(
    *,
    on: Ttft = 0.1,
    off: Ttft = 1.0,
    seeds: int = 3,
    shared: Sequence[int] = (64,),
    on_options: Mapping[str, Any] | None = None,
    off_options: Mapping[str, Any] | None = None,
) -> tuple[Capture, Capture]:
    """Both captures of a sweep: per seed and cell both arms back to back, their order alternating."""
    arms: dict[Mode, list[Run]] = {"on": [], "off": []}
    ttfts: dict[Mode, Ttft] = {"on": on, "off": off}
    options: dict[Mode, Mapping[str, Any]] = {"on": on_options or {}, "off": off_options or {}}
    order = 0
    for seed in range(seeds):
        for length in shared:
            modes: tuple[Mode, Mode] = ("on", "off") if (order // 2) % 2 == 0 else ("off", "on")
            for mode in modes:
                chosen = ttfts[mode]
                ttft_s = chosen(seed) if callable(chosen) else chosen
                arms[mode].append(
                    arm_run(seed=seed, mode=mode, order=order, ttft_s=ttft_s, shared=length, **options[mode])
                )
                order += 1
    return make_capture(arms["on"]), make_capture(arms["off"])
