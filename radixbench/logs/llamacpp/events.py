"""llama.cpp's lines about the server: version, slots, readiness, the host's prompt cache; and structured lines.

A structured line, a JSON object or ``key=value`` pairs behind the message (2024-03 to 2024-09, ik_llama), names slot and
task ``id_slot``/``id_task``, before 2024-04 ``slot_id``/``task_id``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from radixbench.logs.llamacpp.timing import NUMBER, Said, number, read_timing

_FUNCTION = r"(?:srv\s+)?(?:[\w()~]{1,60}:\s+)?"
_CACHE_STATE = re.compile(
    rf"{_FUNCTION}- cache state: (\d{{1,18}}) prompts,(?: \(\+(\d{{1,18}}) pending\),)?"
    rf"(?: ({NUMBER}) MiB(?: \(limits: ({NUMBER}) MiB(?:, (\d{{1,18}}) tokens(?:, (\d{{1,18}}) est\))?)?)?)?",
    re.ASCII,
)
_EVICTED = re.compile(
    rf"{_FUNCTION}- (.{{1,80}}?), removing oldest entry \(size =\s*({NUMBER}) MiB\)", re.ASCII
)
_CACHE = re.compile(
    rf"{_FUNCTION}prompt cache is (enabled|disabled)(?:, size limit: (\d{{1,12}}) MiB)?", re.ASCII
)
_SLOTS = re.compile(
    rf"{_FUNCTION}initializing(?: slots)?, n_slots = (\d{{1,10}})"
    r"(?:, n_ctx_slot = (\d{1,18}))?(?:, kv_unified = '(\w{1,10})')?",
    re.ASCII,
)
_READY = re.compile(rf"{_FUNCTION}(?:server is )?listening on (https?://[^\s,]{{1,200}})", re.ASCII)
_BUILD = re.compile(
    rf"{_FUNCTION}build(?:_info)?(?::| =)? b?(\d{{1,10}})(?: \(|-)([0-9a-f]{{6,40}})\b", re.ASCII
)
_IK_CACHE = "======== Prompt cache: "
_IK_PAIR = re.compile(rf"([a-z_][\w ]{{0,60}}): ({NUMBER})(?=,|\s*$)", re.ASCII)
_IK_LAST = "cache_ram_similarity"

_SLOT_NAMES, _TASK_NAMES = ("id_slot", "slot_id"), ("id_task", "task_id")
_SHIFT_EXTRA = ("n_keep", "n_left", "n_discard", "n_ctx", "n_past", "n_cache_tokens")


def read_server(message: str) -> Said | None:
    """A line about the server; ``None`` for all others."""
    if message.startswith(_IK_CACHE):
        return _ik_cache(message)
    for reader in (_cache_state, _evicted, _cache, _slots, _ready, _build):
        said = reader(message)
        if said is not None:
            return said
    return None


def _cache_state(message: str) -> Said | None:
    match = _CACHE_STATE.match(message)
    if match is None:
        return None
    prompts, pending, mib, limit, tokens, estimate = match.groups()
    values = _printed(prompts=prompts, mib=mib, limit_mib=limit, limit_tokens=tokens)
    if estimate is None:
        values["truncated"] = True
    return Said("prompt_cache_state", values, _printed(estimated_tokens=estimate, pending=pending))


def _evicted(message: str) -> Said | None:
    match = _EVICTED.match(message)
    if match is None:
        return None
    return _event("prompt_cache_evict", {"mib": number(match[2]), "reason": match[1]})


def _cache(message: str) -> Said | None:
    match = _CACHE.match(message)
    if match is None:
        return None
    return _event("prompt_cache", {"enabled": match[1] == "enabled", **_printed(limit_mib=match[2])})


def _slots(message: str) -> Said | None:
    match = _SLOTS.match(message)
    if match is None:
        return None
    unified = {} if match[3] is None else {"kv_unified": match[3] == "true"}
    return _event("slots", {**_printed(n_slots=match[1], n_ctx_slot=match[2]), **unified})


def _ready(message: str) -> Said | None:
    match = _READY.match(message)
    return None if match is None else _event("ready", {"url": match[1]})


def _build(message: str) -> Said | None:
    match = _BUILD.match(message)
    return None if match is None else _event("version", {"build": int(match[1]), "commit": match[2]})


def _ik_cache(message: str) -> Said:
    pairs = _IK_PAIR.findall(message, len(_IK_CACHE))
    extra = _printed(**{name.replace(" ", "_"): raw for name, raw in pairs})
    whole = _IK_LAST in extra
    if not whole and message.rstrip()[-1:].isdigit() and extra:
        extra.popitem()  # a number that a cut line ends in may lack digits
    return Said("other", {} if whole else {"truncated": True}, extra)


def read_structured(message: str, fields: Mapping[str, Any]) -> Said | None:
    """A JSON or ``key=value`` line: its words say what it is, its fields how much."""
    said = read_timing(message, fields)
    if said is None:
        reader = _STRUCTURED.get(message)
        said = None if reader is None else reader(fields)
    if said is None:
        return None
    return said._replace(slot=_whole(fields, *_SLOT_NAMES), task=_whole(fields, *_TASK_NAMES))


def _removed(fields: Mapping[str, Any]) -> Said:
    return _cut_without("kv_rm", {"p0": _whole(fields, "p0")})


def _released(fields: Mapping[str, Any]) -> Said:
    truncated = fields.get("truncated")
    found = {"n_past": _whole(fields, "n_past"), "n_cache_tokens": _whole(fields, "n_cache_tokens")}
    values = {key: value for key, value in found.items() if value is not None}
    return _cut_without(
        "release", {**values, "truncated_context": truncated if isinstance(truncated, bool) else None}
    )


def _progressed(fields: Mapping[str, Any]) -> Said:
    to_process = _whole(fields, "n_prompt_tokens_processed")
    if to_process == 0:  # later versions count from here on; none is left to process in no case
        return Said("prompt_split", {"cached_n": _whole(fields, "n_past")}, {"n_prompt_tokens_processed": 0})
    return _cut_without("prompt_split", {"cached_n": _whole(fields, "n_past"), "to_process_n": to_process})


def _shifted(fields: Mapping[str, Any]) -> Said:
    extra = {name: _whole(fields, name) for name in _SHIFT_EXTRA if name in fields}
    return _event("context_shift", extra)


def _listening(fields: Mapping[str, Any]) -> Said:
    return _event("ready", {name: fields[name] for name in ("hostname", "port") if name in fields})


def _built(fields: Mapping[str, Any]) -> Said:
    return _event("version", {name: fields[name] for name in ("build", "commit") if name in fields})


def _initialised(fields: Mapping[str, Any]) -> Said:
    return _event("slots", {name: fields[name] for name in ("n_slots",) if name in fields})


_STRUCTURED = {
    "kv cache rm [p0, end)": _removed,
    "slot released": _released,
    "slot progression": _progressed,
    "slot context shift": _shifted,
    "HTTP server listening": _listening,
    "build info": _built,
    "initializing slots": _initialised,
}


def _cut_without(kind: str, values: dict[str, Any]) -> Said:
    """A statement that lacks one of its figures is cut."""
    found = {key: value for key, value in values.items() if value is not None}
    return Said(kind, found if len(found) == len(values) else {**found, "truncated": True}, {})


def _whole(fields: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def _event(name: str, extra: dict[str, Any]) -> Said:
    return Said("other", {"event": name}, extra)


def _printed(**found: str | None) -> dict[str, Any]:
    """What was printed, as numbers."""
    return {
        key: int(raw) if raw.removeprefix("-").isdigit() else number(raw)
        for key, raw in found.items()
        if raw is not None
    }
