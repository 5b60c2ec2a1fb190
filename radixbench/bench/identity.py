"""What a server says of itself: enough to make prompts for it, and to tell later what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from radixbench.capture.model import ServerRecord
from radixbench.client.http import ServerClient
from radixbench.errors import IncompleteError, UsageError

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
_NO_ARGUMENTS = frozenset(
    {
        *_IDENTITY_KEYS,
        "engine",
        "version",
        "port",
        "api_key",
        "special_token_ids",
        "eos_token_ids",
        "host_ns_total",
        "step_ns_total",
        "scheduler_info",
        "internal_states",
    }
) - {"device", "dtype", "threads", "page_size"}


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """A running server: sizes in tokens, ``document`` as it answered ``/server_info``."""

    model: str
    vocab_size: int
    special_token_ids: frozenset[int]
    context_len: int
    pool_tokens: int
    page_size: int
    device: str
    document: dict[str, Any]

    def record(self, *, engine: str, pid: int | None, base_url: str) -> ServerRecord:
        """The server as a capture keeps it."""
        return ServerRecord(
            engine=engine,
            version=self.document.get("version"),
            pid=pid,
            base_url=base_url,
            model=self.model,
            args={key: value for key, value in self.document.items() if key not in _NO_ARGUMENTS},
            identity={key: self.document[key] for key in _IDENTITY_KEYS if key in self.document},
        )


async def read_facts(client: ServerClient) -> ServerFacts:
    """Ask a ready server who it is; one that doesn't say can't be given token-exact prompts."""
    document = await client.server_info()
    if document is None:
        raise IncompleteError(f"{client.base_url} doesn't answer /server_info")
    try:
        return ServerFacts(
            model=str(document["served_model_name"]),
            vocab_size=int(document["vocab_size"]),
            special_token_ids=frozenset(int(token) for token in document["special_token_ids"]),
            context_len=int(document["context_length"]),
            pool_tokens=int(document["max_total_num_tokens"]),
            page_size=int(document["page_size"]),
            device=str(document["device"]),
            document=document,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise IncompleteError(f"{client.base_url}/server_info lacks {error}") from error


def check_fits(facts: ServerFacts, longest: int) -> None:
    """Refuse, before anything is measured, requests that the server would refuse."""
    for limit, what, remedy in (
        (facts.context_len, f"the context of {facts.model}", "choose a model with a longer context"),
        (facts.pool_tokens, "the server's pool", "raise --max-total-tokens"),
    ):
        if longest > limit:
            raise UsageError(
                f"the longest request has {longest:,} tokens (prompt and answer), {what} holds {limit:,}",
                remedy=f"shorten --shared, --question-len, --output-len or --turns, or {remedy}",
            )
