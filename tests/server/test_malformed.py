"""Whatever is sent to whichever endpoint gets a 4xx in OpenAI's shape, and the server lives on."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import socket
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.server.conftest import fake, open_front

GENERATING = ["/v1/completions", "/v1/chat/completions"]
ENDPOINTS = [
    *GENERATING,
    "/v1/models",
    "/v1/models/%00%ff",
    "/flush_cache",
    "/flush_cache?timeout=nan",
    "/health",
    "/server_info",
    "/model_info",
    "/metrics",
    "/nowhere",
    "/",
]
MESSAGES = [{"role": "user", "content": "a"}]


def exchange(port: int, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
    """Status and body of one request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body=body, headers={"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def refused(port: int, path: str, body: bytes) -> dict[str, Any]:
    """The error object of a request that must be refused with 400."""
    status, raw = exchange(port, "POST", path, body)
    assert status == 400, (status, raw[:300])
    return assert_error(raw)


def assert_error(raw: bytes) -> dict[str, Any]:
    """Check that ``raw`` is OpenAI's error object; its inside."""
    error = json.loads(raw)["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["message"]
    assert "\n" not in error["message"]
    return error


def assert_alive(port: int) -> None:
    """The server still answers a good request, and no slot is lost."""
    status, raw = exchange(port, "POST", "/v1/completions", b'{"prompt": [1, 2], "max_tokens": 2}')
    assert (status, json.loads(raw)["usage"]["completion_tokens"]) == (200, 2)
    assert exchange(port, "POST", "/audit", b"")[0] == 200


@pytest.mark.parametrize("path", GENERATING)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"1",
        b"\xff\xfe{}",
        b'{"prompt": "\xff"}',
        b'{"prompt": "\\ud800"}',
        b'{"temperature": NaN}',
        b'{"temperature": Infinity}',
        b'{"temperature": -Infinity}',
        b'{"prompt": 1e400}',
        b'{"max_tokens": ' + b"9" * 400 + b"}",
        b"{}",
        b'{"prompt": null, "messages": null}',
        b"{'prompt': 'a'}",
        b'{"prompt": "a",}',
        b"[" * 100_000,
        b'{"prompt":' * 5_000 + b"1" + b"}" * 5_000,
        b"\x00" * 1000,
        b"--x\r\nContent-Disposition: form-data\r\n\r\n",
    ],
)
def test_a_body_that_is_no_request(live_port: int, path: str, body: bytes) -> None:
    """No JSON, no object, no prompt: 400, whatever the bytes are."""
    refused(live_port, path, body)
    assert_alive(live_port)


@pytest.mark.parametrize("path", GENERATING)
@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("max_tokens", [0, -1, 1.5, "5", True, [], {}, 2**63, 10**30, 10_000]),
        ("n", [0, -1, 129, True, "2", 1.0]),
        ("temperature", [-0.1, "hot", True, [], 1e300]),
        ("top_p", [0, -1, 1.1, "x", False]),
        ("seed", [1.5, "x", True, 2**64]),
        ("stop", [1, [1], {}, [""], "", ["a"] * 65, "x" * 2000, [["a"]]]),
        ("stop_token_ids", [1, "1", [-1], [8192], [1.0], [True], [None]]),
        ("ignore_eos", ["yes", 1, []]),
        ("stream", ["true", 1, {}]),
        ("stream_options", ["x", 1, [], {"include_usage": "yes"}]),
        ("return_token_ids", [1, "x"]),
        ("return_cached_tokens_details", [1, "x"]),
        ("model", [1, {}, [], True, "x" * 1000]),
        ("rid", [1, {}, "x" * 1000]),
        ("extra_key", [1, {}, []]),
        ("cache_salt", [1, {}, []]),
    ],
)
def test_a_field_of_the_wrong_kind(live_port: int, path: str, field: str, values: list[Any]) -> None:
    """Every wrong type and range of every known field is 400, and the message names the field."""
    for value in values:
        body = {"prompt": "a", "messages": MESSAGES, field: value}
        error = refused(live_port, path, json.dumps(body).encode())
        assert field in error["message"] or "tokens don't fit" in error["message"], (value, error)
    assert_alive(live_port)


@pytest.mark.parametrize(
    "prompt",
    [
        "", [], [""], [[]], [[1], []], [1, "a"], ["a", 1], [[1], "a"], ["a", [1]], [1.0], [True], [None], [-1],
        [8192], [2**70], {}, 5, True, [[[1]]], [{}], ["a"] * 2000, [[1]] * 2000, [1] * 5000, "x" * 5000,
    ],
)  # fmt: skip
def test_a_prompt_that_is_none(live_port: int, prompt: Any) -> None:
    """Empty, mixed, nested, out of the vocabulary or too long: 400."""
    refused(live_port, "/v1/completions", json.dumps({"prompt": prompt}).encode())
    assert_alive(live_port)


@pytest.mark.parametrize(
    "messages",
    [
        [], {}, "hello", 5, [1], [None], [[]], [{}], [{"role": "user", "content": 5}], [{"content": "a"}],
        [{"role": "king", "content": "a"}], [{"role": 1}], [{"role": ["user"], "content": "a"}],
        [{"role": "user", "content": ["a"]}], [{"role": "user", "content": [{"type": "image_url"}]}],
        [{"role": "user", "content": [{"type": "text", "text": 5}]}], [{"role": "user", "content": "x" * 5000}],
    ],
)  # fmt: skip
def test_messages_that_are_none(live_port: int, messages: Any) -> None:
    """Messages without a known role or with a content that isn't text: 400."""
    refused(live_port, "/v1/chat/completions", json.dumps({"messages": messages}).encode())
    assert_alive(live_port)


def test_unknown_fields_are_accepted(live_port: int) -> None:
    """Fields nobody knows, and known ones that are null, change nothing."""
    body = {"prompt": [1], "max_tokens": 2, "best_of": 1, "zzz": {"deep": [1]}, "n": None, "stop": None}
    status, raw = exchange(live_port, "POST", "/v1/completions", json.dumps(body).encode())
    assert (status, json.loads(raw)["usage"]["completion_tokens"]) == (200, 2)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
known_fields = st.sampled_from(
    ["prompt", "messages", "max_tokens", "n", "stop", "stream_options", "temperature", "seed", "echo", "rid"]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(GENERATING), fields=st.dictionaries(known_fields, json_values, max_size=6))
def test_any_json_is_answered(live_port: int, path: str, fields: dict[str, Any]) -> None:
    """Random values in known fields never break the server: it answers, or refuses in OpenAI's shape."""
    body = json.dumps({"prompt": "a", "messages": MESSAGES, "max_tokens": 1} | fields).encode("utf-8")
    status, raw = exchange(live_port, "POST", path, body)
    assert status in (200, 400), (status, raw[:300])
    if status == 400:
        assert_error(raw)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH"]),
    path=st.sampled_from(ENDPOINTS),
    body=st.binary(max_size=200),
)
def test_any_bytes_to_any_endpoint_are_answered(live_port: int, method: str, path: str, body: bytes) -> None:
    """Every method and body at every address ends below 500, refusals in OpenAI's shape."""
    status, raw = exchange(live_port, method, path, body)
    assert status < 500
    if status >= 400:
        assert_error(raw)


@given(garbage=st.binary(min_size=1, max_size=400))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bytes_that_are_no_http_harm_nobody(live_port: int, garbage: bytes) -> None:
    """A connection that speaks no HTTP is closed or refused; others are served."""
    with socket.create_connection(("127.0.0.1", live_port), timeout=10) as connection:
        connection.sendall(garbage + b"\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(65536)
    assert not answer or answer.split(b" ")[1].startswith(b"4")


def test_a_huge_body_is_refused(live_port: int) -> None:
    """100 MB, announced or sent in chunks, are 413, and the server lives."""
    size = 100_000_000
    connection = http.client.HTTPConnection("127.0.0.1", live_port, timeout=60)
    block = b" " * 1_000_000
    try:
        connection.request("POST", "/v1/completions", body=(block for _ in range(100)), encode_chunked=True)
        response = connection.getresponse()
        assert (response.status, assert_error(response.read())["code"]) == (413, 413)
    finally:
        connection.close()
    with socket.create_connection(("127.0.0.1", live_port), timeout=30) as announced:
        announced.sendall(
            f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n".encode()
        )
        assert announced.recv(65536).startswith(b"HTTP/1.1 413")
    assert_alive(live_port)


def test_a_body_that_is_not_encoded_as_it_says(live_port: int) -> None:
    """A gzip body that is none, or text that is no longer JSON once unpacked, is 400."""
    for data in (b"abcd", gzip.compress(b"no JSON")):
        connection = http.client.HTTPConnection("127.0.0.1", live_port, timeout=30)
        connection.request("POST", "/v1/completions", body=data, headers={"Content-Encoding": "gzip"})
        response = connection.getresponse()
        assert response.status == 400
        assert_error(response.read())
        connection.close()
    assert_alive(live_port)


async def test_bytes_that_are_no_http_are_one_line_in_the_log() -> None:
    """A bad header is logged without a traceback."""
    async with open_front(fake()) as front:
        with socket.create_connection(("127.0.0.1", int(front.url.rpartition(":")[2]))) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nContent-Length: no\r\n\r\n")
            await asyncio.to_thread(connection.recv, 4096)
        (line,) = await front.lines()
        assert "Error handling request from 127.0.0.1: InvalidHeader" in line or "BadHttp" in line


async def test_a_body_cut_short_is_forgotten() -> None:
    """A client that announces more than it sends and leaves costs nothing."""
    async with open_front(fake()) as front:
        port = int(front.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(
                b'POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{"prompt"'
            )
        assert (await front.complete([1], max_tokens=1))["usage"]["completion_tokens"] == 1
        assert "Traceback" not in front.output.getvalue()
