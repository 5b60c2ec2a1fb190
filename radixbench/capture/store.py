"""Captures on disk: strict when read, atomic when written, compressed by file name.

Unknown keys, wrong types, NaN and records that contradict each other are refused in one line with the
JSON path (``runs[0].requests[3].cached_tokens``). Writing streams; reading takes about five times the
memory of the file's text.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, cast

import zstandard
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, SchemaValidator, from_json

from radixbench.capture.encode import encode
from radixbench.capture.integrity import first_flaw
from radixbench.capture.model import SCHEMA, Capture
from radixbench.capture.output import check_writable, expected_bytes, replacing
from radixbench.capture.upgrade import upgrade
from radixbench.errors import CaptureError
from radixbench.scenario.check import KeyPath, key_text

__all__ = ["check_writable", "expected_bytes", "json_schema", "load", "save"]

_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_GZIP_LEVEL = 6
_ZSTD_LEVEL = 6


def save(capture: Capture, path: Path) -> None:
    """Write the capture to ``path`` in one piece, replacing what an earlier ``save`` of it left.

    Whether the path may be written at all is for ``check_writable`` to say, before a run. Raises
    ``OutputError``; whatever stood at ``path`` is then still whole.
    """
    with replacing(path) as file, _compressed(file, path.name) as stream:
        for piece in encode(capture):
            stream.write(piece)


def load(path: Path) -> Capture:
    """Read a capture of any released schema; raises ``CaptureError`` for anything else."""
    document = upgrade(_parse(_read(path), path), str(path))
    try:
        capture: Capture = _validator().validate_python((document,))[0]
    except ValidationError as error:
        raise _refusal(error, document, path) from None
    flaw = first_flaw(capture)
    if flaw is not None:
        raise CaptureError(f"{path}: {flaw.where}: {flaw.text}", remedy=_BY_HAND)
    return capture


def json_schema() -> dict[str, Any]:
    """The JSON schema of a capture, as ``schema.json`` beside this file holds it."""
    schema = _adapter().json_schema()
    definitions = _untitled(schema["$defs"])
    definitions["Capture"]["required"].insert(0, "schema")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA}
    return head | {"$ref": "#/$defs/Capture", "$defs": definitions}


_BY_HAND = "captures are evidence and not edited by hand: restore the file or measure again"
_CUT_OFF = "copy or fetch it again"


def _compressed(file: BinaryIO, name: str) -> AbstractContextManager[BinaryIO]:
    """What to write into: the file itself or a compressor in front of it, by the file's name.

    A gzip file carries neither name nor time, so that equal captures are equal files.
    """
    if name.endswith(".gz"):
        return cast("BinaryIO", gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0))
    if name.endswith(".zst"):
        return cast("BinaryIO", zstandard.ZstdCompressor(_ZSTD_LEVEL).stream_writer(file, closefd=False))
    return nullcontext(file)


def _read(path: Path) -> bytes:
    """The file's bytes, decompressed by what they are rather than by what the file is called."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CaptureError(f"{path}: can't be read: {error.strerror}", remedy="name a capture file") from None
    try:
        if data.startswith(_GZIP_MAGIC):
            return gzip.decompress(data)
        if data.startswith(_ZSTD_MAGIC):
            return _unzstd(data)
    except (EOFError, OSError, zlib.error, zstandard.ZstdError) as error:
        raise CaptureError(f"{path}: is damaged or cut off: {error}", remedy=_CUT_OFF) from None
    return data


def _unzstd(data: bytes) -> bytes:
    """One whole frame; the library itself is content with part of one."""
    frame = zstandard.ZstdDecompressor().decompressobj()
    text = frame.decompress(data)
    if not frame.eof or frame.unused_data:
        raise EOFError("not one whole zstd frame")
    return text


def _parse(data: bytes, path: Path) -> object:
    """Plain data; pydantic's parser needs no tree of its own beside it, as faster ones do."""
    try:
        return from_json(data, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        raise _unreadable(data, str(error), path) from None


def _unreadable(data: bytes, reason: str, path: Path) -> CaptureError:
    """Why this is not JSON: numbers that JSON doesn't have, a file cut off, or something else altogether."""
    if not data.strip():
        return CaptureError(f"{path}: the file is empty", remedy=_CUT_OFF)
    try:
        where = _not_finite(from_json(data, allow_inf_nan=True))
    except ValueError:
        where = None
    if where is not None:
        return CaptureError(f"{path}: {key_text(where)}: must be a finite number", remedy=_BY_HAND)
    if reason.startswith("EOF"):
        return CaptureError(f"{path}: is cut off: {reason}", remedy=_CUT_OFF)
    return CaptureError(
        f"{path}: is not JSON: {reason}",
        remedy="give a capture that `radixbench sweep` or `radixbench run` wrote",
    )


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


def _refusal(error: ValidationError, document: object, path: Path) -> CaptureError:
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
    return CaptureError(f"{path}: {where}: {text}{_seen(first)}{more}", remedy=_BY_HAND)


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


@cache
def _adapter() -> TypeAdapter[tuple[Capture]]:
    """A configuration spreads from a tuple to the dataclasses in it, so that records need to know none."""
    return TypeAdapter(tuple[Capture], config=_STRICT)


@cache
def _validator() -> SchemaValidator:
    """Strict about values, while a list may stand for a tuple and an object for a dataclass, as in JSON.

    Pydantic's own strict JSON mode would do, but takes several times the memory on a large file.
    """
    return SchemaValidator(_shaped_as_json(_adapter().core_schema))


def _shaped_as_json(schema: Any) -> Any:
    if isinstance(schema, dict):
        shaped = {key: _shaped_as_json(value) for key, value in schema.items()}
        return shaped | {"strict": False} if schema.get("type") in ("tuple", "dataclass") else shaped
    if isinstance(schema, (list, tuple)):
        return type(schema)(_shaped_as_json(item) for item in schema)
    return schema


def _untitled(schema: Any) -> Any:
    """Without the titles pydantic makes of field names, which say nothing new."""
    if isinstance(schema, dict):
        return {
            key: _untitled(value)
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str))
        }
    return [_untitled(item) for item in schema] if isinstance(schema, list) else schema
