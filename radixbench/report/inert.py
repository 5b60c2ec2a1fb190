"""Text that nothing acts on: control characters, turned directions and hidden marks become visible.

Names come from files and servers. In a chart a control character would end the drawing library, and with it this
process; on a page a turned direction makes one name read as another.
"""

from __future__ import annotations

import unicodedata
from typing import Any

_ACTING = frozenset({"Cc", "Cf", "Cs"})
_SEEN = "\ufffd"


def inert(text: str) -> str:
    """The text with a mark in place of each character that isn't to be seen."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_SEEN if unicodedata.category(c) in _ACTING else c for c in text)


def inert_within(value: Any) -> Any:
    """A JSON value with every text in it made inert, names of members left alone."""
    if isinstance(value, str):
        return inert(value)
    if isinstance(value, dict):
        return {key: inert_within(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [inert_within(item) for item in value]
    return value
