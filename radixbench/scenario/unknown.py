"""Keys and words nobody knows, and the nearest one that somebody does."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import fields, is_dataclass

from radixbench.scenario.model import Scenario
from radixbench.scenario.problem import KeyPath, Problem, value_at


def nearest(word: str, valid: Iterable[str]) -> str | None:
    """The valid word most like this one, hyphens and underscores being equal; ``None`` if none is like it.

    Three letters with one wrong (``gpu`` for ``cpu``) are not alike.
    """
    by_form = {name.replace("-", "_").lower(): name for name in valid}
    matches = difflib.get_close_matches(word.replace("-", "_").lower(), by_form, n=1, cutoff=0.7)
    return by_form[matches[0]] if matches else None


def keys_of(section: object) -> tuple[str, ...]:
    """The keys a scenario or one of its sections knows."""
    return tuple(item.name for item in fields(section)) if is_dataclass(section) else ()


def unknown_key(path: KeyPath, example: Scenario) -> Problem:
    """An unknown key, with the nearest one of its section, or else of the whole scenario."""
    *parents, key = path
    section = value_at(example, tuple(parents))
    near = nearest(str(key), keys_of(section))
    if near is None:
        near = nearest(str(key), _leaves(example))
        near = None if near is None else _leaves(example)[near]
    remedy = f"did you mean {near}?" if near else f"known here: {', '.join(keys_of(section))}"
    return Problem(path, "unknown key", remedy)


def _leaves(example: Scenario) -> dict[str, str]:
    """Every key of the scenario by its last word: ``groups`` → ``workload.groups``.

    A key that is also an axis of the grid is named where it has one value.
    """
    found = {name: name for name in keys_of(example)}
    for name in sorted(keys_of(example), key=lambda name: name == "grid"):
        for leaf in keys_of(getattr(example, name)):
            found.setdefault(leaf, f"{name}.{leaf}")
    return found
