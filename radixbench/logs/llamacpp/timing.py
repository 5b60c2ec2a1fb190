"""llama.cpp's ``… time = N ms / N tokens (…)`` and ``draft acceptance`` statements, from 2023 to 2026.

``prompt_n`` leaves cached tokens out. Numbers follow the printing machine's locale, so a comma may stand for the point. A
figure counts only with the words that follow it: what a cut line ends in may lack digits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

NUMBER = r"-?(?:\d{1,18}(?:[.,]\d{1,18})?|nan(?:\(ind\))?|inf)"
_HEAD = (
    r"(?:(llama_print_timings|llama_perf_context_print|common_perf_print|print_timings): *)?(?:generation )?"
)
_TIMING = re.compile(
    rf"\s*{_HEAD}(prompt eval|eval|total|sample) time\s+=\s*({NUMBER}) ms"
    rf"(?:\s*/\s*(\d{{1,18}}) (?:tokens|runs)(?:\s*\(\s*({NUMBER}) ms per token,\s*({NUMBER}) tokens per second\))?)?",
    re.ASCII,
)
_DRAFT = re.compile(
    rf"\s*draft acceptance(?: rate)? =\s*({NUMBER}) \(\s*(\d{{1,18}}) accepted /\s*(\d{{1,18}}) generated\)"
    rf"(?:, mean (acceptance length|len) =\s*({NUMBER}))?(?:, acceptance rate per position = \(({NUMBER}(?:, {NUMBER})*)\))?",
    re.ASCII,
)
_PROGRAMS = {
    "llama_print_timings": "main",
    "llama_perf_context_print": "llama-cli",
    "common_perf_print": "llama-cli",
}
_KINDS = {
    name: (kind, f"{stem}_ms", f"{stem}_n", f"{stem}_ms_per_token", f"{stem}_per_second")
    for name, kind, stem in (
        ("prompt eval", "prompt_eval", "prompt"),
        ("eval", "eval", "predicted"),
        ("total", "total", "total"),
        ("sample", "sample", "sample"),
    )
}
_LED = ("llama_p", "common_p", "print_timings: ")
_COUNTS = frozenset({"prompt_n", "predicted_n", "total_n", "sample_n"})
_EXACT = {
    "prompt_ms": "t_prompt_processing",
    "prompt_n": "n_prompt_tokens_processed",
    "predicted_ms": "t_token_generation",
    "predicted_n": "n_decoded",
    "total_ms": "t_total",
}
_LEAST_DIFFERENCE = 0.0051
"""The text has two decimals: an exact figure farther from it was cut off."""


class Said(NamedTuple):
    """A statement: its kind, its figures under the keys of the vocabulary, the others; whose slot and task, if told."""

    kind: str
    values: dict[str, Any]
    extra: dict[str, Any]
    slot: int | None = None
    task: int | None = None


def number(text: str) -> float | None:
    """A printed figure; ``None`` for ``nan`` and ``inf``."""
    if not text[-1].isdigit():
        return None
    return float(text.replace(",", ".") if "," in text else text)


def read_timing(text: str, fields: Mapping[str, Any] | None = None) -> Said | None:
    """One timing statement; ``fields`` of a structured line hold its figures exactly."""
    match = _TIMING.match(text)
    if match is None:
        return None
    program, name, took, count, each, rate = match.groups()
    kind, ms_key, n_key, each_key, rate_key = _KINDS[name]
    values: dict[str, Any] = {ms_key: number(took)}
    extra: dict[str, Any] = {}
    if count is not None:
        values[n_key] = int(count)
    if each is not None:
        rates = extra if kind == "sample" else values
        rates[each_key] = number(each)
        rates[rate_key] = number(rate)
    elif kind != "total" or "/" in text[match.end() : match.end() + 3]:
        values["truncated"] = True
    if program is not None and kind != "sample" and program in _PROGRAMS:
        values["program"] = _PROGRAMS[program]
    if fields is not None:
        _take_exact(values, fields)
    return Said(kind, values, extra)


def read_unled_timing(text: str) -> Said | None:
    """A timing statement of its own line. Without llama.cpp's name before it, only tokens tell it from another program's."""
    said = read_timing(text)
    if said is None or text.lstrip().startswith(_LED):
        return said
    return said if said.values.keys() & _COUNTS else None


def _take_exact(values: dict[str, Any], fields: Mapping[str, Any]) -> None:
    for key, name in _EXACT.items():
        printed, exact = values.get(key), fields.get(name)
        if printed is None or isinstance(exact, bool) or not isinstance(exact, int | float):
            continue
        if abs(exact - printed) <= _LEAST_DIFFERENCE:
            values[key] = type(printed)(exact)


def read_draft(text: str) -> Said | None:
    """How many drafted tokens were accepted."""
    match = _DRAFT.match(text)
    if match is None:
        return None
    rate, accepted, drafted, word, length, positions = match.groups()
    values: dict[str, Any] = {
        "draft_acceptance": number(rate),
        "accepted_n": int(accepted),
        "drafted_n": int(drafted),
    }
    if length is not None:
        values["mean_acceptance_len"] = number(length)
    if positions is not None:
        values["per_position_acceptance"] = [number(item) for item in positions.split(", ")]
    if text[match.end() :].strip() or (word == "acceptance length" and positions is None):
        values["truncated"] = True
    return Said("draft", values, {})
