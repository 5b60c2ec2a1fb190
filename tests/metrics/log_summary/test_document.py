"""The JSON document: its promised keys first, and nothing that JSON doesn't know."""

from __future__ import annotations

import json
from dataclasses import replace

from radixbench.metrics.log_summary.document import SCHEMA, document
from tests.metrics.log_summary.records import (
    accumulated,
    arguments,
    counts_of,
    decode,
    event,
    finish,
    label,
    prefill,
    slot,
    stats,
    step,
    summarise,
)  # fmt: skip

FIRST = [
    "schema",
    "file",
    "dialect",
    "lines",
    "prefill",
    "decode",
    "requests",
    "throughput",
    "ranks",
    "notes",
]
LOGS = {
    "sglang": [arguments(page_size=64, x=float("nan")), prefill(64, 640), decode(at=1), event("flush", at=2), finish(9, 3, e2e_latency=1.0)],
    "radixbench": [step(0, 0, 10, new_seq=1, new_tokens=5)],
    "vllm": [stats(5.0, 9.0, prefix_hit_pct=50.0)],
    "llamacpp": [slot("kv_rm", slot=0, task=0, p0=1), slot("prompt_eval", slot=0, task=0, prompt_ms=9.0, prompt_n=5)],
}  # fmt: skip


def test_promised_keys_come_first() -> None:
    """In every dialect, with the keys of each block first in the order that is promised."""
    for dialect, log in LOGS.items():
        found = document(summarise(log))
        assert list(found)[: len(FIRST)] == FIRST
        assert (found["schema"], found["file"], found["dialect"]) == (SCHEMA, "server.log", dialect)
        assert list(found["prefill"])[:6] == [
            "batches",
            "new_seq",
            "new_tokens",
            "cached_tokens",
            "hit_rate",
            "hit_rate_bound",
        ]
        assert list(found["requests"])[:4] == ["n", "ttft", "e2e", "reason"]
        assert list(found["throughput"])[:3] == ["input", "computed", "output"]
        assert all(list(one) == ["code", "text"] for one in found["notes"])


def test_is_plain_json() -> None:
    """No nan, no tuple, no object: it comes back from JSON as it went in."""
    for log in LOGS.values():
        found = document(summarise(log))
        assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_what_is_no_number_is_null() -> None:
    """Whatever slips into a figure, the document stays JSON."""
    summary = replace(summarise(LOGS["sglang"]), span_s=float("nan"), server={"a": float("inf"), "b": (1, 2)})
    found = document(summary)
    assert found["timespan"]["span_s"] is None
    assert found["server"] == {"a": None, "b": [1, 2]}


def test_lines_are_counted_by_kind() -> None:
    """Kinds in a fixed order, their sum is what was read; events by name."""
    lines = document(summarise(LOGS["sglang"], None, malformed=2))["lines"]
    assert lines == {
        "read": 7, "by_kind": {"prefill": 1, "decode": 1, "other": 3, "malformed": 2}, "events": {"flush": 1, "request_finish": 1, "server_args": 1},
    }  # fmt: skip
    assert list(lines["by_kind"]) == ["prefill", "decode", "other", "malformed"]


def test_quantiles_and_reasons() -> None:
    """A latency is an object or null, and null has its reason beside it."""
    found = document(summarise(LOGS["sglang"]))["requests"]
    assert found["e2e"] == {"n": 1, "p50": 1.0, "p99": 1.0}
    assert found["ttft"] is None
    assert "--enable-metrics" in found["reason"]
    assert document(summarise(LOGS["vllm"]))["prefill"]["reason"]


def test_problems_are_notes() -> None:
    """What the reader met on its way comes first, as it was said."""
    log = LOGS["vllm"]
    summary = accumulated(log).summary(
        file="-", lines=counts_of(log), label=label, problems=[("cut-file", "The file ends early.")]
    )
    assert document(summary)["notes"][0] == {"code": "cut-file", "text": "The file ends early."}
