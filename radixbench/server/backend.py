"""What stands behind the HTTP: an engine with its runner, a tokenizer, and what identifies both.

Two plugs for the same engine: a model, or a script that lets time pass and yields checksums. Only the
first imports torch, and only when it is built.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from radixbench.clock import Clock
from radixbench.engine.config import EngineConfig
from radixbench.engine.engine import Engine
from radixbench.engine.runner import Runner, ScriptedRunner
from radixbench.errors import UsageError
from radixbench.model.tiny_tokenizer import TinyTokenizer
from radixbench.model.tokenizer import Tokenizer
from radixbench.server.config import ServerConfig
from radixbench.units import Bytes, Tokens, seconds

_FAKE_CONTEXT = 16384
_FAKE_POOL = 65536


@dataclass(frozen=True, slots=True)
class Identity:
    """What decides the output of a server, resolved; captures record it and comparisons check it.

    ``kv_bytes_per_token`` and ``parameters`` are ``None`` where there is no model.
    """

    context_length: Tokens
    max_total_num_tokens: Tokens
    vocab_size: int
    special_token_ids: tuple[int, ...]
    eos_token_ids: tuple[int, ...]
    weights_sha256: str
    tokenizer_sha256: str
    random_weights: bool
    dtype: str
    device: str
    device_name: str
    threads: int
    kv_bytes_per_token: Bytes | None = None
    parameters: int | None = None


@dataclass(frozen=True, slots=True)
class Backend:
    """Ready to serve."""

    engine: Engine
    tokenizer: Tokenizer
    identity: Identity


def build_backend(config: ServerConfig, clock: Clock, note: Callable[[str], None]) -> Backend:
    """Load what ``config`` names; ``note`` hears of what takes long.

    Raises ``ModelError`` for a model that can't be served, ``UsageError`` for sizes it can't have.
    """
    if config.runner == "fake":
        return _fake_backend(config, clock)
    return _model_backend(config, clock, note)


def _model_backend(config: ServerConfig, clock: Clock, note: Callable[[str], None]) -> Backend:
    # imported here because torch takes seconds and the scripted runner doesn't need it
    from radixbench.model.load import load_model  # noqa: PLC0415 - see above
    from radixbench.model.pool_size import default_pool_tokens, free_bytes, memory_bytes  # noqa: PLC0415 - see above
    from radixbench.model.runner import TorchRunner  # noqa: PLC0415 - see above

    note(f"Load weight begin. model={config.model.name}")
    start_ns = clock.now_ns()
    model = load_model(config.model, threads=config.threads, on_note=note)
    note(
        f"Load weight end. elapsed={seconds(clock.now_ns() - start_ns):.2f} s, "
        f"type={type(model.module).__name__}, dtype=torch.{model.dtype}"
    )
    pool = config.max_total_tokens or default_pool_tokens(model).tokens
    _refuse_too_large(memory_bytes(model, pool), free_bytes(model), pool)
    identity = Identity(
        context_length=_context_len(config, model.context_len),
        max_total_num_tokens=pool,
        vocab_size=model.vocab_size,
        special_token_ids=tuple(sorted(model.special_token_ids)),
        eos_token_ids=tuple(sorted(model.eos_token_ids)),
        weights_sha256=model.weights_sha256,
        tokenizer_sha256=model.tokenizer_sha256,
        random_weights=model.random_weights,
        dtype=model.dtype,
        device=model.device,
        device_name=model.device_name,
        threads=model.threads,
        kv_bytes_per_token=model.kv_bytes_per_token,
        parameters=model.parameters,
    )
    runner = TorchRunner(model, pool_slots=pool)
    half = memory_bytes(model, pool) / 2 / 2**30
    note(
        f"KV Cache is allocated. dtype: torch.{model.dtype}, #tokens: {pool}, "
        f"K size: {half:.2f} GB, V size: {half:.2f} GB"
    )
    return Backend(_build_engine(config, identity, runner, clock), model.tokenizer, identity)


def _context_len(config: ServerConfig, longest: Tokens) -> Tokens:
    if config.context_len is not None and config.context_len > longest:
        raise UsageError(
            f"a context of {config.context_len} tokens is more than {config.model.name} has",
            remedy=f"give --context-length {longest} or less",
        )
    return config.context_len or longest


def _refuse_too_large(needed: Bytes, free: Bytes | None, pool: Tokens) -> None:
    if free is not None and needed > free:
        raise UsageError(
            f"a KV pool of {pool} tokens takes {needed / 2**20:.0f} MiB and {free / 2**20:.0f} MiB are free",
            remedy="lower --max-total-tokens",
        )


def _fake_backend(config: ServerConfig, clock: Clock) -> Backend:
    tokenizer = TinyTokenizer()
    identity = Identity(
        context_length=config.context_len or _FAKE_CONTEXT,
        max_total_num_tokens=config.max_total_tokens or _FAKE_POOL,
        vocab_size=tokenizer.vocab_size,
        special_token_ids=(),
        eos_token_ids=(),
        weights_sha256=hashlib.sha256(b"scripted").hexdigest(),
        tokenizer_sha256=tokenizer.sha256,
        random_weights=True,
        dtype="float32",
        device="cpu",
        device_name="scripted",
        threads=1,
    )
    runner = ScriptedRunner(
        clock=clock,
        pool_slots=identity.max_total_num_tokens,
        vocab_size=identity.vocab_size,
        cost=config.fake_cost,
    )
    return Backend(_build_engine(config, identity, runner, clock), tokenizer, identity)


def _build_engine(config: ServerConfig, identity: Identity, runner: Runner, clock: Clock) -> Engine:
    return Engine(
        EngineConfig(
            max_total_tokens=identity.max_total_num_tokens,
            context_len=identity.context_length,
            page_size=config.page_size,
            radix_cache=config.radix_cache,
            schedule_policy=config.schedule_policy,
            chunked_prefill_size=config.chunked_prefill_size,
            max_prefill_tokens=config.max_prefill_tokens,
            max_running_requests=config.max_running_requests,
            schedule_conservativeness=config.schedule_conservativeness,
        ),
        runner,
        clock,
    )
