"""Captures on disk: strict when read, atomic when written, compressed by file name.

Unknown keys, wrong types, NaN and records that contradict each other are refused in one line with the
JSON path (``runs[0].requests[3].cached_tokens``). Writing streams, and so does reading what we wrote: a file
in another layout is decoded in one piece, which takes about five times the memory of its text.
"""

from __future__ import annotations

import gc
import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, cast

import zstandard
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import SchemaValidator, from_json
from pydantic_core.core_schema import no_info_after_validator_function

from radixbench.capture import tables
from radixbench.capture.encode import encode
from radixbench.capture.integrity import first_flaw
from radixbench.capture.model import SCHEMA, Capture, PrefixNode
from radixbench.capture.output import check_writable, expected_bytes, replacing
from radixbench.capture.refusal import BY_HAND, CUT_OFF, refused, unreadable
from radixbench.capture.upgrade import upgrade
from radixbench.errors import CaptureError
from radixbench.records import FinishRecord, GpuSample, RequestRecord, StepRecord
from radixbench.units import Bytes

__all__ = ["check_writable", "expected_bytes", "json_schema", "load", "save"]

_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_GZIP_LEVEL = 6
_ZSTD_LEVEL = 6
_BLOCK: Bytes = 1 << 20
_Kept = Mapping[str, Callable[[Any], Any]]
_DAMAGED = (EOFError, OSError, zlib.error, zstandard.ZstdError)
_RECORDS = {
    "requests": RequestRecord,
    "steps": StepRecord,
    "finishes": FinishRecord,
    "gpu": GpuSample,
    tables.NODES: PrefixNode,
}


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
    with _uncollected():
        capture = _by_tables(path) or _in_one_piece(path)
    flaw = first_flaw(capture)
    if flaw is not None:
        raise CaptureError(f"{path}: {flaw.where}: {flaw.text}", remedy=BY_HAND)
    return capture


def json_schema() -> dict[str, Any]:
    """The JSON schema of a capture, as ``schema.json`` beside this file holds it."""
    schema = _adapter().json_schema()
    definitions = _untitled(schema["$defs"])
    definitions["Capture"]["required"].insert(0, "schema")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA}
    return head | {"$ref": "#/$defs/Capture", "$defs": definitions}


@contextmanager
def _uncollected() -> Iterator[None]:
    """Decoding makes millions of objects and no cycle among them: the collector would only walk them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _by_tables(path: Path) -> Capture | None:
    """A capture of the present schema in the layout it is written in; ``None`` for whatever else it may be."""
    try:
        with _opened(path) as stream:
            frame = tables.split(stream, _decoders())
        document = from_json(frame.text, allow_inf_nan=False, cache_strings="keys")
        if document["schema"] != SCHEMA:
            return None
        names = tables.places(document)
        if names is None or [name for held in names for name in held] != [t.name for t in frame.tables]:
            return None
        capture: Capture = _validator().validate_python((document,))[0]
    except (ValueError, LookupError, TypeError, AttributeError, *_DAMAGED):
        return None  # whoever reads it in one piece says what is wrong
    return replace(capture, runs=tables.filled(capture.runs, names, frame.tables))


def _in_one_piece(path: Path) -> Capture:
    data = _read(path)
    try:
        # Pydantic's parser needs no tree of its own beside the plain data, as faster ones do.
        plain = from_json(data, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        raise unreadable(data, str(error), path) from None
    document = upgrade(plain, str(path))
    try:
        capture: Capture = _validator().validate_python((document,))[0]
    except ValidationError as error:
        raise refused(error, document, path) from None
    return capture


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
    try:
        file = path.open("rb")
    except OSError as error:
        raise CaptureError(f"{path}: can't be read: {error.strerror}", remedy="name a capture file") from None
    file.close()
    try:
        with _opened(path) as stream:
            return stream.read()
    except _DAMAGED as error:
        raise CaptureError(f"{path}: is damaged or cut off: {error}", remedy=CUT_OFF) from None


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file's text, decompressed by what the file is rather than by what it is called."""
    with path.open("rb") as file:
        magic = file.peek(4)
        if magic.startswith(_GZIP_MAGIC):
            with gzip.GzipFile(fileobj=file) as packed:
                yield io.BufferedReader(cast("io.RawIOBase", packed), _BLOCK)
        elif magic.startswith(_ZSTD_MAGIC):
            yield io.BufferedReader(_Frame(file), _BLOCK)
        else:
            yield file


class _Frame(io.RawIOBase):
    """The text of one whole zstd frame; the library itself is content with part of one."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._text = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        """Fill ``target`` as far as the next piece of the frame goes; raises ``EOFError`` for part of a frame."""
        while not self._text:
            data = self._file.read(_BLOCK)
            if not data:
                if not self._frame.eof or self._frame.unused_data:
                    raise EOFError("not one whole zstd frame")
                return 0
            if self._frame.eof:
                raise EOFError("not one whole zstd frame")
            self._text = memoryview(self._frame.decompress(data))
        size = min(len(target), len(self._text))
        target[:size] = self._text[:size]
        self._text = self._text[size:]
        return size


@cache
def _adapter() -> TypeAdapter[tuple[Capture]]:
    """A configuration spreads from a tuple to the dataclasses in it, so that records need to know none."""
    return TypeAdapter(tuple[Capture], config=_STRICT)


@cache
def _validator() -> SchemaValidator:
    return SchemaValidator(_shaped_as_json(_adapter().core_schema))


class _Same(dict[int, int]):
    """For each number the same object, whenever it is asked for."""

    def __missing__(self, number: int) -> int:
        self[number] = number
        return number


def _decoders() -> dict[str, tables.Decode]:
    """For each table what makes records of its plain data.

    Token ids and chunk sizes repeat without end: what one reading decodes holds each of them once.
    """
    ids = _Same()
    sizes: dict[tuple[int, ...], tuple[int, ...]] = {}
    kept = {
        "output_ids": lambda found: found and tuple(map(ids.__getitem__, found)),
        "chunk_tokens": lambda found: sizes.setdefault(found, found),
    }
    return {name: _decoder(kind, kept) for name, kind in _RECORDS.items()}


def _decoder(kind: type, kept: _Kept) -> tables.Decode:
    return SchemaValidator(_shaped_as_json(_records_adapter(kind).core_schema, kept)).validate_python


@cache
def _records_adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(tuple[kind, ...], config=_STRICT)  # type: ignore[valid-type]  # a type at run time only


def _shaped_as_json(schema: Any, kept: _Kept | None = None) -> Any:
    """Strict about values, while a list may stand for a tuple and an object for a dataclass, as in JSON.

    Pydantic's own strict JSON mode would do, but takes several times the memory on a large file. ``kept`` says
    what becomes of a field's value once it was found right.
    """
    if isinstance(schema, dict):
        shaped = {key: _shaped_as_json(value, kept) for key, value in schema.items()}
        if kept and shaped.get("type") == "dataclass-field" and shaped["name"] in kept:
            around = shaped["schema"] if shaped["schema"]["type"] == "default" else shaped
            around["schema"] = no_info_after_validator_function(kept[shaped["name"]], around["schema"])
        return shaped | {"strict": False} if schema.get("type") in ("tuple", "dataclass") else shaped
    if isinstance(schema, (list, tuple)):
        return type(schema)(_shaped_as_json(item, kept) for item in schema)
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
