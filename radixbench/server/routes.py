"""Which path leads where, and through which guards."""

from __future__ import annotations

from aiohttp import web

from radixbench.server import control, generation
from radixbench.server.guard import make_error_guard, make_key_guard
from radixbench.server.service import SERVICE, Service

_BODY_BYTES = 16 * 2**20


def make_app(service: Service) -> web.Application:
    """Every endpoint of ``service``. Bodies above 16 MiB are refused."""
    guards = [make_error_guard(service.log.message)]
    if service.config.api_key is not None:
        guards.append(make_key_guard(service.config.api_key))
    app = web.Application(middlewares=guards, client_max_size=_BODY_BYTES)
    app[SERVICE] = service
    app.router.add_post("/v1/completions", generation.completions)
    app.router.add_post("/v1/chat/completions", generation.chat_completions)
    for path, handler in (
        ("/v1/models", control.models),
        ("/v1/models/{name:.+}", control.model),
        ("/health", control.health),
        ("/health_generate", control.health_generate),
        ("/model_info", control.model_info),
        ("/get_model_info", control.model_info),
        ("/server_info", control.server_info),
        ("/get_server_info", control.server_info),
        ("/metrics", control.metrics),
        ("/flush_cache", control.flush_cache),
    ):
        app.router.add_get(path, handler)
    app.router.add_post("/flush_cache", control.flush_cache)
    if service.config.audit_endpoint:
        app.router.add_post("/audit", control.audit)
    return app
