"""Mooncake's and Bailian's traces, and rows that would replay as other traffic than was recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from radixbench.corpus.kind import told_kind
from radixbench.corpus.traces import load_trace
from radixbench.errors import CorpusError
from tests.corpus.files import array, lines, row, said


def refusal(path: Path, *rows: Any, **options: Any) -> str:
    with pytest.raises(CorpusError) as told:
        load_trace(lines(path / "t.jsonl", rows), **options)
    return str(told.value).removeprefix(f"{path}/")


def test_mooncake(tmp_path: Path) -> None:
    """Milliseconds, blocks of 512 tokens, the last one perhaps partial."""
    rows = [row(0, 655, [1, 2]), row(3000, 1024, [1, 3], output=7, session_id="s")]
    trace = load_trace(lines(tmp_path / "t.jsonl", rows))
    first, second = trace.requests
    assert trace.block_size == 512
    assert (first.at_s, first.input_len, first.output_len, first.hash_ids) == (0.0, 655, 5, (1, 2))
    assert (second.at_s, second.output_len, second.chat) == (3.0, 7, "s")
    assert (trace.record.format, trace.record.items_used) == ("mooncake", 2)
    assert first.input_len - trace.block_size == 143


def test_bailian(tmp_path: Path) -> None:
    """Seconds, blocks of 16, chats with parents; a parent outside the file is none."""
    rows = [
        row(61.114, 40, [1, 2, 3], chat_id=7, parent_chat_id=-1, type="text", turn=1),
        row(62.0, 48, [1, 2, 4], chat_id=8, parent_chat_id=7, type="image", turn=2),
        row(63.0, 16, [9], chat_id=9, parent_chat_id=5, type="text", turn=4),
    ]
    trace = load_trace(lines(tmp_path / "t.jsonl", rows))
    assert (trace.record.format, trace.block_size) == ("bailian", 16)
    assert round(trace.requests[0].at_s * 1000) == 61_114
    assert [(one.chat, one.parent) for one in trace.requests] == [("7", None), ("8", "7"), ("9", None)]
    assert "1 request with a parent that isn't in the trace: treated as first turns" in trace.record.notes
    assert "1 request with images or files as input: replayed as if it were text" in trace.record.notes


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (
            row(0, 20, [1, 2]),
            "t.jsonl:2: 20 tokens are 1 blocks of 512, but hash_ids holds 2; correct the row, or give the trace's own block size; 16 would fit",
        ),
        (
            row(0, 655, [5]),
            "t.jsonl:2: 655 tokens are 2 blocks of 512, but hash_ids holds 1; its writer left out the partial last block",
        ),
        (row(0, 1024, [5, 5]), "t.jsonl:2: hash_ids repeats an id"),
        (row(0, 182, [1]), "t.jsonl:2: id 1 stands for 182 tokens here and for 512 before"),
        (row(0, 0, []), "t.jsonl:2: input_length is 0"),
        (row(1e300, 512, [2]), "t.jsonl:2: timestamp is 1e+300; it must be a number from 0 to 1,000,000,000"),
        (row(0, 512, [1.5]), "t.jsonl:2: hash_ids holds 1.5"),
        (row(0, 512, [1], output=-1), "t.jsonl:2: output_length is -1"),
        (row(-5, 512, [1]), "t.jsonl:2: timestamp is -5"),
        ({**row(0, 512, [1]), "hash_ids": 3}, "t.jsonl:2: hash_ids is int, no list"),
        ({"timestamp": 0, "input_length": 5, "output_length": 5}, "t.jsonl:2: has no hash_ids"),
        ({**row(0, 512, [1]), "input_length": "512"}, "t.jsonl:2: input_length is '512'"),
        (
            '{"timestamp": NaN, "input_length": 5, "output_length": 5, "hash_ids": [1]}',
            "t.jsonl:2: timestamp is nan",
        ),
        ("[1]", "t.jsonl:2: is no JSON object"),
        ("{oops", "t.jsonl:2: is no JSON: "),
    ],
)
def test_a_row_that_breaks_a_rule_is_refused_with_its_line(tmp_path: Path, bad: Any, told: str) -> None:
    """File, line, what and remedy in one line."""
    line = refusal(tmp_path, row(0, 512, [1]), bad)
    assert line.startswith(told)
    assert "; " in line
    assert "\n" not in line


def test_a_block_size_of_ones_own(tmp_path: Path) -> None:
    """Hand-made traces have other blocks; the size is the caller's word."""
    trace = load_trace(lines(tmp_path / "t.jsonl", [row(0, 20, [1, 2])]), block_size=16)
    assert (trace.block_size, trace.requests[0].hash_ids) == (16, (1, 2))
    with pytest.raises(CorpusError, match="a block has at least 1"):
        load_trace(tmp_path / "t.jsonl", block_size=0)


def test_ids_that_are_text(tmp_path: Path) -> None:
    """Sixteen hex digits are a number; any other text has one of its own; equal text, equal id."""
    rows = [row(0, 600, ["00000000000000ff", "b"]), row(1, 1024, ["00000000000000ff", "prefix-c"])]
    first, second = load_trace(lines(tmp_path / "t.jsonl", rows)).requests
    assert first.hash_ids[0] == second.hash_ids[0] == 255
    assert first.hash_ids[1] != second.hash_ids[1]


def test_failed_requests_are_dropped(tmp_path: Path) -> None:
    """Without an answer there is nothing to ask for."""
    trace = load_trace(lines(tmp_path / "t.jsonl", [row(0, 5, [1], output=0), row(1, 5, [2])]))
    assert trace.record.dropped == {"no output: the request had failed": 1}
    assert trace.record.items_read == 2
    assert "no request in it: 1 had failed" in refusal(tmp_path, row(0, 5, [1], output=0))


def test_bursts_and_disorder_are_noted(tmp_path: Path) -> None:
    """Arrivals are replayed as recorded, so how they come is said."""
    rows = [row(at, 5, [number]) for number, at in enumerate((3000, 0, 0, 0, 0, 3000))]
    trace = load_trace(lines(tmp_path / "t.jsonl", rows))
    assert [one.at_s for one in trace.requests] == [0, 0, 0, 0, 3, 3]
    assert "1 row earlier than the row before: sorted by time" in trace.record.notes
    assert (
        "arrivals come in bursts: 2 times for 6 requests, 3 s apart (median), up to 4 at once"
        in trace.record.notes
    )


def test_ids_behind_other_ids_are_noted(tmp_path: Path) -> None:
    """Hashes of blocks alone are equal where prefixes aren't."""
    trace = load_trace(lines(tmp_path / "t.jsonl", [row(0, 1024, [1, 2]), row(1, 1024, [3, 2])]))
    assert "1 id behind different ids: only equal ids from the start on are shared" in trace.record.notes


def test_limit_array_and_cut(tmp_path: Path) -> None:
    """A trace may be an array; a limit ends the reading; a last line that breaks off is said."""
    rows = [row(0, 5, [1]), row(1, 5, [2]), row(2, 5, [3])]
    assert len(load_trace(array(tmp_path / "a.json", rows), limit=2).requests) == 2
    path = lines(tmp_path / "t.jsonl", rows)
    path.write_text(path.read_text()[:-9])
    trace = load_trace(path)
    assert len(trace.requests) == 2
    assert (
        "line 3 breaks off (Unterminated string starting at); read to the line before" in trace.record.notes
    )


def test_kinds_are_told_apart(tmp_path: Path) -> None:
    """By the first item; a format that is no trace's is refused."""
    assert told_kind(lines(tmp_path / "t.jsonl", [row(0, 5, [1])])) == "trace"
    assert told_kind(array(tmp_path / "a.json", [said("a", "b")])) == "conversations"
    assert told_kind(tmp_path) == "conversations"
    assert "sharegpt is no trace" in refusal(tmp_path, row(0, 5, [1]), format="sharegpt")
