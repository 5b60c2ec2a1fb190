"""Comparisons made by hand: what no real capture need be simulated for."""

from __future__ import annotations

from typing import Any

from radixbench.compare.change import ArmSummary, Change, Comparison, Difference, Factor, Side
from radixbench.metrics.registry import METRICS


def change(
    metric: str = "ttft_p50",
    *,
    shared: int = 4096,
    value: float | None = 24.1,
    low: float | None = 22.8,
    high: float | None = 25.5,
    verdict: str | None = "better",
    **more: Any,
) -> Change:
    """One row; the sides are placeholders."""
    facts: dict[str, Any] = {
        "cell": {"shared_tokens": shared},
        "metric": metric,
        "unit": METRICS[metric].unit,
        "better": METRICS[metric].better,
        "a": Side(0.01, 0.009, 0.011, 3, 192),
        "b": Side(0.241, 0.23, 0.25, 3, 192),
        "factor": None if value is None else Factor(value, low, high, 0.95),
        "difference": None,
        "verdict": verdict,
        "detectable": None,
        "bound": None,
        "reason": None,
        "caveats": (),
        "pairs": ((0, 0.01, 0.241), (1, 0.01, 0.241), (2, 0.01, 0.241)),
    }
    return Change(**(facts | more))


def comparison(*changes: Change, modes: tuple[str, str] = ("on", "off"), **more: Any) -> Comparison:
    """Rows of two arms with these modes."""
    a, b = (
        ArmSummary(f"{name}.json", mode, "tiny", "bundled", "laptop", 9, 9, 576, 576)
        for name, mode in zip("ab", modes, strict=True)
    )
    facts: dict[str, Any] = {
        "a": a,
        "b": b,
        "eligible": True,
        "differences": (),
        "changes": changes,
        "caveats": (),
        "threshold": 0.03,
    }
    return Comparison(**(facts | more))


def forbidding(field: str, a: Any, b: Any) -> Difference:
    """A difference that forbids a verdict."""
    return Difference(field, a, b, allowed=False)
