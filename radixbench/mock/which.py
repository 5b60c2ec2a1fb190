"""Which of the numbered requests something happens to: the same ones in every run with the same seed.

Requests for answers are numbered from 1 in the order they came in complete. Written as text: ``all``,
``never``, ``1/3`` (every third: 3, 6, 9, …), ``first:20`` (the first twenty) or ``0.1`` (a tenth, drawn by seed).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from radixbench.errors import UsageError

_FORMS = "give all, never, 1/N for every N-th, first:N, or a share such as 0.1"


@dataclass(frozen=True, slots=True)
class Which:
    """A choice of requests: those up to ``first``, each ``every``-th, and a seeded ``share`` of the rest."""

    every: int | None = None
    share: float = 0.0
    first: int = 0

    def holds(self, number: int, *, seed: int, what: str) -> bool:
        """Whether it happens to request ``number``; ``what`` keeps the draws of two faults apart."""
        if number <= self.first or (self.every is not None and number % self.every == 0):
            return True
        return self.share > 0.0 and draw(f"{seed}/{what}/{number}") < self.share

    def __str__(self) -> str:
        if self.every is not None:
            return "all" if self.every == 1 else f"1/{self.every}"
        if self.first:
            return f"first:{self.first}"
        return f"{self.share:g}" if self.share else "never"


ALL = Which(every=1)
NEVER = Which()


def draw(what: str) -> float:
    """A number from 0 up to 1 that depends on ``what`` alone."""
    return int.from_bytes(hashlib.blake2b(what.encode(), digest_size=7).digest()) / 2**56


def parse_which(text: str, flag: str) -> Which:
    """``text`` as a choice of requests; ``flag`` names where it was written. Raises ``UsageError``."""
    words = {"all": ALL, "never": NEVER}
    if text in words:
        return words[text]
    try:
        if text.startswith("1/"):
            return Which(every=_positive(text[2:]))
        if text.startswith("first:"):
            return Which(first=_positive(text[6:]))
        share = float(text)
    except ValueError:
        raise UsageError(f"{flag} holds {text!r}", remedy=_FORMS) from None
    if not 0.0 <= share <= 1.0:
        raise UsageError(f"{flag} holds {text!r}, which is no share from 0 to 1", remedy=_FORMS)
    return ALL if share == 1.0 else Which(share=share)


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value
