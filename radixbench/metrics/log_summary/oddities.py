"""Prefill lines that are no traffic of users', or that stand for another batch than they say.

A health check or a warm-up shows as one tiny prompt on an idle server. In overlap mode, servers around 0.5.9 overwrote the figures of the
first of two prefill batches in a row with those of the second (sgl-project/sglang#18570): the same line then
stands twice, equal but for the throughput.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from radixbench.metrics.log_summary.chunks import PROBE_TOKENS

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


class TwinLines(NamedTuple):
    """Pairs of equal lines, and the tokens of one line of each."""

    pairs: int
    new_tokens: int
    cached_tokens: int


class Twins:
    """Neighbouring prefill lines of one rank that differ in nothing but the throughput.

    A workload of equal prompts prints equal lines too: runs of more than two, pairs like the pair before, and lines of hardly
    any new tokens prove nothing.
    """

    __slots__ = ("_found", "_last", "_open", "_run")

    def __init__(self) -> None:
        self._found = TwinLines(0, 0, 0)
        self._run = 1
        self._open: tuple[int, int] | None = None
        self._last: tuple[int, int] | None = None

    @property
    def running(self) -> bool:
        """The last line equalled the one before it."""
        return self._run > 1

    def compare(self, values: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
        """Whether the line repeats the one before. Lines of a chunked prompt may be alike, so full ones don't count."""
        new = values["new_token"]
        if (
            _VARIES not in values
            or "pending_token" in values
            or new <= PROBE_TOKENS
            or new % _BUDGET_STEP == 0
        ):
            return False
        same = values.keys() == before.keys() and all(
            value == before[key] for key, value in values.items() if key != _VARIES
        )
        if same:
            self._run += 1
            pair = self._run == 2 and values[_VARIES] != before[_VARIES]
            self._open = (new, values["cached_token"]) if pair else None
        return same

    def end(self) -> None:
        """Another line follows: a run of two has been a pair."""
        self._found = self.found()
        self._last = self._open or self._last
        self._open = None
        self._run = 1

    def found(self) -> TwinLines:
        """All pairs so far."""
        if self._open is None or self._open == self._last:
            return self._found
        pairs, new, cached = self._found
        return TwinLines(pairs + 1, new + self._open[0], cached + self._open[1])
