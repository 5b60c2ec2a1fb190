"""Prefill lines that are no traffic of users', or that stand for another batch than they say.

A health check or a warm-up shows as one tiny prompt on an idle server. In overlap mode, servers around 0.5.9 overwrote the figures of the
first of two prefill batches in a row with those of the second (sgl-project/sglang#18570): the same line then
stands twice, equal but for the throughput.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

PROBE_TOKENS = 10
_MOST_PROBE_TOKENS = 256
_BUDGET_STEP = 512
_VARIES = "input_throughput"


class Probes:
    """Lines of one short prompt on an idle server, by their new tokens (a page where those are rounded)."""

    __slots__ = ("_before_start", "_by_new")

    def __init__(self) -> None:
        self._by_new: Counter[int] = Counter()
        self._before_start: Counter[int] = Counter()

    def add(self, new: int) -> None:
        """One line with a single sequence, hardly a cached token, nothing running and nothing waiting."""
        if new <= _MOST_PROBE_TOKENS:
            self._by_new[new] += 1

    def start(self) -> None:
        """The server starts: until it is ready, such lines are its own warm-up."""
        self._before_start = Counter(self._by_new)

    def ready(self) -> None:
        """Forget the warm-up, which is told apart."""
        self._by_new = Counter(self._before_start)

    def count(self, page_size: int) -> tuple[int, int]:
        """How many lines, how many tokens; up to ten tokens, or exactly one page where tokens are rounded to pages."""
        tiny = {new: n for new, n in self._by_new.items() if new <= PROBE_TOKENS or new == page_size > 1}
        return sum(tiny.values()), sum(new * n for new, n in tiny.items())


class Twins:
    """Neighbouring prefill lines of one rank and one moment that differ in nothing but the throughput."""

    __slots__ = ("cached_tokens", "new_tokens", "pairs")

    def __init__(self) -> None:
        self.pairs = 0
        self.new_tokens = 0
        self.cached_tokens = 0

    def compare(self, values: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
        """Whether the line repeats the one before. Lines of a chunked prompt may be alike, so full ones don't count."""
        new, cached = values["new_token"], values["cached_token"]
        if _VARIES not in values or "pending_token" in values or new % _BUDGET_STEP == 0:
            return False
        same = values.keys() == before.keys() and all(
            value == before[key] for key, value in values.items() if key != _VARIES
        )
        if same and values[_VARIES] != before[_VARIES]:
            self.pairs += 1
            self.new_tokens += new
            self.cached_tokens += cached
            return True
        return False
