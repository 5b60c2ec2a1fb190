"""The ``label: value`` pairs of an SGLang batch line, read whatever their order and number.

Labels change between versions and forks, so nothing here depends on a position. A piece that is no pair, or
whose value breaks off, marks the statement as damaged; so does a label put together from two
known ones, which is what a terminal capture leaves when it loses columns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from radixbench.logs.sglang.keys import GRAPH_LABELS, ODD_LABELS, SGLANG_KEYS

_PIECE = re.compile(r"\s*([^:,]*[^:,\s]): ([^,]*\[[^\]]*\]|[^,]*)\s*", re.ASCII)
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|-?nan|-?inf)(%?)", re.ASCII)
_COMMA = re.compile(r",(?![^\[]*\])", re.ASCII)
_WHOLE = re.compile(r"-?\d+\.\d\d+|.*[%a-z\]]", re.ASCII)
_TRUTH = {"True": True, "False": False}
_LEAST_HEAD, _LEAST_TAIL, _LONGEST_LABEL = 4, 6, 80
_LONGEST = 4000
"""A statement has a few hundred characters; nothing behind this many is one."""

_LONGEST_PIECE = 200
_BAD = object()


@dataclass(slots=True)
class Pairs:
    """What the pairs say. ``order`` names the pieces as printed: label, raw value; only sound ones.

    ``ends_in_value``: the text ends in the last of them, with nothing behind its value.
    """

    values: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    order: list[tuple[str, str]] = field(default_factory=list)
    damaged: bool = False
    ends_in_value: bool = False

    def drop_last_if_cut(self) -> None:
        """Forget the last number of a statement that broke off: it may have had more digits."""
        if not (self.order and self.ends_in_value):
            return
        label, raw = self.order[-1]
        whole_zero = raw == "0" and label.startswith("#")  # no longer count begins with 0
        if not whole_zero and _WHOLE.fullmatch(raw) is None:
            self.order.pop()
            self.values.pop(SGLANG_KEYS.get(label, ""), None)
            self.extra.pop(label, None)


def read_pairs(text: str) -> Pairs:
    """Every pair of ``text``, the part of a batch line after its ``batch,``."""
    pairs = Pairs()
    for piece in _COMMA.split(text[:_LONGEST]):
        pairs.ends_in_value = False
        if not piece.strip():
            continue
        match = _PIECE.fullmatch(piece) if len(piece) <= _LONGEST_PIECE else None
        value = _BAD if match is None else _take(pairs, match[1], match[2].strip())
        if value is _BAD:
            pairs.damaged = True
        else:
            assert match is not None
            pairs.order.append((match[1], match[2].strip()))
            pairs.ends_in_value = not piece[-1].isspace()
    return pairs


def _take(pairs: Pairs, label: str, raw: str) -> Any:
    """Store one pair; ``_BAD`` if the value is none, or the label is two halves."""
    value = number_or_truth(raw)
    if label in SGLANG_KEYS:
        if value is not _BAD:
            pairs.values[SGLANG_KEYS[label]] = value
        return value
    if label in GRAPH_LABELS:
        if isinstance(value, bool):
            pairs.values["cuda_graph"] = value
            pairs.values["graph_backend"] = GRAPH_LABELS[label]
            return value
        return _BAD
    if label not in ODD_LABELS and is_splice(label):
        return _BAD
    pairs.extra[label] = raw if value is _BAD else value
    return raw


def number_or_truth(raw: str) -> Any:
    """``12``, ``0.5``, ``12.5%``, ``True``; ``None`` for ``nan`` and ``inf``; ``_BAD`` for anything else."""
    if raw in _TRUTH:
        return _TRUTH[raw]
    match = _NUMBER.fullmatch(raw)
    if match is None:
        return _BAD
    digits = match[1]
    if digits[-1] in "nf":
        return None
    if "." not in digits and "e" not in digits:
        return int(digits)
    value = float(digits)
    return value if abs(value) != float("inf") else None


def is_splice(label: str) -> bool:
    """The head of one known label and the tail of another, glued together."""
    if len(label) > _LONGEST_LABEL:
        return False
    known = (*SGLANG_KEYS, *GRAPH_LABELS)
    for cut in range(_LEAST_HEAD, len(label) - _LEAST_TAIL + 1):
        head, tail = label[:cut], label[cut:]
        if any(k.startswith(head) for k in known) and any(k.endswith(tail) for k in known):
            return True
    return False
