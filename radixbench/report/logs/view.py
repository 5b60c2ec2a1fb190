"""From the figures of a log to a ``LogView``: the one place where what is said about a log is put together.

Nothing is drawn here and no drawing library is loaded.
"""

from __future__ import annotations

from radixbench.metrics.log_summary.model import LogSummary
from radixbench.report.logs.heading import about, head, part
from radixbench.report.logs.hit import hit_rate
from radixbench.report.logs.model import LogNote, LogView
from radixbench.report.logs.sections import causes, sections, settings, time_spent
from radixbench.report.logs.tables import concurrency_table, event_table, phase_table, rank_table
from radixbench.report.logs.windows import window_table

BRIEF_WINDOWS = 40
BRIEF_PHASES = 12


def build_log_view(summary: LogSummary, *, brief: bool = False, most_windows: int | None = None) -> LogView:
    """Everything a reader is shown of one log; ``brief`` tables fit a terminal and say what they leave out.

    Above ``most_windows``, neighbouring windows are added up.
    """
    counts = summary.lines.events if summary.selected is None else {}
    return LogView(
        file=summary.file,
        head=head(summary),
        part=part(summary),
        about=about(summary),
        hit=hit_rate(summary),
        causes=causes(summary.uncached),
        sections=sections(summary),
        ranks=rank_table(summary),
        phases=phase_table(summary, BRIEF_PHASES if brief else None),
        time=time_spent(summary),
        concurrency=concurrency_table(summary.concurrency),
        windows=window_table(summary, BRIEF_WINDOWS if brief else most_windows),
        events=event_table(summary.events, counts, brief=brief),
        settings=settings(summary),
        notes=tuple(LogNote(note.code, note.text) for note in summary.notes),
    )
