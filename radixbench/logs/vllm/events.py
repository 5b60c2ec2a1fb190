"""What vLLM says once: version, arguments, engine settings, pool size, resets, preemptions (0.2 to 0.32).

Each reader takes a message that starts with its words and gives an event, the keys of the record and
whatever else is printed; ``None`` if the words turn out to be another's. Arguments that hold a secret
are named, never repeated.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

from radixbench.logs.literals import Fields, read_literal
from radixbench.logs.server_args import HIDDEN, is_secret
from radixbench.logs.vllm.pairs import read_value

_INFINITE = (inf, -inf)
_LONGEST = 200
_MOST_TEXT = 65_536

_VERSION = re.compile(r"vLLM (?:API )?server version (\S+?)(?:, serving model (.+?))?\s*")
_ENGINE = re.compile(r"Initializing an? (?:V1 )?LLM engine \(v([^)\s]+)\) with config: ")
_ARGUMENTS = re.compile(r"(?:non-default )?args: (?:Namespace\(|\{)")
_TRANSFERRED = re.compile(r"([^=,{}]{1,100})=(\{[^{}]*\}|[^,{}]*)")
_POOL = re.compile(
    r"(\w+)(?: \+ host)? KV cache size: (\d[\d,]{0,23}) tokens"
    r"(?:, Maximum concurrency for (\d[\d,]{0,23}) tokens per request: (\d{1,12}\.\d+)x)?\.?\s*",
    re.ASCII,
)
_BLOCKS = re.compile(r"# (\w+) blocks: (\d{1,15})(?:, # CPU blocks: (\d{1,15}))?\.?\s*", re.ASCII)
_CAPACITY = re.compile(
    r"Maximum concurrency for (\d[\d,]{0,23}) tokens per request: (\d{1,12}\.\d+)x\.?\s*", re.ASCII
)
_REFUSED = re.compile(r"Failed to reset prefix cache because some blocks \((\d{1,15})\)", re.ASCII)
_PREEMPT = re.compile(r"Sequence group (\S+) is preempted by PreemptionMode\.(\w+)")
_PREEMPTIONS = re.compile(r"total(?:_num)?_cumulative_preemption(?:_cnt)?=(\d{1,15})", re.ASCII)
_ITERATION = re.compile(
    r"Iteration\((\d{1,15})\): (\d{1,15}) context requests, (\d{1,15}) context tokens, "
    r"(\d{1,15}) generation requests, (\d{1,15}) generation tokens, iteration elapsed time: (\d{1,12}\.\d+) ms",
    re.ASCII,
)
_ITERATION_KEYS = ("iteration", "context_req", "context_tokens", "generation_req", "generation_tokens")
_LMCACHE = re.compile(
    r"Reqid: (\S+), Total tokens (\d{1,15})(?:, Inference Engine computed tokens: (\d{1,15}))?, "
    r"LMCache hit tokens: (\d{1,15}), need to load: (-?\d{1,15})",
    re.ASCII,
)


class Event(NamedTuple):
    """What happened, if it has a name; keys of the record beside it; the rest."""

    name: str | None
    values: dict[str, Any]
    extra: dict[str, Any]


def _version(message: str) -> Event | None:
    match = _VERSION.fullmatch(message)
    if match is None:
        return None
    return Event("version", {}, _printed(version=match[1], model=match[2]))


def _engine_config(message: str) -> Event | None:
    match = _ENGINE.match(message)
    if match is None:
        return None
    return Event(
        "engine_config", {}, {"version": match[1], **_settings(Fields(message, match.end()), message)}
    )


def _server_args(message: str) -> Event | None:
    match = _ARGUMENTS.match(message)
    if match is None:
        return None
    text = message.rstrip()
    fields = Fields(text, match.end())
    settings = _settings(fields, text)
    return Event("server_args", {} if fields.closed else {"truncated": True}, {"args": settings})


def _kv_pool(message: str) -> Event | None:
    match = _POOL.fullmatch(message)
    if match is None:
        return None
    device, tokens, per_request, concurrency = match.groups()
    extra = _printed(
        device=device,
        max_concurrency=None if concurrency is None else float(concurrency),
        tokens_per_request=None if per_request is None else _grouped(per_request),
    )
    return Event("kv_pool_size", {"pool_tokens": _grouped(tokens)}, extra)


def _blocks(message: str) -> Event | None:
    match = _BLOCKS.fullmatch(message)
    if match is None:
        return None
    device, blocks, cpu = match.groups()
    return Event(
        "kv_pool_size",
        {},
        _printed(device=device, blocks=int(blocks), cpu_blocks=None if cpu is None else int(cpu)),
    )


def _capacity(message: str) -> Event | None:
    match = _CAPACITY.fullmatch(message)
    if match is None:
        return None
    return Event(
        "capacity", {}, {"tokens_per_request": _grouped(match[1]), "max_concurrency": float(match[2])}
    )


def _reset(message: str) -> Event | None:
    if message.startswith("Successfully"):
        return Event("reset_prefix_cache", {}, {})
    match = _REFUSED.match(message)
    return None if match is None else Event("reset_prefix_cache_refused", {}, {"used_blocks": int(match[1])})


def _preempt(message: str) -> Event | None:
    match = _PREEMPT.match(message)
    if match is None:
        return None
    total = _PREEMPTIONS.search(message)
    count = None if total is None else int(total[1])
    return Event(
        "preempt", {}, _printed(sequence_group=match[1], mode=match[2], cumulative_preemptions=count)
    )


def _iteration(message: str) -> Event | None:
    match = _ITERATION.match(message)
    if match is None:
        return None
    *counts, elapsed = match.groups()
    extra = dict(zip(_ITERATION_KEYS, map(int, counts), strict=True))
    return Event("iteration", {}, {**extra, "elapsed_ms": float(elapsed)})


def _ready(message: str) -> Event | None:
    return Event("ready", {}, _printed(url=message.partition(" on ")[2].strip() or None))


def _lmcache(message: str) -> Event | None:
    match = _LMCACHE.match(message)
    if match is None:
        return None
    rid, total, computed, hit, load = match.groups()
    extra = _printed(
        rid=rid, total_tokens=int(total), computed_tokens=None if computed is None else int(computed)
    )
    return Event(None, {}, {**extra, "lmcache_hit_tokens": int(hit), "lmcache_load_tokens": int(load)})


READERS: tuple[tuple[str, Callable[[str], Event | None]], ...] = (
    ("Iteration(", _iteration),
    ("Reqid: ", _lmcache),
    ("Sequence group ", _preempt),
    ("Successfully reset prefix cache", _reset),
    ("Failed to reset prefix cache", _reset),
    ("GPU KV cache size: ", _kv_pool),
    ("GPU + host KV cache size: ", _kv_pool),
    ("CPU KV cache size: ", _kv_pool),
    ("XPU KV cache size: ", _kv_pool),
    ("TPU KV cache size: ", _kv_pool),
    ("# ", _blocks),
    ("Maximum concurrency for ", _capacity),
    ("vLLM API server version ", _version),
    ("vLLM server version ", _version),
    ("Initializing a", _engine_config),
    ("non-default args: ", _server_args),
    ("args: Namespace(", _server_args),
    ("Starting vLLM API server", _ready),
    ("Starting vLLM server on ", _ready),
)
"""The words a message starts with, and its reader."""


def read_transfer(body: str) -> dict[str, Any]:
    """What a KV transfer line says: each connector has words of its own, blanks in them included."""
    return {name.strip(): read_value(raw.strip()) for name, raw in _TRANSFERRED.findall(body[:_MOST_TEXT])}


def _settings(fields: Fields, text: str) -> dict[str, Any]:
    """Settings by name. What stands in brackets stays text, and is left out where it is too long to be a setting."""
    settings: dict[str, Any] = {}
    for name, start, end, _ in fields:
        raw = text[start:end].strip()
        if end is not None and name not in settings and 0 < len(raw) <= _LONGEST:
            value = raw if raw[-1] in ")]}" else read_literal(raw)
            settings[name] = HIDDEN if is_secret(name, value) else None if value in _INFINITE else value
    return settings


def _grouped(digits: str) -> int:
    return int(digits.replace(",", ""))


def _printed(**found: Any) -> dict[str, Any]:
    return {key: value for key, value in found.items() if value is not None}
