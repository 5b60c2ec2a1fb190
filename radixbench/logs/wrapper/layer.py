"""One wrapper around a line: what it holds, and what it says of the line's origin and time."""

from __future__ import annotations

import re
from typing import NamedTuple

_DATED = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,6}))?", re.ASCII)


class Layer(NamedTuple):
    """``source`` is empty where the wrapper names no server; ``partial``: the runtime cut a long line here."""

    text: str
    source: str = ""
    timestamp: str | None = None
    partial: bool = False


def dated(text: str) -> str | None:
    """``YYYY-MM-DD HH:MM:SS[.ffffff]`` of a text that begins with a date; its zone is passed over, a fraction of zero left out."""
    match = _DATED.match(text)
    if match is None:
        return None
    day, clock, fraction = match.groups()
    return f"{day} {clock}.{fraction}" if fraction and fraction.strip("0") else f"{day} {clock}"
