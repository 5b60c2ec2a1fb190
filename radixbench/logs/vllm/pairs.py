"""The ``Label: value`` pairs of vLLM's periodic lines (0.2 to 0.32), whatever their order and number.

A value counts only with the unit its label has: a number without it was cut off, or belongs to another label.
A label put together from the halves of known ones is what lost columns leave; it is named and never
read as either. Labels that nobody knows yet are kept with their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_NUMBER = r"-?\d{1,18}(?:\.\d{1,18})?(?:e[+-]?\d\d)?"
_VALUE = re.compile(rf"\s?({_NUMBER}|-?nan|-?inf|n/a) ?(tokens/s|tokens|reqs|%|)", re.ASCII)
_ITEM = re.compile(r"\[?(\d\.\d{1,18}|nan)\]?", re.ASCII)
_STAGE = re.compile(r"(\d{1,18}) (waiting to start|in progress|completed waiting)", re.ASCII)
LIST_LABEL = "Per-position acceptance rate"
LIST_KEY = "per_position_acceptance"
_STAGE_LABEL = "KV fetch"
_STAGE_KEYS = {
    "waiting to start": "kv_fetch_waiting",
    "in progress": "kv_fetch_in_progress",
    "completed waiting": "kv_fetch_completed",
}
_LEAST_HEAD, _LEAST_TAIL, _LONGEST_LABEL = 4, 3, 80
_MOST_PARTS = 256


class Field(NamedTuple):
    """Where a label's value goes. ``places``: decimals of a unitless value that is complete; 0: can't be told."""

    key: str
    unit: str = ""
    places: int = 0
    extra: bool = False

    @property
    def counts(self) -> bool:
        """Things are counted: a fraction is no such value."""
        return self.unit in ("reqs", "tokens") or not (self.unit or self.places)


Fields = Mapping[str, Field]

STATS: Fields = {
    "Avg prompt throughput": Field("prompt_throughput", "tokens/s"),
    "Avg generation throughput": Field("gen_throughput", "tokens/s"),
    "Running": Field("running_req", "reqs"),
    "Swapped": Field("swapped_req", "reqs"),
    "Pending": Field("queue_req", "reqs"),
    "Waiting": Field("queue_req", "reqs"),
    "Deferred": Field("deferred_req", "reqs", extra=True),
    "Preemptions": Field("preemptions", extra=True),
    "Corrupted": Field("corrupted_req", "reqs", extra=True),
    "GPU KV cache usage": Field("gpu_kv_usage_pct", "%"),
    "CPU KV cache usage": Field("cpu_kv_usage_pct", "%"),
    "XPU KV cache usage": Field("xpu_kv_usage_pct", "%", extra=True),
    "TPU KV cache usage": Field("tpu_kv_usage_pct", "%", extra=True),
    "Prefix cache hit rate": Field("prefix_hit_pct", "%"),
    "External prefix cache hit rate": Field("external_prefix_hit_pct", "%"),
    "MM cache hit rate": Field("mm_hit_pct", "%"),
}

SPEC: Fields = {
    "Draft acceptance rate": Field("draft_acceptance_pct", "%", places=3),
    "Avg Draft acceptance rate": Field("draft_acceptance_pct", "%", places=3),
    "System efficiency": Field("system_efficiency", places=3),
    "Number of speculative tokens": Field("speculative_tokens", extra=True),
    "Number of accepted tokens": Field("accepted_tokens"),
    "Number of draft tokens": Field("drafted_tokens"),
    "Number of emitted tokens": Field("emitted_tokens"),
    "Mean acceptance length": Field("mean_acceptance_len", places=2),
    "Accepted throughput": Field("accepted_throughput", "tokens/s"),
    "Drafted throughput": Field("drafted_throughput", "tokens/s"),
    "Draft throughput": Field("drafted_throughput", "tokens/s"),
    "Accepted": Field("accepted_tokens", "tokens"),
    "Drafted": Field("drafted_tokens", "tokens"),
    LIST_LABEL: Field(LIST_KEY),
}

PREFIX_CACHE: Fields = {
    "GPU": Field("prefix_hit_gpu_pct", "%"),
    "CPU": Field("prefix_hit_cpu_pct", "%"),
}


@dataclass(slots=True)
class Pairs:
    """What the pairs say; ``flawed`` if anything is cut, damaged or said twice, ``damaged_key`` a label that is no more one."""

    values: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    flawed: bool = False
    damaged_key: str | None = None

    @property
    def known(self) -> int:
        """Values under labels that vLLM prints."""
        return len(self.values)


def read_pairs(text: str, fields: Fields) -> Pairs:
    """Every pair of ``text``, a message without its head."""
    pairs = Pairs()
    body = text.rstrip()
    closed = body.endswith((".", ","))
    parts = body.rstrip(".,").split(", ", _MOST_PARTS)
    if len(parts) > _MOST_PARTS:
        parts[_MOST_PARTS:] = [""]
        closed = False
    odd: list[str] = []
    open_list: list[Any] | None = None
    for part in parts:
        label, colon, raw = part.partition(": ")
        known = fields.get(label)
        if not colon:
            _continue(pairs, part, open_list)
            continue
        if known is not None and known.key == LIST_KEY:
            open_list = pairs.values.setdefault(LIST_KEY, [])
            _continue(pairs, raw, open_list)
            continue
        if known is not None:
            _take(pairs, known, raw)
        else:
            odd += _take_odd(pairs, label, raw)
        open_list = None
    if not closed:
        _drop_cut(pairs, parts[-1], fields, open_list)
    if odd:
        _name_damage(pairs, odd, fields)
    return pairs


def number(text: str) -> int | float:
    """Digits as printed: whole ones stay whole."""
    return float(text) if "." in text or "e" in text else int(text)


def as_percent(fraction: str) -> float:
    """Acceptance rates were fractions up to 0.8.2; decimals as printed, no binary dust."""
    return round(float(fraction) * 100, 6)


def read_value(raw: str) -> int | float | str | None:
    """A number with or without its unit, ``None`` for ``nan``; other text as it is."""
    match = _VALUE.fullmatch(raw)
    if match is None:
        return raw
    return None if match[1][-1] in "nfa" else number(match[1])


def _take(pairs: Pairs, known: Field, raw: str) -> None:
    match = _VALUE.fullmatch(raw)
    target = pairs.extra if known.extra else pairs.values
    if match is None or known.key in target:
        pairs.flawed = True
        return
    digits, unit = match.groups()
    if digits[-1] in "nfa":
        target[known.key] = None
    elif unit == known.unit and not (known.counts and not digits.removeprefix("-").isdigit()):
        target[known.key] = number(digits)
    elif known.places == 3 and not unit:
        target[known.key] = as_percent(digits)
    else:
        pairs.flawed = True


def _take_odd(pairs: Pairs, label: str, raw: str) -> list[str]:
    """A label that isn't in the table: a new one, or what is left of one; given back if it may be that."""
    stage = _STAGE.fullmatch(raw)
    if label == _STAGE_LABEL and stage is not None:
        pairs.extra[_STAGE_KEYS[stage[2]]] = int(stage[1])
        return []
    pairs.extra[label] = read_value(raw)
    return [label]


def _name_damage(pairs: Pairs, odd: list[str], fields: Fields) -> None:
    """Only labels that the statement lacks can have lost a part to an odd one."""
    lacking = [
        label
        for label, known in fields.items()
        if known.key not in pairs.values and known.key not in pairs.extra
    ]
    damaged = next((label for label in odd if is_splice(label, lacking)), None)
    if damaged is not None:
        pairs.damaged_key = damaged
        pairs.flawed = True


def _continue(pairs: Pairs, part: str, open_list: list[Any] | None) -> None:
    """A piece without a label of its own belongs to the one before it."""
    item = _ITEM.fullmatch(part)
    stage = _STAGE.fullmatch(part)
    if open_list is not None and item is not None:
        open_list.append(None if item[1] == "nan" else float(item[1]))
    elif stage is not None:
        pairs.extra[_STAGE_KEYS[stage[2]]] = int(stage[1])
    else:
        pairs.flawed = True


def _drop_cut(pairs: Pairs, part: str, fields: Fields, open_list: list[Any] | None) -> None:
    """Forget a last value that may have had more digits: nothing after it says that it is complete."""
    label, colon, raw = part.partition(": ")
    known = fields.get(label)
    if open_list is not None:
        if len((raw or part).strip("[]")) < len("0.000"):
            del pairs.values[LIST_KEY]
            pairs.flawed = True
    elif known is not None and colon and not _is_whole(raw, known):
        (pairs.extra if known.extra else pairs.values).pop(known.key, None)
        pairs.flawed = True


def _is_whole(raw: str, known: Field) -> bool:
    if known.unit and raw.endswith(known.unit):
        return True
    return 0 < known.places <= len(raw.partition(".")[2])


def is_splice(label: str, known: Sequence[str]) -> bool:
    """The tail of a known label, or the head of one and the tail of another (or of the same, its middle lost)."""
    if len(label) > _LONGEST_LABEL:
        return False
    if any(name.endswith(label) for name in known):
        return True
    return any(
        any(name.startswith(label[:cut]) for name in known)
        and any(name.endswith(label[cut:]) for name in known)
        for cut in range(_LEAST_HEAD, len(label) - _LEAST_TAIL + 1)
    )
