"""What makes a scenario sound: names, ranges, lists, and which keys go together.

Files and flags pass through the same checks; whoever calls turns a ``Problem``'s key into a line of
a file or the name of a flag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import prod

from radixbench.scenario.cells import SECTION_OF_AXIS
from radixbench.scenario.kinds import kind_problems
from radixbench.scenario.model import EngineSpec, LoadSpec, Scenario, WorkloadSpec
from radixbench.scenario.pairings import gaps, pairing_problems
from radixbench.scenario.problem import KeyPath, Problem, key_text, value_at
from radixbench.scenario.ranges import range_problems
from radixbench.scenario.unknown import keys_of

__all__ = ["MAX_CELLS", "KeyPath", "Problem", "first_gap", "first_problem", "key_text"]

MAX_CELLS = 10_000
_MOST_ARMS = 2
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PATHS: tuple[KeyPath, ...] = (
    ("model", "name"),
    ("workload", "file"),
    ("workload", "dataset"),
    ("target", "tokenizer"),
    ("target", "server_log"),
)
"""Keys whose text may become a path or a word of a command line."""
_ONE_VALUE = {"load": LoadSpec(), "workload": WorkloadSpec(), "engine": EngineSpec()}


def first_problem(scenario: Scenario) -> Problem | None:
    """The first thing wrong with a scenario whose types are right; ``None`` for a sound one."""
    return next(_problems(scenario), None)


def first_gap(scenario: Scenario) -> Problem | None:
    """The first key that a sound scenario can't run without and doesn't have."""
    return next(gaps(scenario), None)


def _problems(scenario: Scenario) -> Iterator[Problem]:
    yield from _name_problems(scenario)
    yield from range_problems(scenario)
    for path, values in (
        (("workload", "shared"), scenario.workload.shared),
        (("workload", "turns"), scenario.workload.turns),
    ):
        yield from _empty_problems(path, values)
        yield from _repeat_problems(path, values or ())
    yield from _mode_problems(scenario.modes)
    yield from _grid_problems(scenario)
    yield from kind_problems(scenario)
    yield from pairing_problems(scenario)


def _name_problems(scenario: Scenario) -> Iterator[Problem]:
    if not _NAME.fullmatch(scenario.name):
        yield Problem(
            ("name",),
            f"{scenario.name!r} can't be part of a file name",
            "use letters, digits, '.', '_' and '-', beginning with a letter or digit",
        )
    if not scenario.model.name.strip():
        yield Problem(("model", "name"), "is empty", "name a model, such as tiny")
    for path in _PATHS:
        text = value_at(scenario, path)
        if isinstance(text, str) and "\0" in text:
            yield Problem(path, "holds a NUL character", "write the name plainly")


def _empty_problems(path: KeyPath, values: Sequence[object] | None) -> Iterator[Problem]:
    if values is not None and not values:
        yield Problem(path, "the list is empty", "give at least one value")


def _repeat_problems(path: KeyPath, values: Sequence[object]) -> Iterator[Problem]:
    for index, value in enumerate(values):
        if value in values[:index]:
            yield Problem((*path, index), f"{value} stands there twice", "give each value once")


def _mode_problems(modes: Sequence[str]) -> Iterator[Problem]:
    """One arm, two that are compared, or one against itself: a mode twice, and nothing beside it."""
    yield from _empty_problems(("modes",), modes)
    if len(modes) > _MOST_ARMS:
        yield Problem(
            ("modes", _MOST_ARMS),
            f"{len(modes)} arms are more than a sweep compares",
            'name one, or two: ["on", "off"], or ["off", "off"] for a null test',
        )


def _grid_problems(scenario: Scenario) -> Iterator[Problem]:
    """Axes that repeat a value, axes of a key that has a value of its own, more cells than anyone waits for."""
    lengths = [len(scenario.workload.shared), len(scenario.workload.turns or (1,))]
    for key in keys_of(scenario.grid):
        values = getattr(scenario.grid, key)
        yield from _repeat_problems(("grid", key), values)
        section = SECTION_OF_AXIS[key]
        if values and getattr(getattr(scenario, section), key) != getattr(_ONE_VALUE[section], key):
            yield Problem(("grid", key), f"{section}.{key} has a value too", "leave one of the two out")
        lengths.append(len(values) or 1)
    if prod(lengths) > MAX_CELLS:
        yield Problem(("grid",), f"its axes make {prod(lengths):,} cells", f"{MAX_CELLS:,} are the most")
