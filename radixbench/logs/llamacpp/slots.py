"""What llama.cpp says about a slot: ``slot NAME: id N | task N | …`` (2024-10 to 2026), and its older forms.

``kv cache rm [p0, end)`` and ``cached n_tokens = N`` come again for every batch of a prompt: only the first
of a task tells how much was reused. A statement without its last label is cut; a number that
ends a cut statement may lack digits and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from radixbench.logs.llamacpp.timing import NUMBER, Said, number, read_draft, read_timing

_HEAD = re.compile(r"slot\s+([\w()~]{1,40}): id\s+(-?\d{1,10}) \| task (-?\d{1,10}) \|\s*", re.ASCII)
_PAIR = re.compile(rf"([\w.]{{1,60}}(?:\(\))?)\s*=\s*({NUMBER})(?![\w.])", re.ASCII)
_REMOVED = re.compile(r"kv cache rm \[(\d{1,18}), end\)", re.ASCII)
_KEPT = re.compile(r"(cached )?n_tokens\s*=\s*(\d{1,18}),(?: memory_seq_rm \[(-?\d{1,18}), end\))?", re.ASCII)
_SELECTED = re.compile(r"selected slot by ([\w ]{1,40}?)(?: \(|,|\s*$)", re.ASCII)
_PROGRESS = re.compile(
    rf"prompt processing, n_tokens =\s*(\d{{1,18}}), progress =\s*({NUMBER})"
    rf"(?:, t =\s*({NUMBER}) s / ({NUMBER}) tokens per second)?",
    re.ASCII,
)
_OLD = re.compile(
    r"slot (\d{1,10}) (?:: in cache: (\d{1,18}) tokens \| to process: (\d{1,18}) tokens"
    r"|: kv cache rm - \[(\d{1,18}), end\)|released \((\d{1,18}) tokens in cache\))",
    re.ASCII,
)
_RATES = frozenset({"progress", "tg_per_second", "tg_3s_per_second", "sim_best", "f_keep"})
"""Values that may have a fraction; all others are counted."""

_BLOCK_FUNCTION = "print_timing"
_KNOWN = (
    "prompt eval time",
    "eval time",
    "total time",
    "draft acceptance",
    "kv cache rm",
    "cached n_tokens",
    "new prompt",
)


class _Form(NamedTuple):
    """Printed labels to keys. Without ``last`` the statement is cut; other labels are kept in ``extra``."""

    kind: str
    keys: Mapping[str, str]
    last: str


_NEW_PROMPT = _Form(
    "new_prompt",
    {"n_ctx_slot": "n_ctx_slot", "task.n_tokens": "n_prompt_tokens", "n_prompt_tokens": "n_prompt_tokens"},
    "n_prompt_tokens",
)
_RELEASE = _Form(
    "release",
    {"n_past": "n_past", "n_tokens": "n_tokens", "truncated": "truncated_context"},
    "truncated_context",
)
_BATCH = _Form("progress", {"n_past": "n_past", "n_tokens": "n_tokens", "progress": "progress"}, "progress")
_DONE = _Form("prompt_done", {"n_past": "n_past", "n_tokens": "n_tokens"}, "n_tokens")
_DECODED = _Form(
    "progress_decode",
    {"n_decoded": "n_decoded", "n_gen": "n_decoded", "tg": "tg_per_second", "tg_3s": "tg_3s_per_second"},
    "tg_per_second",
)
_MATCH = _Form(
    "match",
    {
        "n_past": "n_past",
        "slot.prompt.tokens.size()": "slot_tokens",
        "slot.cache_tokens.size()": "slot_tokens",
        "cache_tokens.size()": "slot_tokens",
        "pos_min": "pos_min",
        "n_swa": "n_swa",
    },
    "pos_min",
)
_SELECT = _Form("slot_select", {"sim_best": "sim_best", "f_sim_best": "sim_best", "f_keep": "f_keep"}, "")
_SHIFT = _Form("other", {}, "")
_EACH_TOKEN = ("n_gen", "n_decoded")
"""With these words and ``n_remaining`` a verbose server prints every token; they tell nothing more."""


def read_slot(message: str) -> Said | None:
    """A slot's statement; ``None`` for what says nothing about work or reuse.

    Of kind ``timing_block`` without a figure: the head of a block. Of kind ``malformed``: a known statement, unreadable.
    """
    match = _HEAD.match(message)
    if match is None:
        return _read_old(message)
    function, slot, task = match.groups()
    body = message[match.end() :]
    if not body:
        block = function.startswith(_BLOCK_FUNCTION)
        return Said("timing_block", {}, {}, int(slot), int(task)) if block else None
    if body.startswith(_EACH_TOKEN) and ", n_remaining" in body:
        return None
    reader = _READERS.get(body.partition(" ")[0])
    said = None if reader is None else reader(body)
    if said is None:
        return Said("malformed", {}, {}) if body.startswith(_KNOWN) else None
    return Said(said.kind, said.values, said.extra, int(slot), int(task))


def _read_old(message: str) -> Said | None:
    """The forms of 2023 and early 2024: ``slot 0 : in cache: 5 tokens | to process: 9 tokens``."""
    match = _OLD.match(message)
    if match is None:
        return None
    slot, cached, to_process, removed, held = match.groups()
    if cached is not None:
        return Said("prompt_split", {"cached_n": int(cached), "to_process_n": int(to_process)}, {}, int(slot))
    if removed is not None:
        return Said("kv_rm", {"p0": int(removed)}, {}, int(slot))
    return Said("release", {"n_cache_tokens": int(held)}, {}, int(slot))


def _read_form(body: str, form: _Form) -> Said:
    values: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    target, key, raw = extra, "", ""
    for name, raw in _PAIR.findall(body):
        key = form.keys.get(name, "")
        target = values if key else extra
        key = key or name.replace(".", "_")
        whole = raw.isdigit() or raw[1:].isdigit()
        if whole or target is extra or key in _RATES:
            target[key] = int(raw) if whole else number(raw)
    if form.last and form.last not in values:
        values["truncated"] = True
        if key and body.rstrip().endswith(raw):
            target.pop(key, None)
    return Said(form.kind, values, extra)


def _prompt(body: str) -> Said | None:
    if body.startswith("prompt eval"):
        return read_timing(body)
    if body.startswith("prompt processing progress"):
        return _read_form(body, _BATCH)
    if body.startswith(("prompt processing done", "prompt done")):
        return _read_form(body, _DONE)
    match = _PROGRESS.match(body)
    if match is None:
        return None
    tokens, share, took, rate = match.groups()
    values: dict[str, Any] = {"n_tokens": int(tokens), "progress": number(share)}
    if took is None:
        return Said("progress", {"n_tokens": int(tokens), "truncated": True}, {})
    return Said("progress", values, {"elapsed_s": number(took), "prompt_per_second": number(rate)})


def _kept(body: str) -> Said | None:
    match = _KEPT.match(body)
    if match is None:
        return None
    cached, tokens, start = match.groups()
    cut = {"truncated": True} if start is None else {}
    place = {} if start is None else {"p0": int(start)}
    if cached:
        return Said("cached", {"cached_n": int(tokens), **place, **cut}, {})
    return Said("kv_rm", {**place, **cut}, {"n_tokens": int(tokens)})


def _removed(body: str) -> Said | None:
    match = _REMOVED.match(body)
    return None if match is None else Said("kv_rm", {"p0": int(match[1])}, {})


def _select(body: str) -> Said | None:
    match = _SELECTED.match(body)
    if match is None:
        return None
    said = _read_form(body, _SELECT)
    return said._replace(values={"method": match[1], **said.values})


def _started_by(start: str, form: _Form) -> Callable[[str], Said | None]:
    def read(body: str) -> Said | None:
        return _read_form(body, form) if body.startswith(start) else None

    return read


def _release(body: str) -> Said | None:
    if not body.startswith("stop processing"):
        return None
    said = _read_form(body, _RELEASE)
    if "truncated_context" in said.values:
        said.values["truncated_context"] = bool(said.values["truncated_context"])
    return said


def _shift(body: str) -> Said | None:
    if not body.startswith("slot context shift"):
        return None
    said = _read_form(body, _SHIFT)
    return said._replace(values={"event": "context_shift"})


def _forced(body: str) -> Said | None:
    return Said("full_reprocess", {}, {}) if body.startswith("forcing full prompt re-processing") else None


def _match(body: str) -> Said | None:
    return _read_form(body, _MATCH) if "tokens.size()" in body else None


_READERS: dict[str, Callable[[str], Said | None]] = {
    "prompt": _prompt,
    "eval": read_timing,
    "total": read_timing,
    "n_decoded": _started_by("n_decoded", _DECODED),
    "n_gen": _started_by("n_gen", _DECODED),
    "kv": _removed,
    "cached": _kept,
    "n_tokens": _kept,
    "new": _started_by("new prompt", _NEW_PROMPT),
    "forcing": _forced,
    "stop": _release,
    "draft": read_draft,
    "selected": _select,
    "n_past": _match,
    "slot": _shift,
}
"""The first word of a statement, and its reader."""
