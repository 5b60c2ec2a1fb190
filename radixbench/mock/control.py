"""Everything but answers: health, identity, flush, metrics, and the mock's own books."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

import orjson

from radixbench import __version__
from radixbench.mock.answer import Json
from radixbench.mock.frames import error_body
from radixbench.mock.script import whole_head
from radixbench.mock.service import Service
from radixbench.mock.which import Which
from radixbench.mock.words import SPECIAL_IDS

_JSON = "application/json"
_OUTER_FLUSHES = ("/hicache/storage-backend/clear", "/clear_hicache_storage_backend")
_TEXT = "text/plain; version=0.0.4; charset=utf-8"


class Call(NamedTuple):
    """A request for something else than an answer. ``query`` holds the last value of each key."""

    method: str
    path: str
    query: dict[str, str]


class Reply(NamedTuple):
    """Status, body and type of the response."""

    status: int
    body: bytes
    kind: str = _JSON

    def wire(self) -> bytes:
        """The whole response."""
        return whole_head(self.status, len(self.body), kind=self.kind) + self.body


def read_call(method: str, target: str) -> Call:
    """A request line, read."""
    parts = urlsplit(target)
    return Call(method, parts.path, {key: values[-1] for key, values in parse_qs(parts.query).items()})


def reply_to(call: Call, service: Service) -> Reply:
    """What the mock says to ``call``."""
    if _is_flush(call, service):
        return _flush(call, service)
    handler = _HANDLERS.get((call.method, call.path))
    if handler is None:
        return _error(404, f"the mock has no {call.method} {call.path}")
    return handler(call, service)


def _is_flush(call: Call, service: Service) -> bool:
    if service.settings.dialect == "sglang":
        plain = call.path == "/flush_cache" and call.method in {"GET", "POST"}
        outer = call.path in _OUTER_FLUSHES and call.method == "POST"
        return plain or (outer and service.settings.cache.outer_tier)
    if service.settings.dialect == "vllm":
        return call.path == "/reset_prefix_cache" and call.method == "POST"
    return call.path == "/slots/0" and call.method == "POST" and call.query.get("action") == "erase"


def _flush(call: Call, service: Service) -> Reply:
    lies = service.settings.lies
    if lies.flush == "absent":
        return _error(404, "Not Found")
    service.flushes += 1
    if service.flushes <= lies.flush_refusals:
        return _error(400, "flush refused: requests are pending")
    if lies.flush == "unsuccessful":
        return _json({"success": False})
    outer = call.path in _OUTER_FLUSHES or call.query.get("reset_external") == "true"
    device = call.path not in _OUTER_FLUSHES
    return _flushed(service, done=lies.flush == "lies" or service.cache.flush(device=device, outer=outer))


def _flushed(service: Service, *, done: bool) -> Reply:
    """How each server says that it flushed, or that it couldn't."""
    if service.settings.dialect == "vllm":
        return _json({"success": done})
    if not done:
        return _error(400, f"flush refused: {service.cache.leases} requests are pending")
    if service.settings.dialect == "llamacpp":
        return _json({"id_slot": 0, "n_erased": 0})
    return Reply(200, b"Cache flushed.\n", "text/plain; charset=utf-8")


def _health(call: Call, service: Service) -> Reply:
    del call, service
    return Reply(200, b"", "text/plain")


def _models(call: Call, service: Service) -> Reply:
    del call
    settings = service.settings
    card = {
        "id": settings.model,
        "object": "model",
        "created": service.started_s,
        "owned_by": "radixbench",
        "max_model_len": settings.context_len,
    }
    return _json({"object": "list", "data": [card]})


def _server_info(call: Call, service: Service) -> Reply:
    del call
    settings = service.settings
    return _json(
        {
            "engine": "mock",
            "version": __version__,
            "model_path": settings.model,
            "served_model_name": settings.model,
            "vocab_size": settings.vocab_size,
            "special_token_ids": list(SPECIAL_IDS),
            "eos_token_ids": [],
            "context_length": settings.context_len,
            "max_total_num_tokens": settings.cache.capacity_tokens,
            "page_size": settings.cache.page_size,
            "device": "mock",
            "dtype": "none",
            "radix_cache": settings.cache.enabled,
            "disable_radix_cache": not settings.cache.enabled,
        }
    )


def _metrics(call: Call, service: Service) -> Reply:
    del call
    if service.settings.lies.metrics == "absent":
        return _error(404, "Not Found")
    return Reply(200, service.exposition.text().encode(), _TEXT)


def _identity(call: Call, service: Service) -> Reply:
    del call
    return _json(
        {
            "mock": True,
            "version": __version__,
            "pid": os.getpid(),
            "settings": _plain(dataclasses.asdict(service.settings)),
        }
    )


def _writes(call: Call, service: Service) -> Reply:
    document = service.log.document()
    if call.query.get("reset") in {"1", "true"}:
        service.log.clear()
    return _json(document)


def _forget_writes(call: Call, service: Service) -> Reply:
    del call
    service.log.clear()
    return _json({"requests": []})


def _props(call: Call, service: Service) -> Reply:
    del call
    if service.settings.dialect != "llamacpp":
        return _error(404, "Not Found")
    settings = {"n_ctx": service.settings.context_len}
    return _json({"total_slots": 1, "default_generation_settings": settings})


def _version(call: Call, service: Service) -> Reply:
    del call, service
    return _json({"version": __version__})


def _slots(call: Call, service: Service) -> Reply:
    del call
    if service.settings.dialect != "llamacpp":
        return _error(404, "Not Found")
    return Reply(
        200,
        orjson.dumps(
            [{"id": 0, "n_ctx": service.settings.context_len, "is_processing": service.tally.running > 0}]
        ),
    )


_HANDLERS: dict[tuple[str, str], Callable[[Call, Service], Reply]] = {
    ("GET", "/health"): _health,
    ("GET", "/health_generate"): _health,
    ("GET", "/v1/models"): _models,
    ("GET", "/model_info"): _server_info,
    ("GET", "/get_model_info"): _server_info,
    ("GET", "/server_info"): _server_info,
    ("GET", "/get_server_info"): _server_info,
    ("GET", "/metrics"): _metrics,
    ("GET", "/slots"): _slots,
    ("GET", "/props"): _props,
    ("GET", "/version"): _version,
    ("GET", "/mock"): _identity,
    ("GET", "/mock/writes"): _writes,
    ("DELETE", "/mock/writes"): _forget_writes,
}


def _json(document: Json) -> Reply:
    return Reply(200, orjson.dumps(document))


def _error(status: int, message: str) -> Reply:
    return Reply(status, orjson.dumps(error_body(message, status)))


def _plain(value: object) -> object:
    """A settings document with nothing but JSON's own types; what never ends is ``null``."""
    if isinstance(value, dict):
        if set(value) == {"every", "share", "first"}:
            return str(Which(**value))
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return None if value == float("inf") else value
    return str(value)
