"""``radixbench simulate hits``: files in, one document or plain lines out."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from radixbench.cli.hit_table import print_hits
from tests.cli.conftest import Command
from tests.corpus.files import array, lines, messages, row, said, wheel

CONTRACT = {
    "cache",
    "page_size",
    "capacity_tokens",
    "policy",
    "seed",
    "requests",
    "prompt_tokens",
    "cached_tokens",
    "hit_rate",
    "computed_tokens",
}


def test_a_trace_as_a_document(command: Command, tmp_path: Path) -> None:
    """Every page size with every capacity is a row; the corpus and the definition stand beside them."""
    path = lines(tmp_path / "t.jsonl", [row(0, 655, [1, 2]), row(1, 655, [1, 2])])
    outcome = command(
        "simulate", "hits", str(path), "--page-size", "1,16", "--capacity", "unlimited,1_024", "--json"
    )
    document = outcome.document
    assert (outcome.code, outcome.err, document["schema"]) == (0, "", "radixbench.simulate/1")
    assert document["corpus"]["items_used"] == 2
    assert document["block_size"] == 512
    assert all(set(one) >= CONTRACT for one in document["rows"])
    assert [(one["page_size"], one["capacity_tokens"], one["cached_tokens"]) for one in document["rows"]] == [
        (1, None, 654),
        (1, 1024, 654),
        (16, None, 640),
        (16, 1024, 640),
    ]


def test_conversations_as_a_document(command: Command, tmp_path: Path) -> None:
    """A wheel with a cut array, tokenised by tiny: its drops and notes, and what of the history departs."""
    path = wheel(
        tmp_path / "a.whl", [said("a b", "c d", "e f", "g h", own="x"), said("a"), said("q", "r")], cut=30
    )
    outcome = command("simulate", "hits", str(path), "--json")
    document = outcome.document
    assert outcome.code == 0
    assert (document["tokenizer"], document["history"], document["order"]) == ("tiny", "live", "rounds")
    assert document["corpus"]["dropped"] == {"no question with a reply in it": 1}
    assert any("breaks off" in note for note in document["corpus"]["notes"])
    assert document["later_turns"] == 1
    assert document["prompt_departures"] == 0
    (found,) = document["rows"]
    assert found["requests"] == 2
    assert 0 < found["cached_tokens"] < found["prompt_tokens"]
    assert found["blocks"] is None


def test_lines_for_people(command: Command, tmp_path: Path) -> None:
    """What was read, dropped and noted, the definition, and a line for each cache."""
    items = [said("a b", "c d", "e f", "g h", own="x"), said("a")]
    outcome = command(
        "simulate", "hits", str(array(tmp_path / "a.json", items)), "--capacity", "unlimited,24"
    )
    printed = outcome.out.splitlines()
    assert printed[0].endswith("a.json: sharegpt, 1 of 2 items used")
    assert printed[1] == "dropped: 1 x no question with a reply in it"
    assert any(line.startswith("definition: hit rate = ") for line in printed)
    assert any(
        line.startswith("note: of 1 later prompts 0 depart from the prompt before") for line in printed
    )
    assert printed[-3].startswith("page 1, unlimited: hit rate ")
    assert "longer than the cache left out of the rate, which is of fewer prompt tokens" in printed[-2]
    assert printed[-1].startswith("definition: ")


def test_a_table_on_a_terminal(command: Command, tmp_path: Path) -> None:
    """Within 80 columns, rows that leave requests out marked, the definition last."""
    items = [said("a b", "c d", "e f", "g h", own="x"), said("a")]
    path = str(array(tmp_path / "a.json", items))
    document = command("simulate", "hits", path, "--capacity", "unlimited,24", "--json").document
    console = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    print_hits(document, console)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    whole, short = (line for line in lines if line.startswith("│"))
    assert "unlimited" in whole
    assert "*" not in whole
    assert " %*" in short
    assert any(line.startswith("* page 1, 24 tokens: ") for line in lines)
    rules = [place for place, line in enumerate(lines) if line.startswith("└")]
    assert any(line.startswith("definition: ") for line in lines[rules[0] :])


def test_history_and_order(command: Command, tmp_path: Path) -> None:
    """Recorded answers come in as prompt, so less is found."""
    path = str(array(tmp_path / "a.json", [said("a", "b " * 50, "c", "d")]))
    live = command("simulate", "hits", path, "--order", "conversations", "--json").document["rows"][0]
    recorded = command("simulate", "hits", path, "--history", "recorded", "--json").document["rows"][0]
    assert recorded["cached_tokens"] <= live["cached_tokens"]
    assert recorded["prompt_tokens"] == live["prompt_tokens"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--page-size", "0"], "--page-size: '0' is no number of tokens"),
        (["--page-size", "1,16,1"], "--page-size: 1 stands there twice"),
        (["--capacity", "unlimited,9,unlimited"], "--capacity: unlimited stands there twice"),
        (["--capacity", "inf"], "--capacity: 'inf' is no number of tokens; such as 100000,unlimited"),
        (["--page-size", "1,x"], "--page-size: 'x' is no number of tokens"),
        (["--page-size", "16", "--capacity", "8"], "a capacity of 8 tokens is less than one page of 16"),
        (["--format", "csv"], "--format: 'csv' isn't known; one of auto, sharegpt"),
        (["--history", "dead"], "--history: 'dead' isn't known"),
        (["--tokenizer", "tiny"], "--tokenizer: means nothing for a trace"),
        (["--block-size", "16"], "t.jsonl:1: 655 tokens are 41 blocks of 16, but hash_ids holds 2"),
        (["--format", "openai"], "no conversation in it: 1 x neither conversations nor messages"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    command: Command, tmp_path: Path, options: list[str], told: str
) -> None:
    """Exit code 2, nothing on stdout."""
    path = lines(tmp_path / "t.jsonl", [row(0, 655, [1, 2])])
    outcome = command("simulate", "hits", str(path), *options)
    (line,) = outcome.err.splitlines()
    assert (outcome.code, outcome.out) == (2, "")
    assert told in line


def test_flags_of_traces_are_refused_for_conversations(command: Command, tmp_path: Path) -> None:
    """A block size would be ignored."""
    path = array(tmp_path / "a.json", [said("a", "b")])
    outcome = command("simulate", "hits", str(path), "--block-size", "16")
    assert (outcome.code, outcome.err) == (
        2,
        "radixbench: --block-size: means nothing for conversations; leave it out\n",
    )
    outcome = command("simulate", "hits", str(path), "--split", "train")
    assert outcome.err == "radixbench: --split: means nothing for a file; leave it out\n"
    outcome = command("simulate", "hits")
    assert outcome.code == 2
    assert "name one of the two" in outcome.err


def test_names_from_files_are_printed_as_text(command: Command, tmp_path: Path) -> None:
    """A file's own words can't steer a terminal."""
    items = [
        messages(("system", f"It is 0{hour}:00 \x1b[31m"), ("user", "a"), ("assistant", "b"))
        for hour in (1, 2)
    ]
    outcome = command("simulate", "hits", str(array(tmp_path / "a.json", items)))
    assert "prompt head changes over time at char 6" in outcome.out
    assert "\x1b" not in outcome.out
