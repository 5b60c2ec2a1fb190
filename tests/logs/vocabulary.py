"""The kinds and keys that a record may carry (``golden/logs/KEYS.md``), and what a value under a key may be."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from radixbench.logs.record import Dialect, LogRecord

GOLDEN = Path(__file__).parents[1] / "golden" / "logs"

_TEXTS = frozenset(
    {
        "timestamp",
        "process",
        "event",
        "damaged_key",
        "program",
        "uptime",
        "method",
        "ray_actor",
        "graph_backend",
    }
)
_TRUTHS = frozenset({"truncated", "truncated_context", "cuda_graph"})
_WHOLE = re.compile(
    r"(?:.*_(?:req|tokens|n|rank)|pid|engine|slot|task|epoch|p0|n_past|n_ctx_slot|n_decoded|pos_min|n_swa|prompts)"
)


def _vocabulary() -> dict[str, dict[str, frozenset[str]]]:
    kinds: dict[str, dict[str, frozenset[str]]] = {}
    dialect = ""
    for line in (GOLDEN / "KEYS.md").read_text().splitlines():
        if line.startswith("## "):
            dialect = line.removeprefix("## ")
            kinds[dialect] = {}
        elif line.startswith("- "):
            kind, *keys = re.findall(r"`(\w+)`", line)
            kinds[dialect][kind] = frozenset(keys)
    return kinds


VOCABULARY = _vocabulary()
_ANY_OTHER = frozenset().union(*(kinds["other"] for kinds in VOCABULARY.values()))


def samples(name: str) -> list[dict[str, Any]]:
    """Lines of public logs with their right readings."""
    return [json.loads(line) for line in (GOLDEN / f"{name}.jsonl").read_text().splitlines()]


def said(record: LogRecord) -> str:
    """A record as a sample states it; as text, where 0 is neither 0.0 nor false."""
    return json.dumps({"kind": record.kind, **record.values}, sort_keys=True)


def expected(sample: dict[str, Any]) -> str:
    """A sample's right reading, likewise."""
    return json.dumps(sample["expect"], sort_keys=True)


def read(dialect: Dialect, text: str, first_no: int = 1) -> list[LogRecord]:
    """The records of physical lines of which each is put to one dialect."""
    records: list[LogRecord] = []
    for line_no, line in enumerate(text.split("\n"), first_no):
        if dialect.open:
            parsed = dialect.extend(line_no, line)
            records += parsed.records
            if parsed.kind is not None:
                continue
        if any(marker in line for marker in dialect.markers):
            records += dialect.parse(line_no, line).records
    return [*records, *dialect.close()]


def check(record: LogRecord) -> None:
    """Its keys are those of its kind, and their values what such values are."""
    keys = VOCABULARY[record.dialect][record.kind] | {"truncated"}
    if record.kind == "other":
        keys |= _ANY_OTHER
    assert record.values.keys() <= keys
    assert not record.values.keys() & record.extra.keys()
    for key, value in record.values.items():
        assert _fits(key, value), (key, value)
    json.dumps(record.document(), allow_nan=False)


def _fits(key: str, value: Any) -> bool:
    if key in _TEXTS:
        return isinstance(value, str)
    if key in _TRUTHS:
        return isinstance(value, bool)
    if key == "per_position_acceptance":
        return isinstance(value, list) and all(_fits("", item) for item in value)
    if value is None:
        return True
    if _WHOLE.fullmatch(key):
        return type(value) is int
    return type(value) in (int, float) and math.isfinite(value)
