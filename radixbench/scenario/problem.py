"""What is wrong at one key of a scenario, and how a key is written.

Checks yield problems; whoever called for them turns a problem's key into a line of a file or a flag.
"""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.scenario.model import Scenario

KeyPath = tuple[str | int, ...]


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


def value_at(scenario: Scenario, path: KeyPath) -> object:
    """What stands at a key of a scenario or of one of its sections."""
    value: object = scenario
    for part in path:
        value = getattr(value, str(part))
    return value
