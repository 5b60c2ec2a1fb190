"""What SGLang says while it starts: weights, pools, capacity, graphs, the tree (0.1.26 to 0.5.23), and our server.

Each reader takes a message from its first word to its end. Sizes are as printed; a size that is only an
upper bound (``VA upper bound``) isn't given as the pool's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from radixbench.logs.literals import read_literal
from radixbench.logs.server_args import HIDDEN, is_secret, read_arguments
from radixbench.logs.sglang.words import Said, count, finite, mark, read_pairs

_POOL = re.compile(r"(?P<pool>(?:.{1,80} )?KV [Cc]ache) (?:is )?(?P<how>allocated|VA upper bound)\b")
_WINDOW = re.compile(r"SWAKVPool (mem usage|VA upper bound): ")
_GRAPH = re.compile(
    r"Capture (?P<graph>[\w -]{1,60}?) (?P<phase>begin|end)\b(?: \(step (?P<step>\d{1,9})\))?"
)
_OURS = re.compile(r"elapsed=.{1,40}, type=\w{1,80}, dtype=torch\.b?float\d\d$")
_COMMITTED = re.compile(r"in (\d{1,9}\.\d\d) s\b")
_TREE_PAIR = re.compile(r"(\w{1,40})=(\w+\('[^']{0,200}'\)|\S{1,200})")
_COMPONENTS = re.compile(r"(?:with components|Components:) (\([^()]{0,2000}\)|\[[^\[\]]{0,2000}\])")
_CORE = re.compile(r"Tree Core: (\w{1,80})\s*$")


def _weights(message: str) -> Said:
    if message.startswith("Load weight begin"):
        pairs, whole = read_pairs(message, () if "model=" in message else ("avail_mem_gb",))
        return Said("weights_loading", mark({}, whole), pairs)
    committed = _COMMITTED.search(message)
    if committed is not None:
        return Said("weights_loaded", {}, {"elapsed_s": float(committed[1])})
    pairs, whole = read_pairs(message, ("type",) if _OURS.search(message) else ("type", "avail_mem_gb"))
    return Said("weights_loaded", mark({}, whole), pairs)


def _pool(message: str) -> Said | None:
    head = _POOL.match(message)
    if head is None:
        return None
    body = message[head.end() :]
    pairs, whole = read_pairs(body, ("kv_size_gb",) if "KV size" in body else ("v_size_gb",))
    tokens = count(pairs.pop("tokens", None))
    extra = {} if head["pool"].lower() == "kv cache" else {"pool": head["pool"]}
    values: dict[str, Any] = {}
    if head["how"] == "allocated":
        values |= _given(pool_tokens=tokens)
    else:
        extra |= _given(upper_bound=True, upper_bound_tokens=tokens)
    return Said("kv_pool_size", mark(values, whole), {**extra, **pairs})


def _post_capture(message: str) -> Said | None:
    """The sizes that are final where the pool is sized after the graphs (0.5.16 and later)."""
    body = message.partition("sizing: ")[2]
    said: Said | None = None
    if body.startswith("full_layer_tokens="):
        said = _layer_tokens(body)
    elif body.startswith("max_total_num_tokens="):
        pairs, whole = read_pairs(body, ("max_total_num_tokens", "free_memory_gb"))
        tokens = _given(pool_tokens=count(pairs.pop("max_total_num_tokens", None)))
        said = Said("kv_pool_size", mark(tokens, whole), pairs)
    elif body.startswith(("KV cache allocated", "draft KV cache allocated")):
        said = _pool(body)
    return None if said is None else said._replace(extra={"post_capture": True, **said.extra})


def _window_pool(message: str) -> Said | None:
    if not message.startswith("SWAKVPool"):
        return _layer_tokens(message)
    head = _WINDOW.match(message)
    if head is None:
        return None
    pairs, whole = read_pairs(f"mem usage: {message[head.end() :]}", ("full_tokens",))
    size = pairs.pop("mem_usage_gb", None)
    bound = head[1] != "mem usage"
    known = _given(upper_bound=True, upper_bound_gb=size) if bound else _given(mem_usage_gb=size)
    return Said("swa_pool_size", mark({}, whole), {**known, **pairs})


def _layer_tokens(message: str) -> Said:
    pairs, whole = read_pairs(message, ("swa_tokens",))
    return Said("swa_pool_size", mark({}, whole), pairs)


def _state_pool(message: str) -> Said:
    pairs, whole = read_pairs(message, ("conv_state_size_gb", "ssm_state_size_gb"))
    return Said("mamba_pool_size", mark({}, whole), pairs)


def _memory(message: str) -> Said:
    pairs, whole = read_pairs(message, ("avail_mem_gb",))
    return Said("memory_pool", mark({}, whole), pairs)


def _capacity(message: str) -> Said:
    must = ("max_total_num_tokens", "max_prefill_tokens", "max_running_requests", "context_len")
    pairs, whole = read_pairs(message, must)
    return Said("capacity", mark({}, whole), pairs)


def _graph(message: str) -> Said | None:
    head = _GRAPH.match(message)
    if head is None:
        return None
    whole = True
    pairs: dict[str, Any] = {}
    body = message[head.end() :].lstrip(". ")
    if "=" in body or "elapsed" in body:
        must = ("elapsed_s",) if head["phase"] == "end" else ("avail_mem_gb",)
        pairs, whole = read_pairs(body, must)
    extra: dict[str, Any] = {"graph": head["graph"], "phase": head["phase"]}
    if head["step"] is not None:
        extra["step"] = int(head["step"])
    return Said("graph_capture", mark({}, whole), {**extra, **pairs})


def _tree(message: str) -> Said:
    pairs = {key: read_literal(raw) for key, raw in _TREE_PAIR.findall(message)}
    whole = isinstance(pairs.get("hybrid_ssm"), bool) and message.endswith(("True", "False"))
    if not whole and pairs:
        pairs.popitem()
    return Said("tree_cache", mark({}, whole), pairs)


def _tree_core(message: str) -> Said:
    reason = message.partition("Python TreeCore: ")[2]
    if reason:
        return Said("tree_core", {}, {"core": "UnifiedTreeCore", "fallback_reason": reason})
    extra: dict[str, Any] = {}
    listed = _COMPONENTS.search(message)
    if listed is not None:
        components = finite(read_literal(listed[1]))
        extra["components"] = components if isinstance(components, list) else [components]
    core = _CORE.search(message)
    if core is not None:
        extra["core"] = core[1]
    whole = listed is not None and ("Cache." not in message or core is not None)
    return Said("tree_core", mark({}, whole), extra)


def _ready(message: str) -> Said:
    del message
    return Said("ready", {}, {})


def _server_args(message: str) -> Said | None:
    """The arguments; those that hold a secret are named, never repeated."""
    arguments = read_arguments(message)
    if arguments is None:
        return None
    shown = {name: _hidden(name, value) for name, value in arguments.values.items()}
    return Said("server_args", mark({}, arguments.whole), {"args": shown})


def _hidden(name: str, value: Any) -> Any:
    return HIDDEN if is_secret(name, value) else finite(value)


def _given(**found: Any) -> dict[str, Any]:
    return {key: value for key, value in found.items() if value is not None}


READERS: dict[str, Callable[[str], Said | None]] = {
    "Load weight begin.": _weights,
    "Load weight end.": _weights,
    "KV Cache is allocated": _pool,
    "KV Cache VA upper bound": _pool,
    "Post-capture KV sizing: ": _post_capture,
    "SWAKVPool ": _window_pool,
    "Use Sliding window memory pool": _window_pool,
    "Use sliding window memory pool": _window_pool,
    "Mamba Cache is allocated": _state_pool,
    "Memory pool end.": _memory,
    "max_total_num_tokens=": _capacity,
    "Capture ": _graph,
    "Tree cache initialized: ": _tree,
    "Init Unified Radix": _tree_core,
    "Using the Python TreeCore: ": _tree_core,
    "The server is fired up and ready to roll": _ready,
    "server_args=": _server_args,
}
"""What a message begins with, and its reader."""
