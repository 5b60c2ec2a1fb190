"""A server's resolved arguments under SGLang's names, as ``/server_info`` and the log state them."""

from __future__ import annotations

from typing import Any

from radixbench.server.backend import Identity
from radixbench.server.config import ServerConfig


def server_args(config: ServerConfig, identity: Identity) -> dict[str, Any]:
    """Nothing is ``auto`` here any more; the API key is not shown."""
    return {
        "model_path": config.model.name,
        "tokenizer_path": config.model.name,
        "served_model_name": config.model_name,
        "host": config.host,
        "port": config.port,
        "api_key": None if config.api_key is None else "<redacted>",
        "device": identity.device,
        "dtype": identity.dtype,
        "threads": identity.threads,
        "context_length": identity.context_length,
        "max_total_tokens": identity.max_total_num_tokens,
        "page_size": config.page_size,
        "chunked_prefill_size": -1 if config.chunked_prefill_size is None else config.chunked_prefill_size,
        "max_prefill_tokens": config.max_prefill_tokens,
        "max_running_requests": config.max_running_requests,
        "schedule_policy": config.schedule_policy,
        "schedule_conservativeness": config.schedule_conservativeness,
        "disable_radix_cache": not config.radix_cache,
        "decode_log_interval": config.decode_log_interval,
        "trust_remote_code": config.model.trust_remote_code,
        "runner": config.runner,
    }
