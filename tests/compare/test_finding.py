"""How findings become the caveats people read."""

from __future__ import annotations

from radixbench.compare.finding import Finding, caveats


def finding(text: str) -> Finding:
    """A finding that differs in its words only."""
    return Finding(code="clock-unknown", severity="info", text=text, remedy="look")


def test_what_holds_for_both_sides_is_said_once() -> None:
    """The same words of A and of B become one sentence; what only one side has stays with it."""
    found = [finding("A: no clock"), finding("B: no clock"), finding("B: no reasons"), finding("A: no clock")]
    (caveat,) = caveats(found)
    assert caveat.text == "A and B: no clock; B: no reasons"
