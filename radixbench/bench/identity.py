"""What a server says of itself: enough to make prompts for it, and to tell later what was measured.

Our own server, and any that mimics it, tells everything on ``/server_info``. SGLang tells its arguments there, vLLM
in a developer's mode its configuration, and always its context and block size on ``/v1/models`` and ``/metrics``,
llama.cpp its vocabulary and a slot's context in the ``meta`` of its model. None of those three says which ids are
special, so a tokenizer by name settles the vocabulary; without one, llama.cpp's ids are drawn from the middle of
the vocabulary, since special ones lie at its ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from radixbench.bench import counters, vllm_config
from radixbench.bench.maker import Maker, maker
from radixbench.capture.model import ServerRecord
from radixbench.client.http import ServerClient
from radixbench.client.whole import Reply
from radixbench.errors import IncompleteError, UsageError
from radixbench.model.tokenizer import Tokenizer
from radixbench.units import Tokens

_IDENTITY_KEYS = (
    "weights_sha256",
    "tokenizer_sha256",
    "random_weights",
    "dtype",
    "device",
    "device_name",
    "threads",
    "vocab_size",
    "context_length",
    "max_total_num_tokens",
    "page_size",
    "kv_bytes_per_token",
    "parameters",
    "radix_cache",
)
_ARGUMENTS_TOO = frozenset({"device", "dtype", "threads", "page_size"})
_NO_ARGUMENTS = frozenset(
    {
        *_IDENTITY_KEYS,
        "engine",
        "version",
        "port",
        "special_token_ids",
        "eos_token_ids",
        "host_ns_total",
        "step_ns_total",
        "launch_command",
        "start_time",
        "vllm_config",
    }
)
_SECRETS = ("api_key", "password", "secret", "hf_token", "ssl_key")
_MARGIN_IDS = 512
_LIMIT_S = 10.0


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """A running server: sizes in tokens, ``None`` where it doesn't tell; ``document`` as it states itself.

    ``notes`` say what was assumed instead; ``maker`` is whose it says it is.
    """

    model: str
    vocab_size: int
    special_token_ids: frozenset[int]
    context_len: Tokens | None
    pool_tokens: Tokens | None
    page_size: Tokens | None
    device: str
    document: dict[str, Any]
    notes: tuple[str, ...] = ()
    maker: Maker | None = None

    def record(self, *, engine: str, pid: int | None, base_url: str) -> ServerRecord:
        """The server as a capture keeps it, without secrets."""
        return ServerRecord(
            engine=engine,
            version=self.document.get("version"),
            pid=pid,
            base_url=base_url,
            model=self.model,
            args={key: value for key, value in self.document.items() if _is_argument(key, value)},
            identity={key: self.document[key] for key in _IDENTITY_KEYS if key in self.document},
        )

    @property
    def fingerprint(self) -> str:
        """What tells this start of this server from others at the same address, as far as it says so."""
        keys = ("version", "weights_sha256", "start_time", "startup_time", "pid")
        return "\n".join([self.model, *(f"{key}={self.document.get(key)}" for key in keys)])


def _is_argument(key: str, value: object) -> bool:
    if any(word in key.lower() for word in _SECRETS):
        return False
    return (key not in _NO_ARGUMENTS or key in _ARGUMENTS_TOO) and _is_plain(value)


def _is_plain(value: object) -> bool:
    """Whether a value is one argument: a number, a word, or a list of them; state comes nested."""
    if isinstance(value, list):
        return all(_is_plain(item) and not isinstance(item, list) for item in value)
    return value is None or isinstance(value, str | int) or (isinstance(value, float) and isfinite(value))


@dataclass(frozen=True, slots=True)
class _Told:
    """What the endpoints of a foreign server came to."""

    document: dict[str, Any] = field(default_factory=dict)
    vocab_size: int | None = None
    special: frozenset[int] | None = None
    maker: Maker | None = None


async def read_facts(client: ServerClient, tokenizer: Tokenizer | None = None) -> ServerFacts:
    """Ask a ready server who it is; one that doesn't say can't be given token-exact prompts.

    Raises ``UsageError`` when its vocabulary stays unknown.
    """
    info = await client.server_info() or {}
    listed = await _first_model(client)
    told = _told(info, listed, await counters.fetch(client))
    if "version" not in told.document:
        told.document.update(await _version(client))
    if not told.document.get("served_model_name"):
        raise IncompleteError(
            f"{client.base_url} names no model on /server_info or /v1/models",
            remedy="check that an OpenAI-compatible server answers there",
        )
    return _facts(client.base_url, told, tokenizer)


def _facts(base_url: str, told: _Told, tokenizer: Tokenizer | None) -> ServerFacts:
    document, vocab, special = told.document, told.vocab_size, told.special
    notes: list[str] = []
    if tokenizer is not None:
        if vocab is not None and tokenizer.vocab_size > vocab:
            raise UsageError(
                f"{base_url} knows {vocab:,} token ids, the tokenizer makes {tokenizer.vocab_size:,}",
                remedy="name the tokenizer of the model it serves",
            )
        vocab = tokenizer.vocab_size
        special = frozenset(tokenizer.special_token_ids) | (special or frozenset())
    if vocab is None:
        raise UsageError(
            f"{base_url} doesn't tell its vocabulary, so prompts can't be made of its token ids",
            remedy="name the model's tokenizer: --tokenizer MODEL",
        )
    if special is None:
        margin = min(_MARGIN_IDS, vocab // 8)
        special = frozenset((*range(margin), *range(vocab - margin, vocab)))
        notes.append(
            f"{base_url} doesn't say which of its {vocab:,} ids are special: the first and last {margin} stay"
            " unused (--tokenizer settles it)"
        )
    return ServerFacts(
        model=str(document["served_model_name"]),
        vocab_size=vocab,
        special_token_ids=special,
        context_len=_size(document.get("context_length")),
        pool_tokens=_size(document.get("max_total_num_tokens")),
        page_size=_size(document.get("page_size")),
        device=str(document.get("device") or "unknown"),
        document=document,
        notes=tuple(notes),
        maker=told.maker,
    )


def _told(info: dict[str, Any], listed: dict[str, Any], metrics: counters.Reading | None) -> _Told:
    """All endpoints in one document under our own server's names; what ``/server_info`` says goes first."""
    meta = _object(listed.get("meta"))
    states = info.get("internal_states")
    memory = _object(_object(states[0] if isinstance(states, list) and states else None).get("memory_usage"))
    blocks = metrics.labels("vllm:cache_config_info") if metrics else {}
    block, count = _size(blocks.get("block_size")), _size(blocks.get("num_gpu_blocks"))
    sizes = {
        "served_model_name": info.get("served_model_name") or listed.get("id"),
        "context_length": _size(info.get("context_length"))
        or _size(listed.get("max_model_len"))
        or _size(meta.get("n_ctx")),
        "max_total_num_tokens": _size(info.get("max_total_num_tokens"))
        or _size(memory.get("token_capacity"))
        or (block * count if block and count else None),
        "page_size": _size(info.get("page_size")) or block or (1 if meta else None),
    }
    stated = {key: value for key, value in sizes.items() if value is not None}
    document = {**vllm_config.settings(info, blocks), **info, **stated}
    started = metrics.samples.get("process_start_time_seconds") if metrics else None
    if started:
        document["start_time"] = max(started.values())
    return _Told(
        document=document,
        vocab_size=_size(info.get("vocab_size")) or _size(meta.get("n_vocab")),
        special=_ids(info.get("special_token_ids")),
        maker=maker(info, listed, metrics.samples if metrics else ()),
    )


async def _first_model(client: ServerClient) -> dict[str, Any]:
    """The first entry of ``/v1/models``; empty where there is none."""
    reply = await client.exchange("GET", "/v1/models", limit_s=_LIMIT_S)
    listed = (reply.document() or {}).get("data")
    return listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], dict) else {}


async def _version(client: ServerClient) -> dict[str, Any]:
    """VLLM's ``/version``, or the build that llama.cpp names on ``/props``."""
    reply: Reply = await client.exchange("GET", "/version", limit_s=_LIMIT_S)
    version = (reply.document() or {}).get("version")
    if not isinstance(version, str):
        props = await client.exchange("GET", "/props", limit_s=_LIMIT_S)
        version = (props.document() or {}).get("build_info")
    return {"version": version} if isinstance(version, str) else {}


def _size(value: object) -> int | None:
    """A count from 1 on, also as a label spells it."""
    if isinstance(value, str) and value.isdigit():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _ids(value: object) -> frozenset[int] | None:
    """A list of token ids; ``None`` for anything else."""
    if isinstance(value, list) and all(isinstance(token, int) for token in value):
        return frozenset(value)
    return None


def _object(value: object) -> dict[str, Any]:
    """A JSON object; empty for anything else."""
    return value if isinstance(value, dict) else {}


def check_fits(facts: ServerFacts, longest: int) -> None:
    """Refuse, before anything is measured, requests that the server would refuse."""
    for limit, what, remedy in (
        (facts.context_len, f"the context of {facts.model}", "choose a model with a longer context"),
        (facts.pool_tokens, "the server's pool", "raise --max-total-tokens"),
    ):
        if limit is not None and longest > limit:
            raise UsageError(
                f"the longest request has {longest:,} tokens (prompt and answer), {what} holds {limit:,}",
                remedy=f"shorten --shared, --question-len, --output-len or --turns, or {remedy}",
            )
