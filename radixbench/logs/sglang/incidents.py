"""What SGLang says happened while it served: retraction, flush, aborts, the KV canary, batches of a fork.

A retraction has had five wordings since 0.1.26; under ``SGLANG_TEST_RETRACT`` it isn't pressure
(``testing``). Each reader takes a message from its first word to its end.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from radixbench.logs.sglang.words import Said, count, mark, read_pairs

_FULL = re.compile(r"[A-Za-z ]{10,40}[.,] (?:Retract requests\. )?")
_RATIO = re.compile(r", #new_token_ratio: (\d{1,9}\.\d{4}) -> (\d{1,9}\.\d{4})$")
_RATIO_BEFORE = re.compile(r"#new_token_ratio: (\d{1,9}\.\d{4}) -")
_ABORTED = re.compile(r"retract_decode: aborted (?:last )?request (\S{1,300}?)(?: due to |, |: )(.{1,300})")
_SWEEPS = re.compile(r"\[canary\] sweep succeeded (\d{1,18}) times \(last_step=(\d{1,18})\)")
_LAUNCH_TAGS = re.compile(r"(\d{1,9})/(\d{1,9})")
_BATCH = re.compile(
    r"(?<![\w-])(?!(?:Prefill|Decode) batch)([A-Z][\w-]{0,30} (?:[\w-]{1,30} ){0,3}batch)[.,] #[\w-]{1,40}: "
)


def _retract(message: str) -> Said | None:
    head = _FULL.match(message)
    if head is None:
        return None
    body = message[head.end() :]
    change = _RATIO.search(body)
    if change is not None:
        pairs, _ = read_pairs(body[: change.start()])
        pairs |= {"new_token_ratio_before": float(change[1]), "new_token_ratio_after": float(change[2])}
        return _retraction(message, pairs, whole=True)
    # a test of retraction prints no ratio; another one that ends before it is cut
    whole = message.startswith("Testing") and "#new_tokens_gained: " in body
    pairs, _ = read_pairs(body, () if whole else ("new_token_ratio_after",))
    before = _RATIO_BEFORE.search(body)
    pairs.pop("new_token_ratio", None)
    if before is not None:
        pairs["new_token_ratio_before"] = float(before[1])
    return _retraction(message, pairs, whole=whole)


def _retraction(message: str, pairs: dict[str, Any], *, whole: bool) -> Said:
    values = {"retracted_reqs": count(pairs.pop("retracted_reqs"))} if "retracted_reqs" in pairs else {}
    testing = {"testing": True} if message.startswith("Testing") else {}
    return Said("retract", mark(values, whole), {**testing, **pairs})


def _aborted(message: str) -> Said | None:
    found = _ABORTED.match(message)
    return None if found is None else Said("request_aborted", {}, {"rid": found[1], "reason": found[2]})


def _flush(message: str) -> Said:
    return Said("flush", mark({}, message.startswith("Cache flushed successfully!")), {})


def _flush_refused(message: str) -> Said:
    if message.startswith("Deferred"):
        return Said("flush_refused", {}, {"reason": "timed out waiting for an idle server"})
    pairs, whole = read_pairs(message, ("queue_req", "running_req"))
    return Said("flush_refused", mark({}, whole), pairs)


def _canary(message: str) -> Said | None:
    sweeps = _SWEEPS.match(message)
    if sweeps is not None:
        return Said("kv_canary", {}, {"sweep_passes": int(sweeps[1]), "last_step": int(sweeps[2])})
    pairs, whole = read_pairs(message, ("launch_tags_active",))
    if "step" not in pairs:
        return None
    tags = _LAUNCH_TAGS.fullmatch(str(pairs.pop("launch_tags_active", "")))
    if tags is not None:
        pairs |= {"launch_tags_active": int(tags[1]), "launch_tags": int(tags[2])}
    return Said("kv_canary", mark({}, whole and tags is not None), pairs)


def find_unknown_batch(text: str, end: int) -> int | None:
    """Where in ``text``, before ``end``, a line about a batch begins that isn't a prefill's or a decode's."""
    found = _BATCH.search(text, 0, end)
    return None if found is None else found.start()


def read_unknown_batch(message: str) -> Said | None:
    """A fork's line about batches: its figures are kept, and counted as nobody's."""
    head = _BATCH.match(message)
    if head is None:
        return None
    return Said("unknown_batch_line", {}, {"words": head[1], **read_pairs(message[head.end(1) :])[0]})


READERS: dict[str, Callable[[str], Said | None]] = {
    "decode out of memory happened": _retract,
    "Decode out of memory happened": _retract,
    "KV cache pool is full": _retract,
    "Testing retraction": _retract,
    "retract_decode: aborted ": _aborted,
    "Cache flushed succ": _flush,
    "Cache not flushed because": _flush_refused,
    "Deferred flush_cache timed out": _flush_refused,
    "[canary] ": _canary,
}
"""What a message begins with, and its reader."""
