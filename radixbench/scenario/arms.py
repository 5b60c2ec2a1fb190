"""The arms of a sweep: their names, which their captures are called by, and the cache mode of each.

Two modes are the two arms of a comparison. One mode twice is a null test: an arm against itself, whose two sides are
told apart by a letter, and which can differ in nothing but noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from radixbench.records import Mode
from radixbench.scenario.model import Scenario

ArmName = str
"""``on``, ``off``, or in a null test ``off-a`` and ``off-b``."""

NULL_MODES: tuple[Mode, Mode] = ("off", "off")
"""What ``--null`` measures: the arm without reuse, whose runs all do the same work."""


def is_null(scenario: Scenario) -> bool:
    """Whether an arm is measured against itself."""
    return len(scenario.modes) > len(set(scenario.modes))


def arms(scenario: Scenario) -> Mapping[ArmName, Mode]:
    """The arms in the order in which a scenario names them."""
    if not is_null(scenario):
        return {mode: mode for mode in scenario.modes}
    return {f"{mode}-{letter}": mode for letter, mode in zip("ab", scenario.modes, strict=True)}


def sides(names: Iterable[ArmName]) -> tuple[ArmName, ...]:
    """The arms as a comparison takes them, A first: with reuse against without, whichever is named first."""
    return tuple(sorted(names, key=lambda name: name == "off"))
