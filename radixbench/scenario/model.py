"""What shall be done, as one frozen value. Files and flags become this and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from radixbench.records import Mode

WorkloadKind = Literal[
    "shared-prefix",
    "multi-turn",
    "few-shot",
    "sampling",
    "rag",
    "agent",
    "tree",
    "unique",
    "conversations",
    "trace",
]
CacheState = Literal["cold", "primed", "warm"]
OffMode = Literal["flag", "salt", "flush"]
History = Literal["live", "recorded", "retokenized"]
Arrival = Literal["closed", "constant", "poisson", "gamma", "trace"]
CorpusFormat = Literal["auto", "sharegpt", "openai", "custom", "mooncake", "bailian"]
Engine = Literal["bundled", "sglang", "vllm", "llamacpp", "other"]
Endpoint = Literal["completions", "chat"]
Policy = Literal["fcfs", "lpm"]
DeviceName = Literal["auto", "cpu", "cuda"]
DtypeName = Literal["auto", "float32", "bfloat16", "float16"]


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Which model, where and in which precision. ``auto`` is resolved by the server and recorded."""

    name: str = "tiny"
    device: DeviceName = "auto"
    dtype: DtypeName = "auto"
    trust_remote_code: bool = False


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """Server settings; ``None`` leaves the server's default. Tokens unless said."""

    threads: int | None = None
    max_total_tokens: int | None = None
    chunked_prefill_size: int | None = None
    page_size: int = 1
    schedule_policy: Policy = "fcfs"


@dataclass(frozen=True, slots=True)
class WorkloadSpec:
    """The traffic: ``groups`` prefixes with ``prompts_per_group`` prompts or conversations each, as token ids.

    ``shared`` and ``turns`` are axes of the sweep; every combination is a cell. ``None`` is decided by
    ``resolve``: per kind, device and model, or left out where the kind has no such thing (``check`` knows
    which kind reads which key and refuses the others). Lengths are tokens.

    ``distribution`` says how prompts fall on groups: equally, or by Zipf's law with ``zipf_exponent``.
    ``history`` is what later turns repeat of earlier answers: the token ids the server gave (``live``), answers
    made up or recorded beforehand (``recorded``), or its text encoded anew, as chat clients do
    (``retokenized``). ``think_time_s`` passes between an answer and the next turn.
    ``same_prefix`` draws token ids without regard to the scenario's name: every scenario with it begins its prompts
    alike, cell by cell and seed by seed. Without it no two scenarios share a page.
    few-shot: ``examples`` of ``example_len`` follow the shared instruction. rag: ``documents`` in a group's store,
    ``documents_per_prompt`` of ``document_len`` in each prompt, in the store's order or scrambled, after a system
    prompt of ``shared`` and tool definitions of ``tools_len``. agent: each turn after the first brings a tool
    result of ``tool_result_len``. tree: ``shared`` tokens are spread over ``depth`` levels with ``fanout`` branches each.
    conversations and trace: a ``file``, or for conversations a hub ``dataset`` with its ``split``; at most ``limit``
    items of it; ``block_size`` tokens per hash id of a trace.
    """

    kind: WorkloadKind = "shared-prefix"
    shared: tuple[int, ...] = (0, 1024, 4096)
    turns: tuple[int, ...] | None = None
    groups: int = 4
    prompts_per_group: int = 16
    question_len: int | None = None
    output_len: int | None = None
    distribution: Literal["uniform", "zipf"] = "uniform"
    zipf_exponent: float = 1.0
    history: History = "live"
    think_time_s: float = 0.0
    temperature: float | None = None
    same_prefix: bool = False
    examples: int | None = None
    example_len: int | None = None
    documents: int | None = None
    documents_per_prompt: int | None = None
    document_len: int | None = None
    document_order: Literal["ordered", "scrambled"] | None = None
    tools_len: int | None = None
    tool_result_len: int | None = None
    depth: int | None = None
    fanout: int | None = None
    file: str | None = None
    dataset: str | None = None
    split: str | None = None
    format: CorpusFormat = "auto"
    limit: int | None = None
    block_size: int | None = None


@dataclass(frozen=True, slots=True)
class LoadSpec:
    """When requests are sent.

    ``closed``: ``max_concurrency`` conversations in flight (``None``: 8), each next one when one ends. The others are
    open loops on absolute deadlines: ``request_rate`` conversations per second, evenly spaced, as a Poisson
    process, or with gamma-distributed gaps of shape ``burstiness`` (1 is Poisson, below it burstier); or a trace's own
    timestamps, ``speed`` times as fast. In an open loop ``max_concurrency`` is a cap (``None``: none), and what
    waits for it is late. ``num_prompts`` and ``duration_s`` bound how many conversations are started and for how long.
    ``stall_timeout_s`` ends a stream that brings nothing new.
    """

    arrival: Arrival = "closed"
    max_concurrency: int | None = None
    request_rate: float | None = None
    burstiness: float = 1.0
    speed: float = 1.0
    num_prompts: int | None = None
    duration_s: float | None = None
    stall_timeout_s: float = 300.0


@dataclass(frozen=True, slots=True)
class TargetSpec:
    """Which server. Without ``base_url`` the bundled engine is started, a server for each cache mode.

    ``base_url`` names one that runs already; ``off_base_url`` a second one of the same model without its cache, for
    ``off_mode: flag``. ``engine`` says how it is flushed and salted; ``bundled`` with a ``base_url`` leaves that to what the
    server says it is. ``tokenizer`` (a name as for ``model``) makes text
    and token ids of it where it doesn't tell its vocabulary; ``server_log`` is a file the server logs to.
    """

    engine: Engine = "bundled"
    base_url: str | None = None
    off_base_url: str | None = None
    endpoint: Endpoint = "completions"
    tokenizer: str | None = None
    server_log: str | None = None


@dataclass(frozen=True, slots=True)
class GridSpec:
    """Further axes of the sweep: every combination with ``shared`` and ``turns`` is a cell. Empty: no axis."""

    max_concurrency: tuple[int, ...] = ()
    request_rate: tuple[float, ...] = ()
    question_len: tuple[int, ...] = ()
    output_len: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    schedule_policy: tuple[Policy, ...] = ()
    page_size: tuple[int, ...] = ()
    chunked_prefill_size: tuple[int, ...] = ()
    max_total_tokens: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TelemetrySpec:
    """How often clocks and load are read."""

    interval_ms: int = 200


@dataclass(frozen=True, slots=True)
class GoodputSpec:
    """What a request has to keep to for its user to be content, in milliseconds; ``None`` sets no target.

    ``ttft``, ``tpot`` and ``e2el`` are those of the metrics; ``itl`` is the mean of a request's gaps between tokens.
    """

    ttft: float | None = None
    tpot: float | None = None
    e2el: float | None = None
    itl: float | None = None

    @property
    def targets(self) -> dict[str, float]:
        """The targets there are, by name, in milliseconds."""
        named = {"ttft": self.ttft, "tpot": self.tpot, "e2el": self.e2el, "itl": self.itl}
        return {name: value for name, value in named.items() if value is not None}

    def __bool__(self) -> bool:
        """Whether there is any target."""
        return bool(self.targets)

    def __str__(self) -> str:
        """As typed behind ``--goodput``: ``ttft:500 tpot:50``."""
        return " ".join(f"{name}:{value:g}" for name, value in self.targets.items())


@dataclass(frozen=True, slots=True)
class Scenario:
    """One experiment: why it exists, what runs, and how often.

    ``modes`` are one arm, two that are compared, or one twice: then it is measured against itself, as a null test.
    """

    name: str
    why: str = ""
    expect: str = ""
    model: ModelSpec = ModelSpec()
    engine: EngineSpec = EngineSpec()
    workload: WorkloadSpec = WorkloadSpec()
    load: LoadSpec = LoadSpec()
    grid: GridSpec = GridSpec()
    target: TargetSpec = TargetSpec()
    telemetry: TelemetrySpec = TelemetrySpec()
    goodput: GoodputSpec = GoodputSpec()
    cache_state: CacheState = "cold"
    off_mode: OffMode = "flag"
    modes: tuple[Mode, ...] = ("on", "off")
    seeds: int = 3
