"""A ``ReportView`` and a bench's progress on a terminal: the door of rich in this room."""

from radixbench.report.console.printing import print_command, print_view
from radixbench.report.console.progress import ProgressDisplay, ProgressEvent

__all__ = ["ProgressDisplay", "ProgressEvent", "print_command", "print_view"]
