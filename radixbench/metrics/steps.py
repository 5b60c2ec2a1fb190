"""What the engine's own step records tell: how much of its time went into tree and scheduler."""

from __future__ import annotations

from radixbench.metrics.answers import Answers
from radixbench.metrics.definition import Measured
from radixbench.stats.sample import Absent


def host_share(answers: Answers) -> Measured:
    """Time in tree and scheduler over the time of all steps, 0 to 1."""
    steps = answers.run.steps
    total = sum(step.end_ns - step.start_ns for step in steps)
    if total <= 0:
        return Measured(Absent("the server left no step records"), 0)
    return Measured(sum(step.host_ns for step in steps) / total, len(steps))
