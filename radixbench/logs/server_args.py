"""A server's arguments as it prints them when it starts, in any of the forms that servers use.

SGLang up to 0.5.18 prints a dataclass (``server_args=ServerArgs(model_path='…', …)``), later versions and our own
server a dictionary (``server_args={'model_path': '…', …}``), vLLM ``args: Namespace(…)`` or a dictionary. None
of them is evaluated: the text comes from a file.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from radixbench.logs.literals import Fields, read_literal

_OPENING = re.compile(r"server_args=(?:[A-Za-z_][\w.]*\(|\{)|\bargs: (?:Namespace\(|\{)|\bNamespace\(")

_SECRET = re.compile(r"api_key|password|secret|credential|(?:^|_)token$")

HIDDEN = "***"
"""What stands for a secret."""


class Arguments(NamedTuple):
    """The arguments that are whole; ``whole`` is false where the text breaks off before the last one ends."""

    values: dict[str, Any]
    whole: bool


def read_arguments(text: str) -> Arguments | None:
    """The first statement of arguments in ``text``, if there is one; what is no literal (a device, an object) stays text."""
    opening = _OPENING.search(text)
    if opening is None:
        return None
    fields = Fields(text.rstrip(), opening.end())
    values = {
        field.name: read_literal(text[field.start : field.end]) for field in fields if field.end is not None
    }
    return Arguments(values, fields.closed)


def is_secret(name: str, value: Any) -> bool:
    """The argument may open a door: it is named, never repeated."""
    return isinstance(value, str) and bool(value) and _SECRET.search(name) is not None
