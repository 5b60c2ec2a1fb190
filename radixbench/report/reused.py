"""How much of its prompt a request found cached, in the few words that figures tell apart."""

from __future__ import annotations

from radixbench.metrics.answers import prompt_length
from radixbench.records import RequestRecord

MOSTLY, PARTLY, NOTHING, UNKNOWN = "mostly cached", "partly cached", "nothing cached", "cached tokens unknown"
SHARES = (MOSTLY, PARTLY, NOTHING, UNKNOWN)
"""Half of the prompt or more; less; none; the server doesn't tell."""

_HALF = 0.5


def reused(request: RequestRecord) -> str:
    """One of ``SHARES``."""
    if request.cached_tokens is None:
        return UNKNOWN
    if request.cached_tokens <= 0:
        return NOTHING
    return MOSTLY if request.cached_tokens >= _HALF * prompt_length(request) else PARTLY
