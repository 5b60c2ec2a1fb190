"""A log that grows, is replaced or emptied while it is followed; like ``tail -F``."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from radixbench.logs.reader import LogReader


def followed(path: Path, *steps: Callable[[], object]) -> tuple[list[list[str]], list[tuple[str, str]]]:
    """The blocks of a log that is changed by a step at each wait; after the last one the reader is told to stop."""
    left = iter(steps)

    def go_on() -> bool:
        step: Callable[[], object] | None = next(left, None)
        if step is not None:
            step()
        return step is not None

    reader = LogReader(path, follow=go_on)
    return list(reader.blocks()), reader.problems


def appender(path: Path) -> Callable[[str], Callable[[], object]]:
    """Writes to the end of a log, later."""

    def append(text: str) -> Callable[[], object]:
        def write() -> None:
            with path.open("a") as file:
                file.write(text)

        return write

    return append


def test_a_followed_log_is_read_whole_and_then_as_it_grows(tmp_path: Path) -> None:
    """A line is held back until it is complete, or until the end."""
    path = tmp_path / "server.log"
    path.write_text("the first line\nthe sec")
    append = appender(path)
    blocks, problems = followed(path, lambda: None, append("ond line\nth"), append("e third"), lambda: None)
    assert blocks == [["the first line"], ["the second line"], ["the third"]]
    assert problems == []


def test_a_followed_log_may_be_empty_at_first(tmp_path: Path) -> None:
    """And to the end."""
    path = tmp_path / "server.log"
    path.touch()
    assert followed(path, lambda: None, appender(path)("at last a line\n")) == ([["at last a line"]], [])
    path.write_text("")
    assert followed(path, lambda: None) == ([], [])


def test_a_replaced_log_goes_on_in_its_successor(tmp_path: Path) -> None:
    """What was written to the old file before is read first; in between there may be none."""
    path = tmp_path / "server.log"
    path.write_text("the first line of the old\n")
    append = appender(path)

    def rotate() -> None:
        append("the last of the old")()
        path.rename(tmp_path / "server.log.1")

    blocks, problems = followed(
        path, rotate, lambda: None, append("the first line of the new\n"), append("the next\n")
    )
    assert blocks == [
        ["the first line of the old"],
        ["the last of the old"],
        ["the first line of the new"],
        ["the next"],
    ]
    assert problems == [("rotated", "the file was replaced or emptied once and read from its new start")]


def test_an_emptied_log_goes_on_from_its_start(tmp_path: Path) -> None:
    """As with copytruncate; twice."""
    path = tmp_path / "server.log"
    path.write_text("the first line of a long log\n")
    blocks, problems = followed(
        path,
        lambda: path.write_text("the second start\n"),
        lambda: None,
        lambda: path.write_text("the third\n"),
    )
    assert blocks == [["the first line of a long log"], ["the second start"], ["the third"]]
    assert problems == [("rotated", "the file was replaced or emptied 2 times and read from its new start")]


def test_what_is_written_while_the_end_is_asked_for_counts(tmp_path: Path) -> None:
    """The last look comes after the last wait."""
    path = tmp_path / "server.log"
    path.write_text("the first line\n")

    def last() -> bool:
        appender(path)("the last line\n")()
        return False

    assert list(LogReader(path, follow=last).blocks()) == [["the first line"], ["the last line"]]


def test_standard_input_is_not_followed() -> None:
    """Its end is its end."""
    reader = LogReader("-", stdin=io.BytesIO(b"the first line\n"), follow=lambda: pytest.fail("asked"))
    assert list(reader.blocks()) == [["the first line"]]
