"""``--records``: what a line holds, and when it is there."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.cli.record_lines import RecordLines, record_lines
from radixbench.logs.record import LogRecord, Rank

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def record(**values: Any) -> LogRecord:
    """A prefill record with these values; ``odd`` is a key that nobody knows yet."""
    extra = {"odd": values.pop("odd")} if "odd" in values else {}
    return LogRecord(7, "sglang", "prefill", values, extra, Rank(), None)


def written(*records: LogRecord, file: str | None = None) -> list[Any]:
    """The objects that are written for them."""
    lines: list[str] = []
    for one in records:
        RecordLines(lines.append, file)(one)
    assert all(line.endswith("\n") for line in lines)
    return [json.loads(line, parse_constant=pytest.fail) for line in lines]


def test_a_record_is_its_document_on_a_line() -> None:
    """Line number, kind, keys, and those that nobody knows; the log's name first where there are several."""
    assert written(record(new_token=5, odd="x")) == [
        {"line_no": 7, "kind": "prefill", "new_token": 5, "extra": {"odd": "x"}}
    ]
    (named,) = written(record(new_token=5), file="a.log")
    assert list(named) == ["file", "line_no", "kind", "new_token"]


@given(ANYTHING)
def test_every_record_makes_a_line_of_json(value: Any) -> None:
    """Whatever a log may hold, surrogates and huge numbers too; what is no number is null."""
    (found,) = written(record(odd={"deep": [value, math.inf, math.nan]}))
    assert found["extra"]["odd"]["deep"][1:] == [None, None]


def test_a_file_takes_its_name_when_it_is_complete_or_grows_with_its_log(tmp_path: Path) -> None:
    """A reader of the one never sees half of it, a reader of the other sees each line at once."""
    whole, growing = tmp_path / "whole.jsonl", tmp_path / "growing.jsonl"
    with record_lines(str(whole)) as write:
        assert write is not None
        write(record(new_token=5))
        assert not whole.exists()
    assert len(whole.read_text().splitlines()) == 1
    with record_lines(str(growing), growing=True) as write:
        assert write is not None
        write(record(new_token=5))
        assert len(growing.read_text().splitlines()) == 1


def test_without_the_flag_nothing_is_written() -> None:
    """No writer, no cost."""
    with record_lines(None) as write:
        assert write is None
