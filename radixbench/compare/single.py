"""The caveats of one capture by itself, as a report of it alone shows them."""

from __future__ import annotations

from radixbench.capture.model import Capture
from radixbench.compare.arm import Arm, gather
from radixbench.compare.change import Caveat
from radixbench.compare.finding import caveats
from radixbench.compare.law import bend_findings, capture_laws
from radixbench.findings.capture import all_findings


def single_caveats(capture: Capture, arm: Arm | None = None) -> tuple[Caveat, ...]:
    """Every finding of ``capture``, merged by code, the gravest first; ``arm`` is the capture, if gathered already."""
    runs = (gather("", capture, None) if arm is None else arm).runs
    summaries = [one.summary for one in runs]
    bends = bend_findings(capture_laws(capture, summaries), sides=("", ""))
    return caveats([*all_findings(capture, summaries, answers=[one.answers for one in runs]), *bends])
