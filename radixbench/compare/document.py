"""A comparison as the JSON document ``radixbench compare --json`` prints: plain values, no NaN.

A missing figure is ``null``, and its row says why in ``reason``.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from radixbench.compare.change import Change, Comparison, Factor, Side, Spread

SCHEMA = "radixbench.compare/1"


def to_document(c: Comparison) -> dict[str, Any]:
    """The document of schema ``radixbench.compare/1``."""
    return {
        "schema": SCHEMA,
        "a": asdict(c.a),
        "b": asdict(c.b),
        "eligible": c.eligible,
        "threshold": c.threshold,
        "differences": [
            {"field": one.field, "a": _plain(one.a), "b": _plain(one.b), "allowed": one.allowed}
            for one in c.differences
        ],
        "rows": [_row(change) for change in c.changes],
        "caveats": [asdict(caveat) for caveat in c.caveats],
    }


def _row(change: Change) -> dict[str, Any]:
    return {
        "cell": dict(change.cell),
        "metric": change.metric,
        "unit": change.unit,
        "better": change.better,
        "a": _side(change.a),
        "b": _side(change.b),
        "factor": None if change.factor is None else _factor(change.factor),
        "difference": None if change.difference is None else _spread(change.difference),
        "verdict": change.verdict,
        "detectable": _number(change.detectable),
        "bound": change.bound,
        "reason": change.reason,
        "caveats": list(change.caveats),
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "value": _number(side.value),
        "low": _number(side.low),
        "high": _number(side.high),
        "n_runs": side.n_runs,
        "n_values": side.n_values,
    }


def _factor(factor: Factor) -> dict[str, Any]:
    return {
        "value": _number(factor.value),
        "low": _number(factor.low),
        "high": _number(factor.high),
        "level": factor.level,
    }


def _spread(spread: Spread) -> dict[str, Any]:
    return {"value": _number(spread.value), "low": _number(spread.low), "high": _number(spread.high)}


def _number(value: float | None) -> float | None:
    return value if value is None or math.isfinite(value) else None


def _plain(value: Any) -> Any:
    return _number(value) if isinstance(value, float) else value
