"""What the printed rates are worth."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.metrics.log_summary.model import Note
from radixbench.metrics.log_summary.notes.words import be, several
from radixbench.metrics.log_summary.reading import Reading

_FEW = 0.01
"""A rank's first line is always left out: that needs no telling where there are hundreds."""


def speed_notes(reading: Reading) -> Iterator[Note]:
    """Notes on SGLang's throughput figures; ours are exact."""
    group = reading.figures.group
    if group is None or reading.dialect == "radixbench":
        return
    left_out = sum(ledger.pace.left_out for ledger in group.ledgers)
    batches = reading.figures.decode.batches or 0
    if left_out > len(group.ledgers) or left_out > _FEW * batches:
        told = reading.figures.decode.left_out
        reasons = ", ".join(f"{count:,} {why}" for why, count in told.items() if count)
        yield Note(
            "first-after-idle",
            f"{several(left_out, 'decode line')} {be(left_out)} left out of the output throughput: {reasons}. Such a line divides by time in which nothing ran, or "
            "less did.",
        )
    keys = {key for ledger in group.ledgers for key in ledger.signs.prefill_keys}
    if "input_throughput" in keys and "pending_token" not in keys:
        yield Note(
            "printed-input-throughput-off-by-one",
            "The input throughput that this version prints (0.4.8 to 0.5.10) belongs to the batch before: times the seconds since that line it gives that line's "
            "new tokens. It isn't used here.",
        )
