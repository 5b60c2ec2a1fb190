"""Why a file is no capture, in one line: where in it, what stands there, and what to do.

Paths are those of the JSON document (``runs[0].requests[3].cached_tokens``), without the names that decoding
gives to types on its way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import isfinite
from pathlib import Path

from pydantic_core import ErrorDetails, ValidationError, from_json

from radixbench.errors import CaptureError
from radixbench.scenario.check import KeyPath, key_text

BY_HAND = "captures are evidence and not edited by hand: restore the file or measure again"
CUT_OFF = "copy or fetch it again"


def unreadable(data: bytes, reason: str, path: Path) -> CaptureError:
    """Why this is not JSON: numbers that JSON doesn't have, a file cut off, or something else altogether."""
    if not data.strip():
        return CaptureError(f"{path}: the file is empty", remedy=CUT_OFF)
    try:
        where = _not_finite(from_json(data, allow_inf_nan=True))
    except ValueError:
        where = None
    if where is not None:
        return CaptureError(f"{path}: {key_text(where)}: must be a finite number", remedy=BY_HAND)
    if reason.startswith("EOF"):
        return CaptureError(f"{path}: is cut off: {reason}", remedy=CUT_OFF)
    return CaptureError(
        f"{path}: is not JSON: {reason}",
        remedy="give a capture that `radixbench sweep` or `radixbench run` wrote",
    )


def refused(error: ValidationError, document: object, path: Path) -> CaptureError:
    """The first finding of strict decoding, an unknown key before what follows from it."""
    found = error.errors(include_url=False)
    first = min(found, key=lambda item: item["type"] != "unexpected_keyword_argument")
    where = key_text(_within(document, first["loc"][1:]))
    text = {
        "unexpected_keyword_argument": "unknown key",
        "missing": "this key is missing",
        "dataclass_type": "must be an object",
        "tuple_type": "must be a list",
    }.get(first["type"]) or first["msg"].replace("Input should be", "must be")
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return CaptureError(f"{path}: {where}: {text}{_seen(first)}{more}", remedy=BY_HAND)


def _not_finite(value: object, path: KeyPath = ()) -> KeyPath | None:
    """Where a number in plain data is NaN or infinite."""
    if isinstance(value, float):
        return None if isfinite(value) else path
    items: Iterable[tuple[str | int, object]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    found = (_not_finite(item, (*path, key)) for key, item in items)
    return next((where for where in found if where is not None), None)


def _seen(found: ErrorDetails) -> str:
    if found["type"] in ("unexpected_keyword_argument", "missing"):
        return ""
    text = json.dumps(found["input"], default=repr)
    return f", not {text[:40]}{'…' if len(text) > 40 else ''}"


def _within(document: object, path: KeyPath) -> KeyPath:
    """The part of a finding's path that leads through the document, without pydantic's names of types."""
    value = document
    for depth, part in enumerate(path):
        if isinstance(value, dict):
            value = value.get(str(part))
        elif isinstance(value, list) and isinstance(part, int):
            value = value[part]
        else:
            return path[:depth]
    return path
