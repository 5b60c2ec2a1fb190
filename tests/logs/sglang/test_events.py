"""What servers say beside their batch lines: every wording since 0.1.26, cut, wrapped, and quoted by users."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.logs.line import format_finish, format_retraction
from radixbench.logs.sglang.events import EVENT_MARKERS, EventFacts, parse_event
from radixbench.records import FinishRecord

GOLDEN = Path(__file__).parents[2] / "golden"
SAMPLES = [json.loads(line) for line in (GOLDEN / "logs" / "sglang.jsonl").read_text().splitlines()]
LINES = [json.loads(line) for line in (GOLDEN / "log_events" / "sglang.jsonl").read_text().splitlines()]
EVENTS = [(line["line"], line["values"], line["extra"]) for line in LINES]
PREFIX_KEYS = {"kind", "timestamp", "dp_rank", "tp_rank", "ep_rank"}
PREFIX = "[2026-10-01 12:00:00 TP0] "

MESSAGES = [message for message, _, _ in EVENTS]


def said(text: str) -> EventFacts:
    """The event that a line must state."""
    facts = parse_event(text)
    assert facts is not None
    return facts


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s["expect"]["kind"] == "other"])
def test_lines_of_public_logs(sample: dict[str, Any]) -> None:
    """Exactly what each sample states, and no key more."""
    expect = {key: value for key, value in sample["expect"].items() if key not in PREFIX_KEYS}
    assert said(sample["line"]).values == expect


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s["expect"]["kind"] != "other"])
def test_a_batch_line_is_no_event(sample: dict[str, Any]) -> None:
    """Cut and damaged ones included."""
    assert parse_event(sample["line"]) is None


@pytest.mark.parametrize(("message", "values", "extra"), EVENTS, ids=MESSAGES)
@pytest.mark.parametrize("prefix", [PREFIX, "", "[gpu_id=0] ", "worker-1  | [12:00:00 TP0] "])
def test_every_wording(prefix: str, message: str, values: dict[str, Any], extra: dict[str, Any]) -> None:
    """All generations of formats; where the server begins to speak is the end of the prefix."""
    assert said(prefix + message) == EventFacts(len(prefix), values, extra)


def test_a_pool_with_a_name() -> None:
    """The name belongs to the message, not to the prefix; a level in between does not."""
    message = "Index NVFP4 KV Cache is allocated. dtype: torch.uint8, #tokens: 1000, KV size: 8.00 GB"
    extra = {"dtype": "torch.uint8", "kv_size_gb": 8.0}
    values = {"event": "kv_pool_size", "pool_tokens": 1000}
    named = EventFacts(len(PREFIX), values, {"pool": "Index NVFP4 KV Cache", **extra})
    assert said(PREFIX + message) == named
    level = f"{PREFIX}INFO "
    assert said(level + message.removeprefix("Index NVFP4 ")) == EventFacts(len(level), values, extra)
    assert parse_event(message) is None  # nothing tells the name from prose


@pytest.mark.parametrize("message", MESSAGES)
def test_a_line_without_a_marker_is_no_event(message: str) -> None:
    """So whoever passes over lines without one misses none."""
    assert any(marker in message for marker in EVENT_MARKERS)


@pytest.mark.parametrize("message", MESSAGES)
def test_values_are_json(message: str) -> None:
    """Records are written as strict JSON."""
    json.dumps(said(message), allow_nan=False)


@given(st.sampled_from(MESSAGES), st.data())
def test_a_cut_says_less_and_never_else(message: str, data: st.DataObject) -> None:
    """Cut anywhere, a line keeps only figures that are whole."""
    whole = said(PREFIX + message).values
    facts = parse_event((PREFIX + message)[: data.draw(st.integers(0, len(PREFIX + message) - 1))])
    if facts is not None:
        assert facts.values.keys() <= whole.keys() | {"truncated"}
        assert all(facts.values[key] == whole[key] for key in facts.values.keys() & whole.keys())


@pytest.mark.parametrize(
    ("message", "keep", "values", "extra"),
    [
        (
            MESSAGES[2],
            "#new_token_ratio: 0.2000 -> 0.4",
            {"retracted_reqs": 1},
            {"new_token_ratio_before": 0.2},
        ),
        (MESSAGES[2], "#retracted_reqs: 1", {}, {}),
        (
            MESSAGES[11],
            "#tokens: 1000, K size: 8.00 GB, V size: 8.5",
            {"pool_tokens": 1000},
            {"k_size_gb": 8.0},
        ),
        (
            "server_args={'model_path': 'm', 'page_size': 16}",
            "'page_size': 1",
            {},
            {"args": {"model_path": "m"}},
        ),
    ],
)
def test_a_cut_line_is_marked(message: str, keep: str, values: dict[str, Any], extra: dict[str, Any]) -> None:
    """The last number may have had more digits."""
    facts = said(PREFIX + message[: message.index(keep) + len(keep)])
    assert facts.values.pop("truncated") is True
    assert facts.values.pop("event")
    assert facts[1:] == (values, extra)


@pytest.mark.parametrize("forgery", ["Cache flushed successfully!", *MESSAGES[:8]])
@pytest.mark.parametrize(
    "around",
    [
        "the answer is {}",
        "[2026-10-01 12:00:00] Input text: {}",
        "[2026-10-01 12:00:00] request failed, text='{}'",
        '[2026-10-01 12:00:00] INFO: "POST /{}"',
        "[2026-10-01 12:00:00] text='[2026-10-01 12:00:00] {}",
        '{{"prompt": "[2026-10-01 12:00:00] {}"}}',
        '{{"nested": {{"message": "{}"}}}}',
    ],
)
def test_words_in_other_mouths_are_no_event(forgery: str, around: str) -> None:
    """Prose, quotes and other programs before the words."""
    assert parse_event(around.format(forgery)) is None


@pytest.mark.parametrize(
    "wrap",
    [
        lambda line: json.dumps({"log": line + "\n", "stream": "stderr", "time": "2026-10-01T12:00:00Z"}),
        lambda line: json.dumps({"PRIORITY": "6", "MESSAGE": line, "_PID": "12"}, ensure_ascii=False),
        lambda line: json.dumps({"log": line}).replace(">", "\\u003e").replace("<", "\\u003c"),
    ],
    ids=["docker", "journal", "escaped"],
)
@pytest.mark.parametrize(("message", "values", "extra"), EVENTS, ids=MESSAGES)
def test_a_line_inside_an_object(
    wrap: Any, message: str, values: dict[str, Any], extra: dict[str, Any]
) -> None:
    """As container runtimes and the journal store them."""
    line = wrap(PREFIX + message)
    facts = said(line)
    assert facts[1:] == (values, extra)
    assert line[: facts.start].endswith(PREFIX)


def test_a_cut_object_is_read_as_far_as_it_goes() -> None:
    """A runtime splits long lines, in the middle of an escape if it must."""
    line = json.dumps({"log": PREFIX + 'Receive: obj=GenerateReqInput(rid="q", text="a\nb")\n'})
    facts = said(line[: line.index("b\\")])
    assert facts.values == {"event": "request_received", "truncated": True}
    assert said(line[: line.index("n" + "b\\")]).extra == {"rid": "q"}


def test_another_speaker_ends_a_message() -> None:
    """Two processes on one line, and a progress bar drawn over its end."""
    for rest in ("[2026-10-01 12:00:00 TP1] Load weight begin. avail mem=70.00 GB", "\r 50%|█  | 1/2"):
        facts = said(f"{PREFIX}Load weight begin. avail mem=75.10 GB{rest}")
        assert facts.extra == {"avail_mem_gb": 75.1}
        assert "truncated" not in facts.values


def test_our_own_lines() -> None:
    """The exact figures are kept under their own names."""
    record = FinishRecord(
        rid="a, b",
        input_len=20,
        cached_input_len=16,
        output_len=8,
        attempts=1,
        queue_ns=510_000,
        forward_ns=120_330_000,
        entry_ns=5,
        ttft_ns=9,
        e2e_ns=77,
        finish_reason="stop",
    )
    facts = said(PREFIX + format_finish(record, entry_wall_s=12.1234))
    assert facts.values == {
        "event": "request_stats",
        "input_len": 20,
        "cached_input_len": 16,
        "output_len": 8,
    }
    assert facts.extra == {
        "rid": "a, b",
        "attempts": 1,
        "type": "unified",
        "queue_duration_ms": 0.51,
        "forward_duration_ms": 120.33,
        "entry_time": 12.123,
        "queue-ns": 510_000,
        "forward-ns": 120_330_000,
        "entry-ns": 5,
        "ttft-ns": 9,
        "e2e-ns": 77,
        "finish-reason": "stop",
    }
    ratio = {"new_token_ratio_before": 0.2, "new_token_ratio_after": 0.45}
    retraction = format_retraction(retracted=2, ratio_before=0.2, ratio_after=0.45)
    assert said(PREFIX + retraction) == EventFacts(
        len(PREFIX), {"event": "retract", "retracted_reqs": 2}, ratio
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        '[2026-10-01 12:00:00] INFO:     127.0.0.1:40262 - "POST /flush_cache HTTP/1.1" 200 OK',
        PREFIX + "Capture cuda graph bs [1, 2, 4]",
        PREFIX + "Receive abort request: abc",
        PREFIX + "Post-capture KV sizing: max_running_requests 64 -> 48",
        PREFIX + "[unified-memory-pool]   total_bytes=1, full_max_total_num_tokens=5, max_total_num_tokens=5",
        PREFIX + "Global server args updated! global_server_args_dict={'a': 1}",
        PREFIX + "SWAKVPool is gone",
        PREFIX + "[canary] attached",
        "{",
        '{"log": 5, "x": "flush"}',
    ],
)
def test_other_lines_are_no_event(text: str) -> None:
    """Near misses of what servers print."""
    assert parse_event(text) is None


@given(
    st.lists(st.text() | st.sampled_from([*EVENT_MARKERS, *MESSAGES, PREFIX, '{"log":"', "\\"])).map("".join)
)
def test_no_text_is_too_much(text: str) -> None:
    """Whatever stands in a log."""
    facts = parse_event(text)
    assert facts is None or 0 <= facts.start < len(text)


@given(st.sampled_from(MESSAGES), st.text(max_size=30), st.data())
def test_debris_inside_a_line_never_crashes(message: str, debris: str, data: st.DataObject) -> None:
    """Two writers, half a line each."""
    at = data.draw(st.integers(0, len(message)))
    parse_event(PREFIX + message[:at] + debris + message[at:])
    parse_event(json.dumps({"log": PREFIX + message})[: at + 10] + debris)
