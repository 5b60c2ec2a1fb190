"""Lines in JSON: container runtimes, journals and clouds keep a line and what they know of it in one object.

Servers write JSON too. What is their own (an old llama.cpp's log, a request that SGLang logs) is no envelope and stays
whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from radixbench.logs.wrapper.layer import Layer, dated

_DOCKER = re.compile(r'\{"log":"([^"\\]*)\\n","stream":"std(?:out|err)","time":"([^"\\]{19,40})"\}')

_TEXTS = ("log", "MESSAGE", "textPayload", "message", "msg", "line", "@message")
_TIMES = (
    "time",
    "timestamp",
    "@timestamp",
    "ts",
    "asctime",
    "__REALTIME_TIMESTAMP",
    "date",
    "receiveTimestamp",
)
_PODS = ("pod_name", "podName", "pod", "k8s_pod_name")
_CONTAINERS = ("container_name", "containerName", "container", "CONTAINER_NAME", "tag")
_UNITS = ("_SYSTEMD_UNIT", "SYSLOG_IDENTIFIER")
_HOST = "_HOSTNAME"
_STREAMS = ("logStream", "logStreamName")


def open_envelope(text: str) -> Layer | None:
    """The line inside a JSON object; ``None`` for a server's own JSON, a cut object, and what is none."""
    docker = _DOCKER.fullmatch(text)
    if docker is not None:
        return Layer(docker[1], "", dated(docker[2]))
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _opened(fields) if isinstance(fields, dict) and not _own(fields) else None


def _own(fields: dict[str, Any]) -> bool:
    """llama.cpp of 2024 names the function, SGLang the event."""
    return ("function" in fields and "level" in fields) or str(fields.get("event", "")).startswith("request.")


def _opened(fields: dict[str, Any]) -> Layer | None:
    payload = fields.get("jsonPayload")
    inner = payload if isinstance(payload, dict) and not _own(payload) else {}
    for place in (fields, inner):
        for key in _TEXTS:
            line = _line(place.get(key))
            if line is not None:
                times = (_time(one.get(name)) for one in (fields, inner) for name in _TIMES)
                stamp = next((time for time in times if time is not None), None)
                return Layer(
                    line.removesuffix("\n").removesuffix("\r"),
                    _source(fields),
                    stamp,
                    _cut(fields, key, line),
                )
    return None


def _line(value: object) -> str | None:
    """A text; a journal gives one with control characters as a list of bytes."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(type(byte) is int and 0 <= byte < 256 for byte in value):
        return bytes(value).decode(errors="replace")
    return None


def _cut(fields: dict[str, Any], key: str, line: str) -> bool:
    """Docker splits a line of over 16 KB; only its last piece ends in a newline. Collectors keep CRI's flag."""
    if "logtag" in fields:
        return bool(fields["logtag"] == "P")
    return (
        key == "log"
        and {"stream", "time"} <= fields.keys() <= {"log", "stream", "time", "attrs"}
        and line[-1:] != "\n"
    )


def _time(value: object) -> str | None:
    """A date, or a number since 1970 of seconds, or of milli-, micro- or nanoseconds by its size."""
    if isinstance(value, str):
        stamp = dated(value)
        if stamp is not None or not value.isdecimal():
            return stamp
        value = int(value[:20])
    if not isinstance(value, int | float) or isinstance(value, bool) or not 1e8 <= value < 1e19:
        return None
    while value >= 1e11:
        value /= 1000
    moment = datetime.fromtimestamp(value, UTC)
    return dated(f"{moment:%Y-%m-%d %H:%M:%S.%f}")


def _source(fields: dict[str, Any]) -> str:
    """The pod and container, else the host and unit of a journal, else a stream's name."""
    places = list(_places(fields))
    container = [_first(places, _PODS), _first(places, _CONTAINERS)]
    unit = [_first(places, (_HOST,)), _first(places, _UNITS)]
    return "/".join(filter(None, container)) or " ".join(filter(None, unit)) or _first(places, _STREAMS) or ""


def _places(fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Where collectors put what they know of a line's origin."""
    resource = fields.get("resource")
    labels = resource.get("labels") if isinstance(resource, dict) else None
    for place in (
        fields,
        fields.get("kubernetes"),
        labels,
        fields.get("labels"),
        fields.get("fields"),
        fields.get("attrs"),
    ):
        if isinstance(place, dict):
            yield place


def _first(places: list[dict[str, Any]], names: tuple[str, ...]) -> str | None:
    found = (place.get(name) for name in names for place in places)
    return next((value for value in found if isinstance(value, str) and value), None)
