"""A log that can't be written."""

from __future__ import annotations

import io

from radixbench.clock import ClockAnchor, ManualClock
from radixbench.server.steplog import StepLog


class _FullDisk(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


def test_a_full_disk_costs_lines_and_nothing_else() -> None:
    """Whoever logs goes on: requests in flight are still answered."""
    StepLog(_FullDisk(), ManualClock(), ClockAnchor(0, 0)).message("hello")
