"""Several logs, figure by figure."""

from __future__ import annotations

import pytest

from radixbench.report.logs.side_by_side import short_names
from tests.report.logs.views import side


def rows(*names: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """Every row by its block and title."""
    return {(block.title, row.title): row.values for block in side(*names).blocks for row in block.rows}


def test_equal_figures_share_a_row_and_missing_ones_are_dashes():
    """A figure is there once, in the logs' order."""
    found = rows("sglang", "vllm", "llamacpp")
    assert found["Hit rate", "hit rate"] == ("≥ 46.2 %", "not printed", "99.997 %")
    assert found["Log", "server"] == ("SGLang", "vLLM", "llama.cpp")
    assert found["Decode", "lines"] == ("104", "–", "–")
    assert found["Queue and pools", "gpu usage, highest"] == ("–", "50 %", "–")


def test_notes_stand_beside_each_other_by_their_codes():
    """Which of the logs has which."""
    found = rows("sglang", "vllm")
    assert found["Notes", "page-rounding"] == ("yes", "no")
    assert found["Notes", "server-window"] == ("no", "yes")
    assert found["New tokens by cause", "empty cache"] == ("8,425 (5.7 %)", "–")
    assert found["Where the time went", "busy"] == ("4 min 20 s (85.2 %)", "–")


def test_no_retraction_is_none_where_a_server_would_print_it():
    """A dash is for logs that tell of none ever."""
    assert rows("sglang", "unknown", "vllm")["Queue and pools", "retractions"] == ("6", "0", "–")


def test_why_a_log_has_no_figures_is_told_below_its_block():
    """With its name."""
    notes = [note for block in side("sglang", "vllm").blocks for note in block.notes]
    assert notes == [
        "vllm.log: unknown: no line about a single request: start the server with --enable-log-requests"
    ]


def test_a_log_beside_itself_differs_in_nothing():
    """No verdict, no difference, and names that tell the two apart."""
    shown = side("sglang", "sglang")
    assert shown.names == ("1: server.log", "2: server.log")
    assert all(row.values[0] == row.values[1] for block in shown.blocks for row in block.rows)


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["a/x.log", "b/y.log"], ("x.log", "y.log")),
        (["a/x.log", "b/x.log"], ("a/x.log", "b/x.log")),
        (["/logs/a/x.log", "/logs/b/x.log", "z.log"], ("a/x.log", "b/x.log", "z.log")),
        (["x.log", "/x.log"], ("x.log", "/x.log")),
        (["x.log", "x.log"], ("1: x.log", "2: x.log")),
    ],
)
def test_names_are_as_short_as_they_can_be(files, names):
    """The ends of paths that tell them apart."""
    assert short_names(files) == names
