"""The law behind the factors as the compare document tells it: figures with their intervals, not the requests behind them."""

from __future__ import annotations

import math
from typing import Any

from radixbench.compare.change import Factor, LawChange, Spread
from radixbench.metrics.law import Law
from radixbench.stats.estimate import Estimate


def law_document(change: LawChange) -> dict[str, Any]:
    """One setting; lengths in tokens, times in seconds and seconds per token."""
    return {
        "setting": dict(change.setting),
        "a": _law(change.a),
        "b": _law(change.b),
        "reason": change.reason,
        "break_even": None if change.break_even is None else _ends(change.break_even),
        "break_even_reason": change.break_even_reason,
        "predictions": [
            {
                "shared_tokens": one.shared_tokens,
                "factor": _levelled(one.factor),
                "beyond": one.beyond,
                "straight": one.straight,
            }
            for one in change.predictions
        ],
    }


def _law(law: Law | None) -> dict[str, Any] | None:
    """A law without the requests behind its lines."""
    if law is None:
        return None
    return {
        "intercept": _levelled(law.intercept),
        "slope": _levelled(law.slope),
        "cached_slope": None if law.cached_slope is None else _levelled(law.cached_slope),
        "bend": None if law.bend is None else _levelled(law.bend),
        "r_squared": _number(law.r_squared),
        "residual_s": _number(law.residual_s),
        "deviation": _number(law.deviation),
        "n_requests": law.n_requests,
        "n_seeds": law.n_seeds,
        "uncached_low": law.uncached_low,
        "uncached_high": law.uncached_high,
    }


def _levelled(figure: Estimate | Factor) -> dict[str, Any]:
    return {**_ends(figure), "level": figure.level}


def _ends(figure: Estimate | Factor | Spread) -> dict[str, Any]:
    return {"value": _number(figure.value), "low": _number(figure.low), "high": _number(figure.high)}


def _number(value: float | None) -> float | None:
    return value if value is None or math.isfinite(value) else None
