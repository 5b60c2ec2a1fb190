"""``/v1/completions`` and ``/v1/chat/completions``: from an order to its reply, streamed or whole.

A stream's status line is sent with its first token, so that a request the engine refuses still gets
its 400. Whatever ends a handler, a client that went away included, releases what it had asked for.
"""

from __future__ import annotations

import contextlib

from aiohttp import web

from radixbench.server.answer import Answer
from radixbench.server.fields import parse_object
from radixbench.server.guard import STREAMING, json_response, read_body
from radixbench.server.order import Order, chat_order, completion_order, submissions
from radixbench.server.outlet import Arrival, EngineDownError, Outlet
from radixbench.server.replies import DONE, Replies, error_body, event
from radixbench.server.service import SERVICE, Service
from radixbench.server.wire import read_chat, read_completion

_STREAM_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
}


async def completions(request: web.Request) -> web.StreamResponse:
    """``POST /v1/completions``."""
    service = request.app[SERVICE]
    values = parse_object(await read_body(request))
    body = read_completion(values, vocab_size=service.identity.vocab_size)
    return await _answer(request, service, completion_order(body, service.tokenizer))


async def chat_completions(request: web.Request) -> web.StreamResponse:
    """``POST /v1/chat/completions``."""
    service = request.app[SERVICE]
    values = parse_object(await read_body(request))
    body = read_chat(values, vocab_size=service.identity.vocab_size)
    return await _answer(request, service, chat_order(body, service.tokenizer))


async def _answer(request: web.Request, service: Service, order: Order) -> web.StreamResponse:
    details = order.options.return_cached_details
    replies = Replies(order.kind, order.rid, service.now_s(), service.config.model_name, details)
    answer, outlet = Answer(order, replies, service.tokenizer), Outlet()
    service.loop.submit(submissions(order, service.tokenizer, service.identity), outlet)
    try:
        if order.options.stream:
            return await _stream(request, outlet, answer)
        while not answer.finished:
            answer.take(await outlet.take())
        return json_response(answer.whole())
    finally:
        service.loop.release(outlet, answer.unfinished())


async def _stream(request: web.Request, outlet: Outlet, answer: Answer) -> web.StreamResponse:
    arrivals = await outlet.take()
    response = web.StreamResponse(headers=_STREAM_HEADERS)
    request[STREAMING] = True
    with contextlib.suppress(ConnectionError):  # the client is gone: nobody reads the rest
        await response.prepare(request)
        await response.write_eof(await _send_tokens(response, outlet, answer, arrivals))
    return response


async def _send_tokens(
    response: web.StreamResponse, outlet: Outlet, answer: Answer, arrivals: list[Arrival]
) -> bytes:
    """Send tokens as they come; returns the last bytes of the stream, not sent yet."""
    events = answer.openings()
    try:
        while True:
            events += answer.events(arrivals)
            if answer.finished:
                return b"".join((*events, DONE))
            await response.write(b"".join(events))
            arrivals, events = await outlet.take(), []
    except EngineDownError as error:
        return event(error_body(str(error), status=error.status))
