"""Everything but text: health, identity, flush, metrics, under SGLang's paths."""

from __future__ import annotations

import asyncio
import math
import uuid
from dataclasses import asdict
from typing import Any

from aiohttp import web

from radixbench import __version__
from radixbench.engine.batch import SamplingParams
from radixbench.engine.engine import GenerationRequest
from radixbench.server.arguments import server_args
from radixbench.server.fields import FieldError
from radixbench.server.guard import error_response, json_response
from radixbench.server.loop import FlushOutcome, Submission
from radixbench.server.outlet import Outlet
from radixbench.server.service import SERVICE, Service

_HEALTH_TIMEOUT_S = 20.0
_FLUSH_RETRY_S = 0.01
_FLUSHED = (
    "Cache flushed.\nPlease check backend logs for more details. "
    "(When there are running or waiting requests, the operation will not be performed.)\n"
)


async def health(request: web.Request) -> web.Response:
    """``GET /health``: whether the engine lives. Computes nothing, so it is safe while measuring."""
    if request.app[SERVICE].loop.failure is not None:
        return error_response("the engine crashed", status=503)
    return web.Response()


async def health_generate(request: web.Request) -> web.Response:
    """``GET /health_generate``: whether one token can be generated. It shares no prefix with anybody."""
    loop, outlet = request.app[SERVICE].loop, Outlet()
    rid = f"HEALTH_CHECK_{uuid.uuid4().hex}"
    sampling = SamplingParams(max_tokens=1, ignore_eos=True)
    loop.submit([Submission(GenerationRequest(rid, (0,), sampling, namespace="health"))], outlet)
    unfinished = [rid]
    try:
        async with asyncio.timeout(_HEALTH_TIMEOUT_S):
            await outlet.take()
        unfinished = []
    except TimeoutError:
        return error_response(f"no token within {_HEALTH_TIMEOUT_S:.0f} s", status=503)
    finally:
        loop.release(outlet, unfinished)
    return web.Response()


async def flush_cache(request: web.Request) -> web.Response:
    """``GET`` or ``POST /flush_cache``; ``?timeout=S`` waits up to S seconds for pending requests to end."""
    outcome = await _flush(request.app[SERVICE], _read_timeout(request))
    if outcome.flushed:
        return web.Response(text=_FLUSHED)
    return web.Response(text=outcome.text, status=400)


def _read_timeout(request: web.Request) -> float:
    text = request.query.get("timeout", "0")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise FieldError(f"timeout must be a number of seconds from 0, not {text!r}", param="timeout")
    return value


async def _flush(service: Service, timeout_s: float) -> FlushOutcome:
    event_loop = asyncio.get_running_loop()
    deadline = event_loop.time() + timeout_s
    while True:
        while service.is_busy() and event_loop.time() < deadline:  # noqa: ASYNC110 - another thread's state
            await asyncio.sleep(_FLUSH_RETRY_S)
        outcome = await service.loop.flush()
        if outcome.flushed or event_loop.time() >= deadline:
            return outcome


async def audit(request: web.Request) -> web.Response:
    """``POST /audit``: whether every slot has exactly one owner; 500 says what is wrong."""
    try:
        await request.app[SERVICE].loop.audit()
    except AssertionError as error:
        return error_response(f"audit: {error}", status=500)
    return json_response({"clean": True})


async def metrics(request: web.Request) -> web.Response:
    """``GET /metrics``, in Prometheus' text format."""
    return web.Response(
        body=request.app[SERVICE].exposition.text(),
        headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"},
    )


async def models(request: web.Request) -> web.Response:
    """``GET /v1/models``."""
    return json_response({"object": "list", "data": [_model_card(request.app[SERVICE])]})


async def model(request: web.Request) -> web.Response:
    """``GET /v1/models/{name}``."""
    service = request.app[SERVICE]
    if request.match_info["name"] != service.config.model_name:
        return error_response(f"there is no model {request.match_info['name']}", status=404)
    return json_response(_model_card(service))


def _model_card(service: Service) -> dict[str, Any]:
    return {
        "id": service.config.model_name,
        "object": "model",
        "created": service.created_s,
        "owned_by": "radixbench",
        "root": service.config.model.name,
        "max_model_len": service.identity.context_length,
    }


async def model_info(request: web.Request) -> web.Response:
    """``GET /model_info``."""
    service = request.app[SERVICE]
    return json_response(
        {
            "model_path": service.config.model.name,
            "served_model_name": service.config.model_name,
            "tokenizer_path": service.config.model.name,
            "is_generation": True,
            **asdict(service.identity),
        }
    )


async def server_info(request: web.Request) -> web.Response:
    """``GET /server_info``: resolved arguments, identity, and the state of the engine."""
    service = request.app[SERVICE]
    identity, stats = service.identity, asdict(service.loop.stats)
    return json_response(
        {
            **server_args(service.config, identity),
            **asdict(identity),
            "engine": "radixbench",
            "version": __version__,
            "radix_cache": service.config.radix_cache,
            "host_ns_total": stats["host_ns_total"],
            "step_ns_total": stats["step_ns_total"],
            "scheduler_info": {
                "status": "ready",
                "max_total_num_tokens": identity.max_total_num_tokens,
                "max_req_input_len": identity.context_length - 1,
            },
            "internal_states": [stats],
        }
    )
