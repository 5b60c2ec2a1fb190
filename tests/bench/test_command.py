"""The command to go on with, as it is pasted."""

from __future__ import annotations

from pathlib import Path

import pytest

from radixbench.bench.command import resume_words
from radixbench.bench.outputs import OutputPaths

PAIR = OutputPaths({"on": Path("my pair/on.json"), "off": Path("my pair/off.json")}, None)
ONE = OutputPaths({"on": Path("one.json.zst")}, None)


def test_a_sweep_goes_on_in_its_folder() -> None:
    """Flags stay, quoted for a shell; the folder is named though it wasn't the first time."""
    argv = ("radixbench", "sweep", "a b.yaml", "--seeds", "3", "--server-argument=--runner")
    assert resume_words(argv, PAIR) == (
        "go on with: radixbench sweep 'a b.yaml' --seeds 3 --server-argument=--runner --resume --out 'my pair'"
    )


@pytest.mark.parametrize(
    "words",
    [
        ("--out", "x", "--report", "y.html", "--markdown", "z.md", "--resume"),
        ("--out=x", "--report=y.html", "--markdown=z.md"),
        ("--html", "y.html"),
        ("--report", "--out"),
    ],
)
def test_what_exists_by_then_is_not_named_again(words: tuple[str, ...]) -> None:
    """A report of the first part would refuse the second; neither flag nor value is left over."""
    argv = ("radixbench", "sweep", *words, "--seeds", "3")
    assert resume_words(argv, PAIR) == "go on with: radixbench sweep --seeds 3 --resume --out 'my pair'"


@pytest.mark.parametrize("words", [("-o", "x.json"), ("-ox.json",), ("--out=x.json",)])
def test_a_run_goes_on_in_its_capture(words: tuple[str, ...]) -> None:
    """There the output is the file itself."""
    argv = ("/bin/radixbench", "run", "default", *words)
    assert resume_words(argv, ONE) == "go on with: radixbench run default --resume --out one.json.zst"


@pytest.mark.parametrize("argv", [(), ("python", "-c")])
def test_another_programs_command_line_is_put_in_words(argv: tuple[str, ...]) -> None:
    """It isn't ours to build."""
    assert resume_words(argv, ONE) == "go on with the same command and --resume --out one.json.zst"


def test_a_secret_is_not_repeated() -> None:
    """A command with a key in it is put in words; the folder is named all the same."""
    words = resume_words(("radixbench", "sweep", "--api-key", "s"), PAIR)
    assert words == "go on with the same command and --resume --out 'my pair'"
