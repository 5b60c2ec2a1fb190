"""A comparison as the JSON document ``radixbench compare --json`` prints: plain values, no NaN.

A missing figure is ``null``, and its row says why in ``reason``.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from radixbench.compare.change import Change, Comparison, Factor, Power, Side, Spread
from radixbench.compare.gate import gate_document
from radixbench.compare.law_document import law_document
from radixbench.compare.verdict import HEADLINE

SCHEMA = "radixbench.compare/1"


def to_document(
    c: Comparison, *, gate: tuple[str, ...] = HEADLINE, fail_on: Collection[str] | None = None
) -> dict[str, Any]:
    """The document of schema ``radixbench.compare/1``; ``gate`` are the metrics judged together in its ``gate``.

    Rows keep the verdict that each has by itself; what holds of all gated ones together stands in ``gate``.
    """
    return {
        "schema": SCHEMA,
        "a": asdict(c.a),
        "b": asdict(c.b),
        "eligible": c.eligible,
        "null_test": c.null_test,
        "threshold": c.threshold,
        "differences": [
            {
                "field": one.field,
                "a": _plain(one.a),
                "b": _plain(one.b),
                "allowed": one.allowed,
                "overridden": one.overridden,
                "where": one.where,
            }
            for one in c.differences
        ],
        "allowed": list(c.allowed),
        "gate": gate_document(c, gate, fail_on),
        "rows": [_row(change) for change in c.changes],
        "clocks": [_strict(asdict(one)) for one in c.clocks],
        "laws": [law_document(one) for one in c.laws],
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
        "power": None if change.power is None else _power(change.power),
    }


def _power(power: Power) -> dict[str, Any]:
    """What the row, judged by itself, could have shown."""
    return {
        "n_pairs": power.n_pairs,
        "spread": _number(power.spread),
        "detectable": _number(power.detectable),
        "chance": [{"effect": effect, "chance": value} for effect, value in power.chance.items()],
        "with_pairs": [{"n_pairs": n, "detectable": _number(e)} for n, e in power.with_pairs.items()],
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


def _strict(value: Any) -> Any:
    """Nested plain values as JSON holds them."""
    if isinstance(value, dict):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    return _plain(value)


def _plain(value: Any) -> Any:
    return _number(value) if isinstance(value, float) else value
