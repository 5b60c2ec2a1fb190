"""What llama.cpp's timings mean."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.metrics.log_summary.model import Note
from radixbench.metrics.log_summary.notes.words import be, several, times
from radixbench.metrics.log_summary.reading import Reading


def llamacpp_notes(reading: Reading) -> Iterator[Note]:
    """Notes on reuse per slot."""
    if reading.dialect != "llamacpp":
        return
    log = reading.kept.llamacpp
    if log.unknown:
        yield Note(
            "cached-tokens-unknown",
            f"No line tells how much {log.unknown:,} of {several(log.lines, 'request')} reused ({several(log.unknown_tokens, 'computed token')}): they are left out of the hit rate, not counted as 0.",
        )
    if log.derived:
        yield Note(
            "cached-tokens-derived",
            f"The log doesn't print what {several(log.derived, 'request')} reused: it follows from the tokens in the slot at its release, less the computed and the generated ones.",
        )
    if log.reprocessed:
        yield Note(
            "full-reprocess",
            f"{times(log.reprocessed).capitalize()} a whole prompt was computed again although its beginning was in the slot: a sliding-window or recurrent model keeps too little to go on from it.",
        )
    if log.fully_cached:
        yield Note(
            "fully-cached-prompts",
            f"{several(log.fully_cached, 'prompt')} {be(log.fully_cached)} cached but for the last token, which is always computed: the printed rate over 1 token says nothing and is left out.",
        )
    if log.context_shifts or log.truncated_contexts:
        n = log.context_shifts or log.truncated_contexts
        yield Note(
            "context-shifted",
            f"{times(n).capitalize()} a context was too long and its middle dropped: what follows shares less with later prompts.",
        )
