"""One row of a trace without text: Mooncake's and Bailian's keys, read strictly.

Mooncake: ``timestamp`` in milliseconds, blocks of 512 tokens. Bailian: ``timestamp`` in seconds, blocks of 16, with
``chat_id`` and ``parent_chat_id`` (-1: none). In both a prompt of n tokens has exactly ceil(n / block) ids, the
last block may be partial. A row that breaks a rule would replay as other traffic than was recorded, so it is
refused rather than mended.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from radixbench.workloads.replay import TraceRequest

TraceFormat = Literal["mooncake", "bailian"]

BLOCK_SIZE: Final[dict[TraceFormat, int]] = {"mooncake": 512, "bailian": 16}
_PER_SECOND: Final[dict[TraceFormat, float]] = {"mooncake": 1000.0, "bailian": 1.0}
_HEX_ID: Final = 16
_MOST_TOKENS: Final = 10**9
_LATEST: Final = 10**15
"""Beyond any length and any time, milliseconds since 1970 included, that a trace has recorded."""


class RowError(ValueError):
    """What is wrong with one row, and what to do about it."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class TraceRow:
    """A request as its row tells it, with the kind of input it names (``None``: it names none)."""

    request: TraceRequest
    kind: str | None


def told_format(row: Mapping[str, Any]) -> TraceFormat:
    """Which of the two a row is of: only Bailian names chats."""
    return "bailian" if "chat_id" in row or "parent_chat_id" in row else "mooncake"


def read_row(row: object, format_: TraceFormat, block_size: int) -> TraceRow:
    """One decoded line as a request. Raises ``RowError``."""
    if not isinstance(row, dict):
        raise RowError("is no JSON object", "give one request per line")
    input_len = _count(row, "input_length", 1)
    ids = _hash_ids(row)
    blocks = -(-input_len // block_size)
    if len(ids) != blocks:
        raise RowError(
            f"{input_len} tokens are {blocks} blocks of {block_size}, but hash_ids holds {len(ids)}",
            _remedy(input_len, len(ids), block_size),
        )
    if len(set(ids)) < len(ids):
        raise RowError("hash_ids repeats an id", "an id stands for a block and all before it")
    bailian = format_ == "bailian"
    request = TraceRequest(
        at_s=_time(row) / _PER_SECOND[format_],
        input_len=input_len,
        output_len=_count(row, "output_length", 0),
        hash_ids=ids,
        chat=_name(row.get("chat_id")) if bailian else _name(row.get("session_id")),
        parent=_name(row.get("parent_chat_id")) if bailian else None,
    )
    kind = row.get("type")
    return TraceRow(request, kind if isinstance(kind, str) else None)


def _remedy(input_len: int, ids: int, block_size: int) -> str:
    if input_len % block_size and ids == input_len // block_size:
        return "its writer left out the partial last block: give it an id of its own"
    sizes = (16, 32, 64, 128, 256, 512, 1024)
    fitting = [str(size) for size in sizes if ids and -(-input_len // size) == ids]
    hint = f"; {' or '.join(fitting)} would fit" if fitting else ""
    return f"correct the row, or give the trace's own block size{hint}"


def _field(row: Mapping[str, Any], key: str) -> Any:
    if row.get(key) is None:
        raise RowError(f"has no {key}", "timestamp, input_length, output_length and hash_ids are needed")
    return row[key]


def _count(row: Mapping[str, Any], key: str, least: int) -> int:
    value = _field(row, key)
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not least <= value <= _MOST_TOKENS:
        raise RowError(f"{key} is {value!r}", f"it must be a whole number from {least} to {_MOST_TOKENS:,}")
    return value


def _time(row: Mapping[str, Any]) -> float:
    value = _field(row, "timestamp")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LATEST:
        raise RowError(f"timestamp is {value!r}", f"it must be a number from 0 to {_LATEST:,}")
    return float(value)


def _name(value: object) -> str | None:
    """A conversation's name; Bailian writes -1 for none."""
    return None if value is None or value == -1 else str(value)


def _hash_ids(row: Mapping[str, Any]) -> tuple[int, ...]:
    ids = _field(row, "hash_ids")
    if not isinstance(ids, list):
        raise RowError(f"hash_ids is {type(ids).__name__}, no list", "give one id per block")
    return tuple(one if type(one) is int else _number(one) for one in ids)


def _number(value: object) -> int:
    """Ids are numbers for everyone else; 16 hex digits are one, and any other text has a hash."""
    if not isinstance(value, str):
        raise RowError(f"hash_ids holds {value!r}", "ids are whole numbers or text")
    if len(value) == _HEX_ID:
        try:
            return int(value, 16)
        except ValueError:
            pass
    return int.from_bytes(hashlib.sha256(value.encode(errors="surrogatepass")).digest()[:8])
