"""Flags whose words the server knows: a wrong one is refused in one line with what would be right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from radixbench.engine.runner import StepCost
from radixbench.errors import UsageError

Word = TypeVar("Word", bound=str)

_COST_FIELDS = {
    "prefill_base": "prefill_base_ns",
    "prefill_token": "prefill_token_ns",
    "decode_base": "decode_base_ns",
    "decode_token": "decode_token_ns",
}
_NS_PER_US = 1000


def choose(flag: str, value: str, allowed: Sequence[Word]) -> Word:
    """``value`` as one of the allowed words."""
    for word in allowed:
        if word == value:
            return word
    raise UsageError(f"{flag} is {value!r}", remedy=f"give one of {', '.join(allowed)}")


def parse_step_cost(text: str) -> StepCost:
    """What scripted steps cost, as ``prefill_base=1000,decode_token=100`` in µs; the rest by default."""
    cost = StepCost()
    for part in filter(None, text.split(",")):
        name, _, number = part.partition("=")
        try:
            cost = replace(cost, **{_COST_FIELDS[name.strip()]: _nanoseconds(number)})
        except (KeyError, ValueError):
            raise UsageError(
                f"--fake-step-cost holds {part!r}",
                remedy=f"give NAME=MICROSECONDS with names {', '.join(_COST_FIELDS)}",
            ) from None
    return cost


def _nanoseconds(text: str) -> int:
    value = round(float(text) * _NS_PER_US)
    if value < 0:
        raise ValueError(text)
    return value
