"""What vLLM tells of its settings, taken apart: its configuration comes as one printed line.

With ``VLLM_SERVER_DEV_MODE=1`` ``/server_info`` holds ``vllm_config``, a Python print of everything (0.32.0); else the
labels of ``vllm:cache_config_info`` have to do, which are always there. Only plain settings are kept: objects
within the line are its own business, and would make any two servers differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Plain = str | int | float | bool | None

_OPEN, _CLOSE = "([{<", ")]}>"
_QUOTES = "'\""
_WORDS: Mapping[str, Plain] = {"True": True, "False": False, "None": None}
_LABELS = ("enable_prefix_caching", "prefix_caching_hash_algo", "cache_dtype", "kv_offloading_size")
_UNSTATED = "auto"


def settings(info: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Plain]:
    """The plain settings of ``info`` (``/server_info``) and of the metric's ``labels``, under vLLM's names.

    ``device`` and ``dtype`` are there as well where the line tells them, the latter without its module.
    """
    found: dict[str, Plain] = {name: _plain(labels[name]) for name in _LABELS if name in labels}
    line = info.get("vllm_config")
    if not isinstance(line, str):
        return found
    found.update((name, _plain(value)) for name, value in _pairs(line) if not _is_object(value))
    for ours, theirs in (("device", "device_config"), ("dtype", "dtype")):
        value = found.get(theirs)
        if isinstance(value, str) and value != _UNSTATED:
            found[ours] = value.rpartition(".")[2]
    return found


def _pairs(line: str) -> Iterator[tuple[str, str]]:
    """``name=value`` between the commas that stand in no bracket and no quotes."""
    for part in _parts(line):
        name, equals, value = part.strip().partition("=")
        if equals and name.isidentifier():
            yield name, value


def _parts(line: str) -> Iterator[str]:
    start = depth = 0
    quote = ""
    for place, char in enumerate(line):
        if quote:
            quote = "" if char == quote and line[place - 1] != "\\" else quote
        elif char in _QUOTES:
            quote = char
        elif char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth = max(depth - 1, 0)
        elif char == "," and depth == 0:
            yield line[start:place]
            start = place + 1
    yield line[start:]


def _is_object(value: str) -> bool:
    """Whether a printed value is more than a number or a word."""
    return value[:1] not in _QUOTES and any(bracket in value for bracket in _OPEN)


def _plain(value: str) -> Plain:
    """A printed word as what it was; what isn't known as something else stays text."""
    if value in _WORDS:
        return _WORDS[value]
    if len(value) > 1 and value[0] == value[-1] and value[0] in _QUOTES:
        return value[1:-1]
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value
