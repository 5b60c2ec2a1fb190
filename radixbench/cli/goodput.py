"""``--goodput ttft:500 tpot:50``: an option of several words, as benchmark scripts already write it.

An option of ours takes one word; the targets after the first, and those of the flag when it is given again, are put
to it before anything is parsed: a flag that stands there twice asks for both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

import typer

Goodput = Annotated[
    str | None,
    typer.Option(
        "--goodput",
        help="Judge by these targets, in ms, instead of the captures' own: ttft:500 tpot:50.",
        metavar="TARGETS",
    ),
]
"""For commands that read captures; what it says is read by ``scenario.goodput.parse_goodput``."""

_FLAG = "--goodput"
_TARGET = re.compile(r"\w+:[-+.\d]\S*")


def join_targets(arguments: Sequence[str]) -> list[str]:
    """The command line with all targets behind ``--goodput`` as one word behind the first one."""
    joined: list[str] = []
    home: int | None = None
    index = 0
    while index < len(arguments):
        word = arguments[index]
        if word == "--":
            return joined + list(arguments[index:])
        flag, equals, value = word.partition("=")
        index += 1
        if flag != _FLAG:
            joined.append(word)
            continue
        if not equals and (index == len(arguments) or arguments[index].startswith("-")):
            joined.append(word)
            continue
        targets = [value] if equals else []
        if not equals:
            targets.append(arguments[index])
            index += 1
        while index < len(arguments) and _TARGET.fullmatch(arguments[index]):
            targets.append(arguments[index])
            index += 1
        if home is None:
            joined += [f"{_FLAG}={targets[0]}"] if equals else [_FLAG, targets[0]]
            home = len(joined) - 1
            targets = targets[1:]
        joined[home] = " ".join([joined[home], *targets])
    return joined
