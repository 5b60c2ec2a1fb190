"""Are the answers of two runs of one seed the same, token by token?

Greedy answers to the same prompts must be, with the cache on and off: what a cache returns is what would have been
computed. Sampled answers part by chance, and prove nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.capture.model import Run
from radixbench.scenario.model import Scenario


@dataclass(frozen=True, slots=True)
class Equality:
    """How the completed answers of two runs compare; ``first`` is the earliest index at which any two part.

    ``untold`` counts answers that both runs completed and of which a server didn't tell the tokens.
    """

    compared: int
    unlike: int
    first: int | None
    untold: int

    @property
    def equal(self) -> int:
        """Pairs of answers without a difference."""
        return self.compared - self.unlike


def sampled(scenario: Scenario) -> bool:
    """Whether answers were drawn by chance, at a temperature above 0."""
    return (scenario.workload.temperature or 0) > 0


def equality(a: Run, b: Run) -> Equality:
    """Every prompt that both runs completed, its answers held against each other."""
    answers = [{r.prompt: r.output_ids for r in run.requests if r.status == "completed"} for run in (a, b)]
    common = answers[0].keys() & answers[1].keys()
    compared, partings = 0, []
    for prompt in common:
        one, two = answers[0][prompt], answers[1][prompt]
        if one is None or two is None:
            continue
        compared += 1
        if one != two:
            partings.append(_parting(one, two))
    return Equality(compared, len(partings), min(partings, default=None), len(common) - compared)


def _parting(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    """The first index at which the answers differ; the shorter's length where it begins the longer."""
    unlike = (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
    return next(unlike, min(len(a), len(b)))
