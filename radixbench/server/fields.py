"""Typed reading of a request's JSON: every wrong type or range is one line that names the field.

Only the fields that are asked for are looked at; unknown ones are accepted, as other servers accept
them. An explicit ``null`` counts as left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import orjson

from radixbench.errors import RequestError


class FieldError(RequestError):
    """A field of a request is missing or wrong; ``param`` names it, ``None`` means the body as a whole."""

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


def parse_object(raw: bytes) -> dict[str, Any]:
    """The JSON object of a request body."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise FieldError(f"the body is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise FieldError(f"the body must be a JSON object, not {json_type(value)}")
    return value


def json_type(value: object) -> str:
    """A value's type in JSON's words."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


class Fields:
    """One JSON object, read field by field. ``path`` is its place in the body, for messages."""

    def __init__(self, values: dict[str, Any], path: str = "") -> None:
        self._values = values
        self._path = path

    def raw(self, name: str) -> Any:
        """The value as it came, ``None`` when left out."""
        return self._values.get(name)

    def required(self, name: str) -> Any:
        """The value as it came; left out is an error."""
        value = self._values.get(name)
        if value is None:
            raise self.error(name, "is required")
        return value

    def integer(self, name: str, *, low: int, high: int) -> int | None:
        """A whole number from ``low`` to ``high``."""
        value = self._values.get(name)
        if value is None:
            return None
        if type(value) is not int:
            raise self.error(name, f"must be a whole number, not {_shown(value)}")
        if not low <= value <= high:
            raise self.error(name, f"must be from {low} to {high}, not {value}")
        return value

    def number(self, name: str, *, low: float, high: float) -> float | None:
        """A finite number from ``low`` to ``high``."""
        value = self._values.get(name)
        if value is None:
            return None
        if type(value) not in (int, float) or not math.isfinite(value):
            raise self.error(name, f"must be a number, not {_shown(value)}")
        if not low <= value <= high:
            raise self.error(name, f"must be from {low:g} to {high:g}, not {value}")
        return float(value)

    def boolean(self, name: str) -> bool:
        """``true`` or ``false``; left out is false."""
        value = self._values.get(name)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise self.error(name, f"must be true or false, not {_shown(value)}")
        return value

    def text(self, name: str, *, longest: int) -> str | None:
        """A string of at most ``longest`` characters."""
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise self.error(name, f"must be a string, not {_shown(value)}")
        if len(value) > longest:
            raise self.error(name, f"must have at most {longest} characters, not {len(value)}")
        return value

    def texts(self, name: str, *, most: int, longest: int) -> tuple[str, ...]:
        """One string or a list of them, none empty; left out is none."""
        value = self._values.get(name)
        if value is None:
            return ()
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise self.error(name, f"must be a string or a list of strings, not {_shown(value)}")
        if len(items) > most:
            raise self.error(name, f"must hold at most {most} strings, not {len(items)}")
        if any(not item or len(item) > longest for item in items):
            raise self.error(name, f"must hold strings of 1 to {longest} characters")
        return tuple(items)

    def token_ids(self, name: str, *, vocab_size: int) -> tuple[int, ...]:
        """A list of token ids; left out is none."""
        value = self._values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self.error(name, f"must be a list of token ids, not {_shown(value)}")
        return self.checked_ids(name, value, vocab_size=vocab_size)

    def checked_ids(self, name: str, ids: Sequence[Any], *, vocab_size: int) -> tuple[int, ...]:
        """``ids`` as token ids below ``vocab_size``; prompts are long, so it is checked in bulk."""
        if not ids:
            return ()
        if set(map(type, ids)) != {int}:
            wrong = next(item for item in ids if type(item) is not int)
            raise self.error(name, f"must hold token ids, not {_shown(wrong)}")
        low, high = min(ids), max(ids)
        if low < 0 or high >= vocab_size:
            wrong = low if low < 0 else high
            raise self.error(name, f"holds token id {wrong}; the model's run from 0 to {vocab_size - 1}")
        return tuple(ids)

    def inner(self, name: str) -> Fields:
        """An object within; left out is an empty one."""
        value = self._values.get(name)
        if value is None:
            value = {}
        if not isinstance(value, dict):
            raise self.error(name, f"must be an object, not {_shown(value)}")
        return Fields(value, f"{self._path}{name}.")

    def error(self, name: str, text: str) -> FieldError:
        """What is wrong with field ``name``, ready to raise."""
        return FieldError(f"{self._path}{name} {text}", param=f"{self._path}{name}")


def _shown(value: object) -> str:
    return str(value) if type(value) in (int, float) else json_type(value)
