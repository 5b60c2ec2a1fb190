"""Every note on a log, the weightiest themes first."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.metrics.log_summary.model import Note
from radixbench.metrics.log_summary.notes.counts import count_notes
from radixbench.metrics.log_summary.notes.course import course_notes
from radixbench.metrics.log_summary.notes.llamacpp import llamacpp_notes
from radixbench.metrics.log_summary.notes.missing import missing_notes
from radixbench.metrics.log_summary.notes.pools import pool_notes
from radixbench.metrics.log_summary.notes.settings import setting_notes
from radixbench.metrics.log_summary.notes.speed import speed_notes
from radixbench.metrics.log_summary.notes.traffic import traffic_notes
from radixbench.metrics.log_summary.notes.vllm import vllm_notes
from radixbench.metrics.log_summary.reading import Reading

THEMES = (
    missing_notes, setting_notes, count_notes, traffic_notes, pool_notes, course_notes, vllm_notes, llamacpp_notes, speed_notes,
)  # fmt: skip


def all_notes(reading: Reading) -> Iterator[Note]:
    """Those that apply, and none that doesn't."""
    for theme in THEMES:
        yield from theme(reading)
