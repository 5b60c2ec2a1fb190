"""Strict decoding's findings in a user's words: what was expected, what stands there, what to write.

YAML 1.1 reads ``on``, ``off``, ``yes`` and ``no`` as booleans. Where a word or number was meant, the
message quotes what was written and says to put it in quotes.
"""

from __future__ import annotations

import math
from typing import Any

from radixbench.scenario.model import Scenario
from radixbench.scenario.problem import KeyPath, Problem
from radixbench.scenario.unknown import keys_of, nearest, unknown_key

_EXAMPLE = Scenario(name="example")


def problem_of(kind: str, path: KeyPath, value: Any, context: dict[str, Any], written: str | None) -> Problem:
    """One finding of pydantic's (its type, place, input and context) as a ``Problem``.

    ``written`` is the text in the file where YAML made a boolean of it.
    """
    if kind == "unexpected_keyword_argument":
        return unknown_key(path, _EXAMPLE)
    if kind == "missing":
        return Problem(path, "this key is missing", "every scenario has a name")
    if kind == "json_invalid":
        return Problem((), "a text in it holds half a character (a lone surrogate)", "write the text plainly")
    if written is not None and kind in ("literal_error", "string_type"):
        return Problem(path, f"`{written}` is a boolean in YAML", f'quote it: "{written}"')
    return _type_problem(kind, path, value, _seen(value, written), context)


def _type_problem(kind: str, path: KeyPath, value: Any, seen: str, context: dict[str, Any]) -> Problem:
    if kind == "literal_error":
        return _word_problem(path, value, seen, str(context["expected"]))
    if kind == "dataclass_type":
        return _section_problem(path, seen)
    text, remedy = _EXPECTED.get(kind, ("another type is expected", None))
    if kind == "int_type" and isinstance(value, str):
        remedy = _number_remedy(value)
    if kind == "float_type" and isinstance(value, str):
        remedy = _decimal_remedy(value)
    if kind == "tuple_type" and type(value) in (int, float):
        remedy = f"write [{value}]"
    if kind == "string_type" and isinstance(value, (int, float)):
        remedy = f'quote it: "{value}"'
    return Problem(path, f"{text}, not {seen}", remedy)


_EXPECTED: dict[str, tuple[str, str | None]] = {
    "int_type": ("a whole number is expected", "write a whole number"),
    "float_type": ("a number is expected", "write a number"),
    "bool_type": ("true or false is expected", "write true or false"),
    "string_type": ("text is expected", None),
    "tuple_type": ("a list is expected", "write [a, b, c]"),
}


def _seen(value: Any, written: str | None) -> str:
    if written is not None:
        return f"`{written}` (a boolean in YAML)"
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return f"the text {value!r}" if len(value) <= 40 else f"the text {value[:40]!r}…"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return f"the truth value {str(value).lower()}" if isinstance(value, bool) else f"the number {value}"


def _word_problem(path: KeyPath, value: Any, seen: str, expected: str) -> Problem:
    words = [word.strip("'") for word in expected.replace(" or ", ", ").split(", ")]
    near = nearest(value, words) if isinstance(value, str) else None
    remedy = f"did you mean {near}?" if near else f"write {' or '.join(words)}"
    return Problem(path, f"must be {expected}, not {seen}", remedy)


def _section_problem(path: KeyPath, seen: str) -> Problem:
    if not path:
        return Problem(path, f"a scenario is a mapping of keys, not {seen}", "begin with `name: …`")
    keys = keys_of(getattr(_EXAMPLE, str(path[0]), None))
    return Problem(path, f"a mapping of keys is expected, not {seen}", f"its keys: {', '.join(keys)}")


def _number_remedy(text: str) -> str:
    plain = text.replace(",", "").replace("_", "").replace(" ", "")
    return f"write {int(plain)}" if plain.isdecimal() and len(plain) < 19 else "write a whole number"


def _decimal_remedy(text: str) -> str:
    """YAML takes ``1e3`` for text, and so is whatever stands in quotes."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return "write a number"
    return f"write {value}" if math.isfinite(value) else "write a number"
