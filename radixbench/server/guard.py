"""The rim around every endpoint: who may enter, and how errors leave.

Whatever a client sends, it gets an OpenAI-style error of the right class and the server lives on.
"""

from __future__ import annotations

import hmac
import traceback
from collections.abc import Callable

import orjson
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from radixbench.errors import RequestError
from radixbench.server.fields import FieldError
from radixbench.server.outlet import EngineDownError
from radixbench.server.replies import error_body

STREAMING: web.RequestKey[bool] = web.RequestKey("streaming", bool)

_OPEN_PATHS = ("/health", "/health_generate", "/metrics")


async def read_body(request: web.Request) -> bytes:
    """The whole body; one that announces too much is refused without being read."""
    limit = request.client_max_size
    if request.content_length is not None and request.content_length > limit:
        raise web.HTTPRequestEntityTooLarge(max_size=limit, actual_size=request.content_length)
    try:
        return await request.read()
    except web.RequestPayloadError as error:
        raise FieldError("the body can't be decoded as its Content-Encoding says") from error


def json_response(body: object, *, status: int = 200) -> web.Response:
    """``body`` as JSON."""
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json")


def error_response(message: str, *, status: int, param: str | None = None) -> web.Response:
    """An OpenAI-style error."""
    return json_response(error_body(message, status=status, param=param), status=status)


def make_error_guard(report: Callable[[str], None]) -> Middleware:
    """Turns every exception into an error response; ``report`` gets the traceback of our own faults."""

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except FieldError as error:
            return error_response(str(error), status=400, param=error.param)
        except RequestError as error:
            return error_response(str(error), status=400)
        except EngineDownError as error:
            return error_response(str(error), status=error.status)
        except web.HTTPException as error:
            return _translate(error, request)
        except ConnectionError:
            raise  # the client is gone: nobody to tell
        except Exception as error:
            report(traceback.format_exc().rstrip())
            if request.get(STREAMING):
                raise ConnectionAbortedError("a stream can't turn into an error") from error
            return error_response(f"internal error: {type(error).__name__}", status=500)

    return guard


def _translate(error: web.HTTPException, request: web.Request) -> web.Response:
    texts = {
        404: f"there is no endpoint {request.path}",
        405: f"{request.path} doesn't take {request.method}",
        413: f"the body is larger than {request.client_max_size} bytes",
    }
    response = error_response(texts.get(error.status, error.reason), status=error.status)
    if "Allow" in error.headers:
        response.headers["Allow"] = error.headers["Allow"]
    return response


def make_key_guard(api_key: str) -> Middleware:
    """Asks for ``Authorization: Bearer KEY`` everywhere but at health and metrics."""
    expected = f"Bearer {api_key}".encode()

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").encode("utf-8", "surrogateescape")
        if request.path in _OPEN_PATHS or hmac.compare_digest(given, expected):
            return await handler(request)
        return error_response("wrong or missing API key; send Authorization: Bearer KEY", status=401)

    return guard
