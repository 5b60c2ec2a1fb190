"""What the probes of a preparation prove."""

from __future__ import annotations

import pytest

from radixbench.bench.protocol import Preparation, judge
from radixbench.client.flush import FlushOutcome
from radixbench.records import Mode

FLUSH = FlushOutcome(ok=True, status=200, body="Cache flushed.", attempts=2)


@pytest.mark.parametrize(
    ("mode", "repeat", "after", "measured", "verified"),
    [
        ("on", 127, 0, 5000, True),
        ("on", 127, 127, 5000, False),
        ("on", 0, 0, 0, False),
        ("on", None, None, None, None),
        ("off", 0, 0, 0, True),
        ("off", 127, 0, 0, False),
        ("off", 0, 0, 64, False),
        ("off", 0, 0, None, None),
    ],
)
def test_a_declared_state_is_believed_only_with_proof(
    mode: Mode, repeat: int | None, after: int | None, measured: int | None, verified: bool | None
) -> None:
    """On: the repeated probe hits, and no longer after the flush. Off: nothing ever hits. Silence proves nothing."""
    record = judge(mode, Preparation(9, repeat, after, FLUSH), measured)
    assert record.verified is verified
    assert record.declared == ("cold" if mode == "on" else "off")
    assert (record.flush_attempts, record.probe_cached_tokens) == (2, after)
