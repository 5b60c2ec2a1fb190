"""Captures as a sweep leaves them, made by a small closed-loop simulation, and comparisons of them.

One arm's run costs 2 ms a batch, a fixed time per computed token and 3 ms a decode step, so that
caching pays as it does on a real server. Everything follows from the seed; nothing reads a clock.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from radixbench.capture.model import (
    Capture,
    Environment,
    PrefixNode,
    PromptTree,
    ProtocolRecord,
    Run,
    ServerRecord,
)
from radixbench.clock import ClockAnchor
from radixbench.compare.change import Comparison
from radixbench.compare.comparison import compare
from radixbench.records import DeviceInfo, GpuSample, Mode, RequestRecord, StepRecord, TelemetryInfo
from radixbench.scenario.model import ModelSpec, Scenario, WorkloadSpec

MS = 1_000_000
WALL_NS = 1_792_152_060_000_000_000
OUTPUT = 16
CONCURRENCY = 8

Cell = dict[str, int | str]


@dataclass
class Ask:
    """One request to simulate, and what happened to it."""

    prompt: int
    conversation: int
    turn: int
    group: int
    length: int
    shared: int
    send_ns: int = 0
    cached: int = 0
    chunks: list[int] = field(default_factory=list)


@dataclass
class World:
    """A server and its clients within one run."""

    mode: Mode
    now: int
    token_ns: int
    noise: random.Random
    pace: float = 1.0
    seen_groups: set[int] = field(default_factory=set)
    seen_conversations: dict[int, int] = field(default_factory=dict)
    steps: list[StepRecord] = field(default_factory=list)

    def spend(self, ns: float) -> tuple[int, int]:
        start = self.now
        self.now += round(ns * self.pace * self.noise.gauss(1.0, 0.01))
        return start, self.now

    def step(self, phase: str, start: int, end: int, **counts: int) -> None:
        base = {"new_seq": 0, "new_tokens": 0, "cached_tokens": 0, "running_req": 0}
        self.steps.append(
            StepRecord(
                phase="prefill" if phase == "prefill" else "decode",
                step=len(self.steps),
                start_ns=start,
                end_ns=end,
                host_ns=(end - start) // 900,
                queue_req=0,
                pending_tokens=0,
                held_tokens=1000,
                used_slots=1000,
                pool_slots=65_536,
                **(base | counts),
            )
        )

    def cached_for(self, ask: Ask) -> int:
        if self.mode == "off":
            return 0
        shared = ask.shared if ask.group in self.seen_groups else 0
        return min(max(shared, self.seen_conversations.get(ask.conversation, 0)), ask.length - 1)


def play(chains: list[list[Ask]], world: World) -> list[Ask]:
    """Serve every chain of asks, a chain one after the other, ``CONCURRENCY`` chains at a time."""
    todo = [list(chain) for chain in chains]
    busy = todo[:CONCURRENCY]
    todo = todo[CONCURRENCY:]
    waiting = [chain.pop(0) for chain in busy]
    for ask in waiting:
        ask.send_ns = world.now
    running: list[tuple[Ask, list[Ask]]] = []
    chain_of = {id(ask): chain for ask, chain in zip(waiting, busy, strict=True)}
    while waiting or running:
        if waiting:
            _prefill(waiting, world)
            running += [(ask, chain_of[id(ask)]) for ask in waiting]
            waiting = []
            continue
        start, end = world.spend(3 * MS)
        world.step("decode", start, end, running_req=len(running))
        for ask, _ in running:
            ask.chunks.append(end)
        for ask, chain in [pair for pair in running if len(pair[0].chunks) == OUTPUT]:
            world.seen_conversations[ask.conversation] = ask.length + OUTPUT - 1
            following = chain or (todo.pop(0) if todo else None)
            if following:
                new = following.pop(0)
                new.send_ns = end + MS // 5
                chain_of[id(new)] = following
                waiting.append(new)
        running = [pair for pair in running if len(pair[0].chunks) < OUTPUT]
    return [ask for chain in chains for ask in chain]


def _prefill(waiting: list[Ask], world: World) -> None:
    world.now = max(world.now, *(ask.send_ns for ask in waiting))
    for ask in waiting:
        ask.cached = world.cached_for(ask)
    new = sum(ask.length - ask.cached for ask in waiting)
    start, end = world.spend(2 * MS + new * world.token_ns)
    cached = sum(ask.cached for ask in waiting)
    world.step("prefill", start, end, new_seq=len(waiting), new_tokens=new, cached_tokens=cached)
    for ask in waiting:
        ask.chunks.append(end)
        world.seen_groups.add(ask.group)


def shared_prefix_asks(shared: int, rng: random.Random, *, question: int = 32) -> list[list[Ask]]:
    """4 groups of 16 prompts in random order."""
    asks = [Ask(i, i, 0, i // 16, shared + question, shared) for i in range(64)]
    rng.shuffle(asks)
    return [[replace(ask, prompt=place)] for place, ask in enumerate(asks)]


def multi_turn_asks(turns: int, shared: int) -> list[list[Ask]]:
    """16 conversations whose prompt grows by 64 tokens and the answer each turn."""
    return [
        [
            Ask(c * turns + turn, c, turn, c % 4, shared + 64 * (turn + 1) + OUTPUT * turn, shared)
            for turn in range(turns)
        ]
        for c in range(16)
    ]


def tree_of(asks: Iterable[Ask]) -> PromptTree:
    """The prompts as a prefix tree: a group's prefix, then one node for each turn's growth."""
    nodes: list[PrefixNode] = []
    groups: dict[int, int] = {}
    ends: dict[int, tuple[int, int]] = {}
    prompts: dict[int, int] = {}
    sequences: dict[int, int] = {}

    def add(parent: int | None, length: int) -> int:
        nodes.append(PrefixNode(parent, length, f"{len(nodes):064x}"))
        return len(nodes) - 1

    for ask in sorted(asks, key=lambda one: (one.conversation, one.turn)):
        if ask.shared and ask.group not in groups:
            groups[ask.group] = add(None, ask.shared)
        parent, depth = ends.get(ask.conversation, (groups.get(ask.group), ask.shared))
        prompts[ask.prompt] = add(parent, ask.length - depth)
        sequences[ask.prompt] = add(prompts[ask.prompt], OUTPUT)
        ends[ask.conversation] = (sequences[ask.prompt], ask.length + OUTPUT)
    order = range(len(prompts))
    return PromptTree(tuple(nodes), tuple(prompts[i] for i in order), tuple(sequences[i] for i in order))


def record(ask: Ask) -> RequestRecord:
    """What a client writes down of a served ask."""
    return RequestRecord(
        rid=f"r{ask.prompt}",
        prompt=ask.prompt,
        conversation=ask.conversation,
        turn=ask.turn,
        group=ask.group,
        requested_tokens=OUTPUT,
        sent_prompt_tokens=ask.length,
        due_ns=ask.send_ns,
        send_ns=ask.send_ns,
        end_ns=ask.chunks[-1],
        status="completed",
        chunk_ns=tuple(ask.chunks),
        chunk_tokens=(1,) * OUTPUT,
        prompt_tokens=ask.length,
        output_tokens=OUTPUT,
        output_source="usage",
        cached_tokens=ask.cached,
        output_ids=tuple(range(ask.prompt, ask.prompt + OUTPUT)),
        finish_reason="length",
        http_status=200,
    )


def protocol(mode: Mode) -> ProtocolRecord:
    """A protocol that went well."""
    return ProtocolRecord(
        declared="cold" if mode == "on" else "off",
        verified=True,
        warmup_requests=8,
        flush_attempts=1,
        flush_status=200,
        flush_body="Cache flushed.",
        probe_cached_tokens=0,
        evidence="a probe after the flush found 0 cached tokens",
    )


Telemetry = Callable[[int, int, Mode, int], tuple[GpuSample, ...]]


def cpu_samples(start: int, end: int, mode: Mode, seed: int) -> tuple[GpuSample, ...]:
    """A laptop's processor: a clock that wanders and a load of two busy cores."""
    rng = random.Random(f"{start}-{mode}-{seed}")
    return tuple(
        GpuSample(
            at_ns=at, cpu_clock_mhz=2600 + rng.gauss(0, 40), cpu_load_pct=min(100.0, 62 + rng.gauss(0, 6))
        )
        for at in range(start, end, 200 * MS)
    )


def throttling_samples(start: int, end: int, mode: Mode, seed: int) -> tuple[GpuSample, ...]:
    """A card that is held back by power and heat in most of the off arm's time."""
    rng = random.Random(f"{start}-{mode}-{seed}")
    samples = []
    for at in range(start, end, 50 * MS):
        held = mode == "off" and rng.random() < 0.6
        samples.append(
            GpuSample(
                at_ns=at,
                sm_clock_mhz=1290 + rng.randrange(30) if held else 1965 + rng.randrange(15),
                memory_clock_mhz=2619,
                event_reasons=(0x4 | 0x20 if rng.random() < 0.3 else 0x4) if held else 0,
                power_mw=698_000 if held else 520_000 + rng.randrange(60_000),
                temperature_c=84 if held else 66 + rng.randrange(5),
                utilization_pct=98,
                memory_used_bytes=80 * 2**30,
            )
        )
    return tuple(samples)


CPU_INFO = TelemetryInfo(
    probe="cpu",
    interval_ns=200 * MS,
    ticks=400,
    missed_ticks=1,
    failed_reads=0,
    read_ns_mean=90_000,
    note="no GPU was found; CPU frequency and load are recorded",
)
GPU_INFO = TelemetryInfo(
    probe="nvml",
    interval_ns=50 * MS,
    ticks=400,
    missed_ticks=0,
    failed_reads=0,
    read_ns_mean=40_000,
    devices=(
        DeviceInfo(
            0, "NVIDIA H200", max_sm_clock_mhz=1980, max_memory_clock_mhz=3201, power_limit_mw=700_000
        ),
    ),
)


@dataclass
class Setup:
    """What a scene's server, machine and telemetry are."""

    model: str = "tiny"
    device: str = "cpu"
    dtype: str = "float32"
    random_weights: bool = True
    token_ns: int = 30_000
    info: TelemetryInfo = CPU_INFO
    samples: Telemetry = cpu_samples
    pace: dict[Mode, float] = field(default_factory=lambda: {"on": 1.0, "off": 1.0})
    version: str = "0.1.0"
    salt: str = ""

    @property
    def identity(self) -> dict[str, object]:
        return {
            "device": self.device,
            "device_name": "NVIDIA H200" if self.device.startswith("cuda") else "AMD Ryzen 7 7840U",
            "dtype": self.dtype,
            "random_weights": self.random_weights,
            "weights_sha256": f"weights of {self.model}",
            "tokenizer_sha256": f"tokenizer of {self.model}",
        }


def run_of(
    setup: Setup, cell: Cell, seed: int, mode: Mode, order: int, chains: list[list[Ask]], start: int
) -> Run:
    """Play one run that begins at ``start``."""
    world = World(
        mode, start, setup.token_ns, random.Random(f"{cell}{seed}{mode}{setup.salt}"), setup.pace[mode]
    )
    asks = play(chains, world)
    return Run(
        cell=cell,
        seed=seed,
        mode=mode,
        order=order,
        status="completed",
        error=None,
        clock_anchor=ClockAnchor(0, WALL_NS),
        start_ns=start,
        end_ns=world.now,
        workload_digest=f"digest-{sorted(cell.items())}-{seed}",
        requested=len(asks),
        server=ServerRecord(
            engine="bundled",
            version=setup.version,
            pid=41,
            base_url="http://127.0.0.1:30000",
            model=setup.model,
            args={
                "page_size": 1,
                "schedule_policy": "fcfs",
                "max_total_tokens": 65_536,
                "disable_radix_cache": mode == "off",
            },
            identity=dict(setup.identity),
        ),
        protocol=protocol(mode),
        telemetry=setup.info,
        prompts=tree_of(asks),
        requests=tuple(sorted((record(ask) for ask in asks), key=lambda one: one.send_ns)),
        steps=tuple(world.steps),
        gpu=setup.samples(start, world.now, mode, seed),
    )


def environment(setup: Setup) -> Environment:
    """A machine."""
    gpu = setup.device.startswith("cuda")
    return Environment(
        radixbench=setup.version,
        python="3.11.9",
        platform="Linux-6.8-x86_64",
        cpu="AMD EPYC 9654" if gpu else "AMD Ryzen 7 7840U",
        cores=96 if gpu else 8,
        memory_bytes=32 * 2**30,
        gpus=("NVIDIA H200",) if gpu else (),
        driver="580.65" if gpu else None,
        packages={"torch": "2.13.0", "transformers": "5.24.0", "numpy": "2.4.6"},
        variables={"OMP_NUM_THREADS": "7"},
        host_id="bench-1",
        argv=("radixbench", "sweep", "--shared", "0,1024,4096", "--seeds", "3"),
    )


def capture_of(setup: Setup, scenario: Scenario, runs: Iterable[Run], planned: int) -> Capture:
    """One arm's capture."""
    return Capture(scenario, environment(setup), WALL_NS + 1, planned, runs=tuple(runs))


def sweep(
    setup: Setup,
    workload: WorkloadSpec,
    cells: list[Cell],
    chains: Callable[[Cell, random.Random], list[list[Ask]]],
    *,
    name: str = "laptop",
    seeds: int = 3,
) -> tuple[Capture, Capture]:
    """Both arms of a sweep, back to back in alternating order."""
    runs: dict[Mode, list[Run]] = {"on": [], "off": []}
    start, order = 1_000 * MS, 0
    for seed in range(seeds):
        for place, cell in enumerate(cells):
            arms: tuple[Mode, Mode] = ("on", "off") if (seed + place) % 2 == 0 else ("off", "on")
            for mode in arms:
                asks = chains(cell, random.Random(f"asks-{cell}-{seed}"))
                run = run_of(setup, dict(cell), seed, mode, order, asks, start)
                runs[mode].append(run)
                start, order = run.end_ns + 800 * MS, order + 1
    scenario = Scenario(
        name=name, why="what reuse is worth here", model=ModelSpec(setup.model), workload=workload
    )
    planned = seeds * len(cells)
    return capture_of(setup, scenario, runs["on"], planned), capture_of(setup, scenario, runs["off"], planned)


def _shared_chains(cell: Cell, rng: random.Random) -> list[list[Ask]]:
    shared = cell["shared_tokens"]
    assert isinstance(shared, int)
    return shared_prefix_asks(shared, rng)


def laptop() -> tuple[Capture, Capture]:
    """The default sweep on a machine without a GPU: 0, 1,024 and 4,096 shared tokens, three seeds."""
    cells: list[Cell] = [{"shared_tokens": n} for n in (0, 1024, 4096)]
    workload = WorkloadSpec(question_len=32, output_len=OUTPUT)
    return sweep(Setup(), workload, cells, _shared_chains)


def throttled() -> tuple[Capture, Capture]:
    """A sweep on a card whose off arm was held back by power and heat and ran a third slower."""
    setup = Setup(
        model="Qwen/Qwen3-8B",
        device="cuda:0",
        dtype="bfloat16",
        random_weights=False,
        token_ns=14_000,
        info=GPU_INFO,
        samples=throttling_samples,
        pace={"on": 1.0, "off": 1.35},
    )
    cells: list[Cell] = [{"shared_tokens": n} for n in (0, 1024, 4096)]
    return sweep(
        setup, WorkloadSpec(question_len=128, output_len=OUTPUT), cells, _shared_chains, name="reference"
    )


def multi_turn() -> tuple[Capture, Capture]:
    """Conversations of four turns over a shared system prompt."""

    def chains(cell: Cell, _: random.Random) -> list[list[Ask]]:
        turns, shared = cell["turns"], cell["shared_tokens"]
        assert isinstance(turns, int)
        assert isinstance(shared, int)
        return multi_turn_asks(turns, shared)

    workload = WorkloadSpec(kind="multi-turn", shared=(512,), turns=(4,), question_len=64, output_len=OUTPUT)
    return sweep(Setup(), workload, [{"shared_tokens": 512, "turns": 4}], chains, name="chat")


def other_model() -> Capture:
    """The on arm of another model in another precision on other prompts."""
    cells: list[Cell] = [{"shared_tokens": n} for n in (0, 1024, 4096)]
    setup = Setup(model="smollm2-135m", dtype="bfloat16", random_weights=False, token_ns=90_000)
    on, _ = sweep(setup, WorkloadSpec(question_len=32, output_len=OUTPUT), cells, _shared_chains)
    return replace(on, runs=tuple(replace(run, workload_digest="another") for run in on.runs))


def slower_candidate() -> tuple[Capture, Capture]:
    """A pull request (A) that makes everything 6 % slower than its base (B); both with the cache on."""
    cells: list[Cell] = [{"shared_tokens": n} for n in (0, 1024, 4096)]
    workload = WorkloadSpec(question_len=32, output_len=OUTPUT)
    candidate, _ = sweep(
        Setup(pace={"on": 1.06, "off": 1.0}, version="0.2.0", salt="pr"), workload, cells, _shared_chains
    )
    reference, _ = sweep(Setup(), workload, cells, _shared_chains)
    return candidate, reference


def compared(pair: tuple[Capture, Capture]) -> tuple[Comparison, Capture, Capture]:
    """A pair with its comparison, ready for ``build_view(*compared(...))``."""
    a, b = pair
    return compare(a, b, a_path="on.json", b_path="off.json"), a, b
