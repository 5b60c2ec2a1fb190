"""The command that goes on with a sweep, made of the one it was begun with, ready to paste.

Outputs of the first part aren't named again: they exist by then, and nothing that exists is overwritten.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import join

from radixbench.bench.outputs import OutputPaths
from radixbench.capture.environment import without_secrets

_PROGRAM = "radixbench"
_PLACES = ("--out", "-o", "--report", "--html", "--markdown")


def resume_words(argv: Sequence[str], paths: OutputPaths) -> str:
    """How to go on, as a remedy: the whole command, or in words where ``argv`` isn't one that can be given again."""
    folder = paths.directory
    command = tuple(argv[1:2])
    place = folder if command == ("sweep",) else next(iter(paths.captures.values()))
    if command not in {("sweep",), ("run",)} or without_secrets(argv) != tuple(argv):
        return f"go on with the same command and --resume --out {_quoted(place)}"
    return "go on with: " + join((_PROGRAM, *_without_places(argv[1:]), "--resume", "--out", str(place)))


def _without_places(words: Sequence[str]) -> list[str]:
    """The words but for those that say where output goes, and ``--resume``."""
    kept: list[str] = []
    is_value = False
    for word in words:
        flag, equals, _ = word.partition("=")
        names_place = flag in _PLACES or (word.startswith("-o") and not word.startswith("--"))
        if not (is_value or names_place or word == "--resume"):
            kept.append(word)
        is_value = not is_value and word in _PLACES and not equals
    return kept


def _quoted(place: Path) -> str:
    return join((str(place),))
