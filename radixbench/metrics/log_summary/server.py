"""What a server says of itself: its cache settings, pool and tree, as its start-up lines state them.

A later statement replaces an earlier one, so after a restart the facts are those of the last start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from radixbench.logs.record import LogRecord
from radixbench.metrics.log_summary.model import Role
from radixbench.metrics.log_summary.readable import count
from radixbench.metrics.log_summary.version import Version, read_version

_SHOWN = (
    "version", "model_path", "model", "served_model_name", "disable_radix_cache", "enable_prefix_caching", "page_size", "block_size",
    "chunked_prefill_size", "enable_chunked_prefill", "max_num_batched_tokens", "max_prefill_tokens", "enable_mixed_chunk", "schedule_policy",
    "schedule_conservativeness", "radix_eviction_policy", "max_total_num_tokens", "max_total_tokens", "max_running_requests",
    "max_num_seqs", "context_len", "context_length", "max_model_len", "max_seq_len", "mem_fraction_static", "gpu_memory_utilization",
    "kv_cache_dtype", "dp_size", "data_parallel_size", "enable_dp_attention", "tp_size", "tensor_parallel_size", "pp_size",
    "pipeline_parallel_size", "ep_size", "enable_hierarchical_cache", "hicache_ratio", "hicache_size", "hicache_write_policy",
    "hicache_storage_backend", "enable_lmcache", "kv_transfer_config", "speculative_algorithm", "speculative_num_steps",
    "speculative_num_draft_tokens", "speculative_config", "disaggregation_mode", "disaggregation_decode_enable_radix_cache",
    "enable_cache_report", "enable_metrics", "decode_log_interval", "n_slots", "n_ctx_slot", "build",
)  # fmt: skip
_TREE = {
    "impl": "tree_impl",
    "hybrid_swa": "tree_hybrid_swa",
    "hybrid_ssm": "tree_hybrid_ssm",
    "source": "tree_source",
}
_REPEATS = (
    ("pool_tokens", "max_total_num_tokens"),
    ("max_total_tokens", "max_total_num_tokens"),
    ("max_total_tokens", "pool_tokens"),
    ("context_length", "context_len"),
)
"""What was asked for, or said again, and where it stands as the server has it."""

_LONGEST_TEXT = 300

DECODE_INTERVAL = 40
"""Decode steps from one line of SGLang's to the next, if its arguments don't say otherwise."""

START_EVENTS = frozenset({"server_args", "engine_config", "version"})
"""A server that says one of these after it has already worked was started again."""


class ServerFacts:
    """Takes start-up events; ``shown`` is what is worth showing, by the server's own names. ``stated``: its arguments were among them."""

    __slots__ = ("_facts", "pool_tokens", "stated")

    def __init__(self) -> None:
        self._facts: dict[str, Any] = {}
        self.pool_tokens: int | None = None
        self.stated = False

    @classmethod
    def agreed(cls, servers: Sequence[ServerFacts]) -> ServerFacts:
        """What all of several servers in one log state alike; what one of them says of itself isn't true of all."""
        both = cls()
        if servers:
            first = servers[0]
            names = set(first._facts).intersection(*(one._facts for one in servers[1:]))
            alike = (name for name in names if all(one._facts[name] == first._facts[name] for one in servers))
            both._facts = {name: first._facts[name] for name in alike}
            both.stated = any(one.stated for one in servers)
            both.pool_tokens = first.pool_tokens if len({one.pool_tokens for one in servers}) == 1 else None
        return both

    def take(self, record: LogRecord, event: str) -> None:
        """One event; those that state no settings pass by."""
        extra = record.extra
        match event:
            case "server_args":
                self.stated = True
                args = extra.get("args")
                self._put(args if isinstance(args, Mapping) else {})
            case "engine_config":
                self.stated = True
                self._put(extra)
            case "version" | "slots":
                self._put(extra)
            case "capacity":
                self._put(extra)
                self._pool(extra.get("max_total_num_tokens"))
            case "kv_pool_size" if "draft" not in str(extra.get("pool", "")):
                self._pool(record.values.get("pool_tokens"))
            case "tree_cache":
                self._put({_TREE[key]: value for key, value in extra.items() if key in _TREE})
            case "tree_core":
                self._put({"tree_core": extra.get("core")})
            case "prompt_cache":
                self._put({"prompt_cache": extra.get("enabled")})

    @property
    def shown(self) -> dict[str, Any]:
        """Settings that bear on the cache, in a fixed order; one that two lines state alike stands once."""
        names = (
            *_SHOWN,
            "tree_impl",
            "tree_core",
            "tree_hybrid_swa",
            "tree_hybrid_ssm",
            "tree_source",
            "prompt_cache",
        )
        found = {name: self._facts[name] for name in names if self._facts.get(name) is not None}
        if self.pool_tokens is not None:
            found.setdefault("pool_tokens", self.pool_tokens)
        for repeat, name in _REPEATS:
            if repeat in found and found[repeat] == found.get(name):
                del found[repeat]
        return found

    def __getitem__(self, name: str) -> Any:
        """A setting by the server's own name; ``None`` if it isn't stated."""
        return self._facts.get(name)

    @property
    def version(self) -> Version | None:
        """The server's version, if a line names it."""
        stated = self._facts.get("version")
        return read_version(stated) if isinstance(stated, str) else None

    @property
    def page_size(self) -> int | None:
        """Tokens to a page."""
        return self._count("page_size")

    @property
    def chunk_budget(self) -> int | None:
        """``chunked_prefill_size``; -1 where chunking is off."""
        size = self._facts.get("chunked_prefill_size")
        return size if size.__class__ is int else None

    @property
    def decode_interval(self) -> int:
        """Decode steps from one line to the next, as stated or by default."""
        return self._count("decode_log_interval") or DECODE_INTERVAL

    @property
    def role(self) -> Role | None:
        """The part in a prefill/decode pair; ``None`` if no arguments are stated."""
        mode = self._facts.get("disaggregation_mode")
        if mode == "prefill":
            return "prefill"
        if mode == "decode":
            return "decode"
        return "unified" if mode == "null" or "disable_radix_cache" in self._facts else None

    @property
    def cache_off(self) -> bool:
        """The server says that it reuses nothing."""
        return (
            self._facts.get("disable_radix_cache") is True
            or self._facts.get("enable_prefix_caching") is False
        )

    def _put(self, facts: Mapping[str, Any]) -> None:
        for name, value in facts.items():
            plain = _plain(value)
            if plain is not None:
                self._facts[name] = plain

    def _pool(self, tokens: Any) -> None:
        self.pool_tokens = count(tokens) or self.pool_tokens

    def _count(self, name: str) -> int | None:
        return count(self._facts.get(name)) or None


def _plain(value: Any) -> Any:
    """A value that a JSON document can hold; other objects as text."""
    if isinstance(value, bool | int) or (isinstance(value, float) and isfinite(value)):
        return value
    if value is None or isinstance(value, float):
        return None
    return str(value)[:_LONGEST_TEXT]
