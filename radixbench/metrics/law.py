"""The law behind a factor: the time to the first token as a line over the tokens that had to be computed."""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.stats.estimate import Estimate


@dataclass(frozen=True, slots=True)
class Law:
    """TTFT = ``intercept`` + ``slope`` x uncached tokens of one arm in one setting, seconds and seconds per token.

    Both are means over seeds of each seed's own line, with intervals over seeds. ``r_squared`` and ``residual_s`` (standard
    deviation of the residuals) are of all ``n_requests`` of ``n_seeds``; ``uncached_low`` to ``uncached_high`` tokens were
    measured. ``bend`` is how far the middle lies off the line, as a share of it; ``None`` where nothing tells.
    """

    intercept: Estimate
    slope: Estimate
    r_squared: float
    residual_s: float
    n_requests: int
    n_seeds: int
    uncached_low: int
    uncached_high: int
    bend: float | None = None
