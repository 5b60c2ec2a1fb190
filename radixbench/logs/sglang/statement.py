"""One batch statement of SGLang's scheduler, whatever its version: what it says, and whether all of it is there.

It begins ``Prefill batch`` or ``Decode batch`` and ends where its line does or somebody else's words begin. In
0.1.14 and before, prefill lines had dots between the pairs and decode lines began with their first pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from radixbench.logs.sglang.keys import DECODE_MUST, PREFILL_MUST
from radixbench.logs.sglang.pairs import Pairs, read_pairs
from radixbench.logs.sglang.shapes import Shape

OLDEST_PREFILL = "new fill batch. "
OLDEST_DECODE = "#running-req: "
LAST_LETTER = {"prefill": "l", "decode": "e"}
"""The letter before `` batch`` tells the kind."""

_START = re.compile(r"(?:Prefill|Decode) batch(?=[.,( ])", re.ASCII)
_HEAD = re.compile(
    r"(?P<name>Prefill|Decode) batch(?:\(mixed #running-req: (?P<mixed>\d+)\))?(?: \[(?P<iteration>\d+)\])?[.,]? ?",
    re.ASCII,
)
_NEXT_SPEAKER = re.compile(
    r"\r|\[\d{4}-\d\d-\d\d[ |]\d\d:\d\d:\d\d|\[\d\d:\d\d:\d\d (?:DP|TP)|INFO:  |[ \w-]{0,40}\| \[\d{4}-",
    re.ASCII,
)
_MUST = {"prefill": PREFILL_MUST, "decode": DECODE_MUST}
_REST = re.compile(r"\s*[#A-Za-z(:,.\d-]", re.ASCII)
_MOST_REST = 2000


class Statement(NamedTuple):
    """What one statement says. ``truncated``: keys that every such line has are missing, or a piece of it is damaged."""

    kind: str
    pairs: Pairs
    truncated: bool
    head: re.Match[str] | None = None

    def shape(self) -> Shape | None:
        """How to read lines like it by heart; ``None`` for one that isn't whole or says ``nan``, which has no type to learn."""
        if self.truncated or self.head is None or None in self.pairs.values.values():
            return None
        keys = []
        pattern = f"{self.head['name']} batch"
        if self.head["mixed"] is not None:
            pattern += r"\(mixed #running-req: (\d+)\)"
            keys.append("running_req")
        if self.head["iteration"] is not None:
            pattern += r" \[(\d+)\]"
            keys.append("forward_iter")
        return Shape(self.kind, f"{pattern}[.,] ", self.pairs.order, keys)


def starts(text: str) -> list[int]:
    """Where statements begin in a line; several where processes wrote at once."""
    return [found.start() for found in _START.finditer(text)]


def spans(text: str, begins: list[int]) -> Iterator[tuple[int, int]]:
    """Where each statement begins and ends."""
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
        speaker = _NEXT_SPEAKER.search(text, begin, end)
        yield begin, end if speaker is None else speaker.start()


def read_statement(body: str) -> Statement | None:
    """The statement ``body``, from its first word on; ``None`` if nothing of it can be read."""
    head = _HEAD.match(body)
    assert head is not None
    pairs = read_pairs(body[head.end() :])
    if not pairs.values:
        return None
    for key, group in (("running_req", "mixed"), ("forward_iter", "iteration")):
        if head[group] is not None:
            pairs.values[key] = int(head[group])
    return _settled("prefill" if head["name"] == "Prefill" else "decode", pairs, head)


def read_oldest(text: str) -> tuple[int, Statement] | None:
    """The statement of 0.1.14 or before that a line holds, and where it begins."""
    start = text.find(OLDEST_PREFILL)
    kind = "prefill"
    if start >= 0:
        body = text[start + len(OLDEST_PREFILL) :].rstrip().removesuffix(".").replace(". ", ", ")
    else:
        start = text.find(OLDEST_DECODE)
        if start < 0 or "#token: " not in text or "#queue-req" in text[:start]:
            return None
        kind, body = "decode", text[start:]
    statement = _settled(kind, read_pairs(body), None)
    return None if statement.truncated else (start, statement)


def joined(body: str, rest: str) -> tuple[str, Statement] | None:
    """A statement that broke off and the next line, if that is its rest.

    It is where the two make a whole statement together, or where it is indented, as a terminal or a document wraps
    lines, and adds sound pairs.
    """
    if len(rest) > _MOST_REST or _REST.match(rest) is None or _START.search(rest) is not None:
        return None
    indented = rest[:2].isspace()
    so_far = read_statement(body)
    for glue in (" ",) if indented else ("", " "):
        whole = body + glue + rest.strip()
        statement = read_statement(whole)
        if statement is None or statement.pairs.damaged or (statement.truncated and not indented):
            continue
        if so_far is None or len(statement.pairs.order) > len(so_far.pairs.order):
            return whole, statement
    return None


def _settled(kind: str, pairs: Pairs, head: re.Match[str] | None) -> Statement:
    complete = pairs.values.keys() >= _MUST[kind]
    if pairs.damaged or not complete:
        pairs.drop_last_if_cut()
    return Statement(kind, pairs, pairs.damaged or not complete, head)
