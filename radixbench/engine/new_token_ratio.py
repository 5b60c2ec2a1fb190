"""How much of the output a running request may still ask for is reserved for it.

Reserving all wastes the pool, since most requests end early; reserving nothing fills it and forces
retractions. The ratio starts high, decays with every decode step that went well, and is set anew
from what was seen when one didn't. Constants are SGLang's (0.5.22).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from radixbench.engine.request import Req

INITIAL: Final = 0.7
MIN_FACTOR: Final = 0.14
DECAY_STEPS: Final = 600
RETRACT_DECODE_STEPS: Final = 20


class NewTokenRatio:
    """A share of 0 to 1; ``value`` is what holds now."""

    def __init__(self, conservativeness: float) -> None:
        self.initial = min(INITIAL * conservativeness, 1.0)
        self.minimum = self.initial * MIN_FACTOR
        self._decay = (self.initial - self.minimum) / DECAY_STEPS
        self.value = self.initial

    def decay(self) -> None:
        """A decode step found its slots."""
        self.value = max(self.value - self._decay, self.minimum)

    def reset(self) -> None:
        """The engine is idle."""
        self.value = self.initial

    def relearn(self, kept: Sequence[Req]) -> None:
        """Requests had to be retracted; reserve what those that stay have used, and 20 steps more."""
        outputs = sum(req.output_len for req in kept)
        allowed = sum(req.sampling.max_tokens for req in kept)
        self.value = min((outputs + RETRACT_DECODE_STEPS * len(kept)) / (allowed + 1), 1.0)
