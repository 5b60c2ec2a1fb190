"""The client held against a server that knows its own writes."""

from __future__ import annotations

import pytest

from radixbench.bench import calibration
from radixbench.errors import IncompleteError


def test_every_chunk_is_matched_with_its_write() -> None:
    """All chunks of all streams are compared; no stamp of the client lies before the write it read."""
    found = calibration.calibrate()
    assert found.streams == calibration.STREAMS
    assert found.chunks == calibration.STREAMS * calibration.CHUNKS
    assert 0 < found.ttft_error_p50_ns <= found.ttft_error_p99_ns
    assert 0 < found.lag_p50_ns <= found.lag_p99_ns
    assert found.cpu_ns_per_chunk > 0
    assert 0.0 <= found.coalesced_share <= 1.0
    assert found.seconds > 0.5


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b'{"mock": true, "pid": 1, "base_url": "http://x"}'])
def test_only_the_mock_that_was_started_will_do(line: bytes) -> None:
    """A process that ends at once, prints something else, or is another one can't calibrate anything."""
    with pytest.raises(IncompleteError, match="didn't start"):
        calibration._introduced(line, 2)
