"""SGLang's scheduler lines: the samples of three years, and what logs do to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.logs.line import format_step
from radixbench.logs.record import LogRecord, Rank
from radixbench.logs.scan import LogScan
from radixbench.logs.timeline import Timeline
from radixbench.records import StepRecord
from tests.logs.wrapper.test_unwrap import WRAPPERS

SAMPLES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "golden" / "logs" / "sglang.jsonl").read_text().splitlines()
]
PREFILL = (
    "[2026-10-01 12:00:00 TP0] Prefill batch, #new-seq: 2, #new-token: 1024, #cached-token: 4096, token usage: 0.10, "
    "#running-req: 3, #queue-req: 5, #pending-token: 900, cuda graph: False, input throughput (token/s): 123.45"
)
DECODE = (
    "[2026-10-01 12:00:01 TP0] Decode batch, #running-req: 4, #token: 600, token usage: 0.01, cuda graph: True, "
    "gen throughput (token/s): 120.50, #queue-req: 0"
)


def read(*lines: str) -> list[LogRecord]:
    """The records of a log of these physical lines."""
    scan = LogScan(Timeline())
    records = [*scan.feed("\n".join(lines).split("\n")), *scan.finish()]
    assert sum(scan.counts.by_kind.values()) == scan.counts.read
    return records


def said(record: LogRecord) -> dict[str, Any]:
    """A record as a sample states it."""
    return {"kind": record.kind, **record.values}


@pytest.mark.parametrize("sample", SAMPLES, ids=[f"{i + 1}" for i in range(len(SAMPLES))])
def test_every_sample_reads_as_it_should(sample: dict[str, Any]) -> None:
    """Lines of public logs, 2024 to 2026, each with its right reading."""
    assert [said(record) for record in read(sample["line"])] == [sample["expect"]]


@pytest.mark.parametrize("sample", SAMPLES, ids=[f"{i + 1}" for i in range(len(SAMPLES))])
def test_a_line_reads_the_same_by_heart(sample: dict[str, Any]) -> None:
    """The second line of a shape takes the fast way, and says what the first said."""
    first, second = read(sample["line"], sample["line"])
    assert second._replace(line_no=first.line_no) == first


def test_a_learned_shape_reads_the_numbers_of_its_own_line() -> None:
    """By heart are the labels only."""
    other = (
        PREFILL.replace("1024", "7").replace("4096", "0").replace("False", "True").replace("123.45", "0.56")
    )
    first, second = read(PREFILL, other)
    assert (first.values["new_token"], first.values["cached_token"], first.values["cuda_graph"]) == (
        1024,
        4096,
        False,
    )
    assert (second.values["new_token"], second.values["cached_token"], second.values["cuda_graph"]) == (
        7,
        0,
        True,
    )
    assert second.values["input_throughput"] == 0.56


def test_a_deviation_from_a_learned_shape_is_read_piece_by_piece() -> None:
    """``nan`` where a number stood, and a cut, are seen after a hundred good lines."""
    cut = PREFILL[: PREFILL.index("#pending-token") + 4]
    *_, damaged, odd = read(*[PREFILL] * 100, cut, PREFILL.replace("123.45", "nan"))
    assert damaged.values["truncated"] is True
    assert "pending_token" not in damaged.values
    assert odd.values["input_throughput"] is None
    assert "truncated" not in odd.values


def test_unknown_keys_are_kept_and_harm_nothing() -> None:
    """sgl-project/sglang#21396 proposes new names; a fork may print anything."""
    line = DECODE.replace("#queue-req: 0", "#await-prefill-req: 3, mood: fine, #queue-req: 0")
    for record in read(line, line):
        assert record.extra == {"#await-prefill-req": 3, "mood": "fine"}
        assert record.values["queue_req"] == 0
        assert "truncated" not in record.values


def test_a_value_with_commas_in_brackets_is_one_value() -> None:
    """The decode suffix of a speculative algorithm since 0.5.16."""
    line = DECODE.replace("cuda graph", "est uncap acc len: 1.23 [1.10, 1.40], cuda graph")
    for record in read(line, line):
        assert record.extra == {"est uncap acc len": "1.23 [1.10, 1.40]"}
        assert record.values["cuda_graph"] is True


def test_two_processes_on_one_line_are_two_statements() -> None:
    """A statement that another process interrupts is cut; the other's is whole."""
    records = read(DECODE[:60] + PREFILL)
    assert [(r.kind, r.values.get("truncated")) for r in sorted(records, key=lambda r: r.kind)] == [
        ("decode", True),
        ("prefill", None),
    ]
    assert {r.line_no for r in records} == {1}


def test_the_rest_of_an_interrupted_statement_is_joined() -> None:
    """Another process's whole line came in between, in the middle of a key."""
    at = PREFILL.index("#pending") + 5
    records = read(PREFILL[:at] + DECODE, PREFILL[at:])
    assert {r.kind: r.values for r in records} == {
        "prefill": read(PREFILL)[0].values,
        "decode": read(DECODE)[0].values,
    }


def test_a_progress_bar_before_and_after_a_line_changes_nothing() -> None:
    """Glued as in sgl-project/sglang#22166."""
    bar = " 11%|█         | 8/72 [00:04<04:51,  4.62s/it]"
    assert read(f"{bar}{PREFILL}\r{bar}")[0].values == read(PREFILL)[0].values


@pytest.mark.parametrize(
    "text",
    [
        f"[2026-10-01 12:00:00] Receive: obj=GenerateReqInput(rid='a', text='why? {PREFILL}')",
        f'{{"event": "request.received", "rid": "a", "obj": {{"text": "{PREFILL}"}}}}',
    ],
    ids=["text", "json"],
)
def test_a_prompt_that_quotes_a_log_is_no_batch(text: str) -> None:
    """Somebody asks the model about a log; with --log-requests the server prints it."""
    assert [r.kind for r in read(PREFILL, text) if r.kind != "other"] == ["prefill"]


@pytest.mark.parametrize(
    ("prefix", "rank"),
    [
        ("[2026-10-01 12:00:00] ", Rank()),
        ("[2026-10-01 12:00:00 DP1 TP3] ", Rank("", 1, (("TP", 3),))),
        ("[2026-10-01 12:00:00 DP-1 TP0] ", Rank("", None, (("TP", 0),))),
        (
            "[2026-10-01 12:00:00 DP0 PP1 ATTN_CP2 MOE_DP3 TP4 EP5] ",
            Rank("", 0, (("PP", 1), ("ATTN_CP", 2), ("MOE_DP", 3), ("TP", 4), ("EP", 5))),
        ),
        ("[gpu_id=2] ", Rank("", None, (("GPU_ID", 2),))),
        ("sglang-1  | [2026-10-01 12:00:00 TP0] ", Rank("sglang-1", None, (("TP", 0),))),
    ],
)
def test_ranks_are_a_set_of_names_and_numbers(prefix: str, rank: Rank) -> None:
    """Their order and number changed with nearly every version."""
    assert read(prefix + DECODE.partition("] ")[2])[0].rank == rank


def test_moments_lie_on_one_axis() -> None:
    """Two lines a second apart, whatever stands before them."""
    a, b = read(PREFILL, "worker | " + DECODE)
    assert a.at_s is not None
    assert b.at_s is not None
    assert b.at_s - a.at_s == 1.0


def test_our_own_lines_bring_their_exact_record() -> None:
    """What our server knows to the nanosecond isn't lost in reading."""
    step = StepRecord(
        phase="prefill",
        step=41,
        start_ns=9_120_443_000,
        end_ns=9_760_113_001,
        host_ns=7,
        new_seq=7,
        new_tokens=955,
        cached_tokens=15_102,
        running_req=1,
        queue_req=0,
        pending_tokens=0,
        held_tokens=16_057,
        used_slots=3_277,
        pool_slots=65_536,
    )
    line = "[2026-10-01 12:00:00] " + format_step(step, throughput=1.0)
    for record in read(line, line):
        assert (record.dialect, record.exact) == ("radixbench", step)


@given(
    st.lists(
        st.one_of(st.text(), st.sampled_from([PREFILL, DECODE, *(s["line"] for s in SAMPLES)])), max_size=12
    )
)
def test_no_text_is_too_much(lines: list[str]) -> None:
    """Whatever stands in a log, every physical line is counted once."""
    read(*lines)


@pytest.mark.parametrize("sample", SAMPLES, ids=[f"{i + 1}" for i in range(len(SAMPLES))])
def test_a_cut_never_invents_a_number(sample: dict[str, Any]) -> None:
    """A line cut at any place says less or the same, and marks it; a number at the cut isn't taken for whole."""
    line = sample["line"]
    whole = read(line)[0].values
    for end in range(len(line) + 1):
        for record in read(line[:end]):
            if record.kind in ("prefill", "decode") and record.values.get("truncated"):
                said_less = {key: value for key, value in record.values.items() if key != "truncated"}
                assert said_less.items() <= whole.items(), line[:end]


@given(st.sampled_from([PREFILL, DECODE]), st.text(max_size=30), st.integers(0, 260))
def test_debris_inside_a_line_never_crashes(line: str, debris: str, at: int) -> None:
    """Two writers, half a line each."""
    read(line, line[:at] + debris + line[at:], line)


@pytest.mark.parametrize("name", sorted(WRAPPERS))
def test_a_wrapped_line_says_what_the_bare_one_says(name: str) -> None:
    """Runtimes, collectors and launchers; read piece by piece and by heart."""
    wrap, source, _ = WRAPPERS[name]
    for record in read(wrap(PREFILL), wrap(PREFILL)):
        assert {**read(PREFILL)[0].values, **record.values} == record.values
        assert record.rank.source == source


def test_a_long_line_that_the_runtime_cut_is_put_together() -> None:
    """Container runtimes cut at 16 kB; the meta information stands at the end of a request's line."""
    text = "x" * 40_000
    line = (
        f"[2026-10-01 12:00:00] Finish: obj=GenerateReqInput(rid='a', text='{text}'), "
        "out={'meta_info': {'id': 'a', 'prompt_tokens': 50, 'completion_tokens': 97, 'cached_tokens': 1}}"
    )
    stamp = "2026-10-01T12:00:00.000000000Z stderr"
    pieces = [line[i : i + 16_384] for i in range(0, len(line), 16_384)]
    flags = ["P"] * (len(pieces) - 1) + ["F"]
    records = read(*(f"{stamp} {flag} {piece}" for flag, piece in zip(flags, pieces, strict=True)))
    assert [(r.line_no, r.event, r.values["cached_tokens"]) for r in records] == [(1, "request_finish", 1)]
