"""What makes a scenario sound: the one place that knows ranges and which keys go together.

Files and flags pass through the same checks; whoever calls turns a ``Problem``'s key into a line of
a file or the name of a flag.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass

from radixbench.scenario.model import Scenario

KeyPath = tuple[str | int, ...]

MAX_TOKENS = 10_000_000
MAX_COUNT = 1_000_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_RANGES: dict[KeyPath, tuple[int, int]] = {
    ("seeds",): (1, 1000),
    ("engine", "threads"): (1, 4096),
    ("engine", "max_total_tokens"): (1, MAX_TOKENS * 100),
    ("engine", "chunked_prefill_size"): (1, MAX_TOKENS),
    ("engine", "page_size"): (1, 4096),
    ("workload", "shared"): (0, MAX_TOKENS),
    ("workload", "turns"): (1, 1000),
    ("workload", "groups"): (1, MAX_COUNT),
    ("workload", "prompts_per_group"): (1, MAX_COUNT),
    ("workload", "question_len"): (1, MAX_TOKENS),
    ("workload", "output_len"): (1, MAX_TOKENS),
    ("load", "max_concurrency"): (1, 65_536),
    ("telemetry", "interval_ms"): (1, 60_000),
}


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at one key, and what to do about it."""

    path: KeyPath
    text: str
    remedy: str | None = None


def key_text(path: KeyPath) -> str:
    """``workload.shared[2]``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def first_problem(scenario: Scenario) -> Problem | None:
    """The first thing wrong with a scenario whose types are right; ``None`` for a sound one."""
    return next(_problems(scenario), None)


def _problems(scenario: Scenario) -> Iterator[Problem]:
    yield from _name_problems(scenario)
    for path, (low, high) in _RANGES.items():
        yield from _range_problems(path, _value_at(scenario, path), low, high)
    yield from _list_problems(("workload", "shared"), scenario.workload.shared)
    yield from _list_problems(("workload", "turns"), scenario.workload.turns)
    yield from _list_problems(("modes",), scenario.modes)
    yield from _pairing_problems(scenario)


def _name_problems(scenario: Scenario) -> Iterator[Problem]:
    if not _NAME.fullmatch(scenario.name):
        yield Problem(
            ("name",),
            f"{scenario.name!r} can't be part of a file name",
            "use letters, digits, '.', '_' and '-', beginning with a letter or digit",
        )
    if not scenario.model.name.strip():
        yield Problem(("model", "name"), "is empty", "name a model, such as tiny")


def _value_at(scenario: Scenario, path: KeyPath) -> object:
    value: object = scenario
    for part in path:
        value = getattr(value, str(part))
    return value


def _range_problems(path: KeyPath, value: object, low: int, high: int) -> Iterator[Problem]:
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _range_problems((*path, index), item, low, high)
    elif isinstance(value, int) and value < low:
        yield Problem(path, f"must be at least {low:,}, not {value:,}")
    elif isinstance(value, int) and value > high:
        yield Problem(path, f"must be at most {high:,}, not {value:,}")


def _list_problems(path: KeyPath, values: Sequence[object] | None) -> Iterator[Problem]:
    if values is None:
        return
    if not values:
        yield Problem(path, "the list is empty", "give at least one value")
    for index, value in enumerate(values):
        if value in values[:index]:
            yield Problem((*path, index), f"{value} stands there twice", "give each value once")


def _pairing_problems(scenario: Scenario) -> Iterator[Problem]:
    engine, workload = scenario.engine, scenario.workload
    if workload.turns is not None and workload.kind != "multi-turn":
        yield Problem(
            ("workload", "turns"),
            f"the {workload.kind} workload has no turns",
            "leave turns out or take the multi-turn workload",
        )
    chunk = engine.chunked_prefill_size
    if chunk is not None and chunk % engine.page_size:
        yield Problem(
            ("engine", "chunked_prefill_size"),
            f"{chunk:,} is no multiple of the page size {engine.page_size:,}",
            "a chunk must end where a page ends",
        )


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
    section = _value_at(example, tuple(parents))
    near = nearest(str(key), keys_of(section))
    if near is None:
        near = nearest(str(key), _leaves(example))
        near = None if near is None else _leaves(example)[near]
    remedy = f"did you mean {near}?" if near else f"known here: {', '.join(keys_of(section))}"
    return Problem(path, "unknown key", remedy)


def _leaves(example: Scenario) -> dict[str, str]:
    """Every key of the scenario by its last word: ``groups`` → ``workload.groups``."""
    found = {name: name for name in keys_of(example)}
    for name in keys_of(example):
        for leaf in keys_of(getattr(example, name)):
            found.setdefault(leaf, f"{name}.{leaf}")
    return found
