"""What people type behind ``--goodput``: targets as vLLM's tool takes them, ``ttft:500 tpot:50`` in milliseconds.

Whoever wants targets other than a scenario's asks here too; every refusal is one line that begins with the flag.
"""

from __future__ import annotations

import re

from radixbench.errors import ScenarioError
from radixbench.scenario.model import GoodputSpec
from radixbench.scenario.ranges import complaint_at
from radixbench.scenario.typed import parse_float
from radixbench.scenario.unknown import keys_of, nearest

FLAG = "--goodput"
_NAMES = keys_of(GoodputSpec())
_EXAMPLE = f"{FLAG} ttft:500 tpot:50"


def parse_goodput(text: str, *, flag: str = FLAG) -> GoodputSpec:
    """``ttft:500 tpot:50``, or with commas, as targets in milliseconds.

    Raises ``ScenarioError`` for anything else: unknown or repeated names, no number, a number of 0 or below.
    """
    targets: dict[str, float] = {}
    for word in re.split(r"[\s,]+", text.strip()):
        name, value = _target(word, flag)
        if name in targets:
            raise ScenarioError(f"{flag}: {name} stands there twice", remedy="give each target once")
        targets[name] = value
    return GoodputSpec(**targets)


def _target(word: str, flag: str) -> tuple[str, float]:
    name, colon, number = word.partition(":")
    if not colon or not number:
        seen = repr(word) if word else "nothing"
        raise ScenarioError(
            f"{flag}: NAME:MILLISECONDS is expected, not {seen}", remedy=f"write {_EXAMPLE}, for example"
        )
    if name not in _NAMES:
        near = nearest(name, _NAMES)
        raise ScenarioError(
            f"{flag}: there is no target {name!r}",
            remedy=f"did you mean {near}?" if near else f"choose from {', '.join(_NAMES)}",
        )
    value = parse_float(number, flag=f"{flag}: {name}")
    complaint = complaint_at(("goodput", name), value)
    if complaint is not None:
        raise ScenarioError(f"{flag}: {name}: {complaint}", remedy="give it in milliseconds")
    return name, value
