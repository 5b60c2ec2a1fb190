"""How ``compare`` and ``report`` read captures and judge them: one definition, so that the two tell one story of the same files."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from radixbench.cli import options
from radixbench.errors import UsageError

if TYPE_CHECKING:
    from radixbench.capture.model import Capture

_YOUNG_OBJECTS = 1_000_000
"""How many new objects there may be before the collector looks at them."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The metrics that decide, the smallest effect that counts, the clock below which a caveat is due, and what may differ."""

    gate: tuple[str, ...]
    threshold: float
    clock_floor: float | None
    allow: tuple[str, ...]

    @classmethod
    def of(
        cls, *, gate: str, threshold: float, clock_floor: float | None, allow: Sequence[str] | None
    ) -> Terms:
        """As the options say it. Raises ``UsageError`` for a metric that nobody knows or that has no verdict."""
        from radixbench.compare.gate import check_gate

        fields = tuple(field for one in allow or () for field in one.split(","))
        return cls(check_gate(names_in("--gate", gate)), threshold, clock_floor, fields)

    def load(self, paths: Sequence[Path], goodput: str | None) -> list[Capture]:
        """The captures, judged by these targets of goodput if there are any."""
        from radixbench.capture.store import load
        from radixbench.compare.gate import check_gate
        from radixbench.compare.targets import with_goodput
        from radixbench.scenario.goodput import parse_goodput

        targets = None if goodput is None else parse_goodput(goodput)
        captures = [load(path) for path in paths]
        if targets is not None:
            captures = [with_goodput(capture, targets) for capture in captures]
        check_gate(self.gate, captures)
        _keep()
        return captures

    def refuse_with_one(self) -> None:
        """One capture is compared with nothing."""
        told = {
            "--threshold": self.threshold != options.THRESHOLD,
            "--clock-floor": self.clock_floor is not None,
            "--allow": bool(self.allow),
        }
        for flag, given in told.items():
            if given:
                raise UsageError(f"{flag}: one capture is compared with nothing", remedy="name a second one")


def _keep() -> None:
    """Captures stay until the command ends, and what is computed of them has next to no cycles.

    A collector that walks millions of records again and again would take a quarter of the time of a large report.
    """
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS)


def names_in(flag: str, text: str) -> tuple[str, ...]:
    """The names of a list with commas; refuses one that names nothing."""
    names = tuple(name for part in text.split(",") if (name := part.strip()))
    if not names:
        raise UsageError(f"{flag}: is empty, so that it would judge nothing", remedy="name at least one")
    return names
