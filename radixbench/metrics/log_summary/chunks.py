"""Which prefill lines go on with a prompt that the line before began.

No line says so. A prompt longer than the chunk budget fills a line up to it, and the rank's next prefill line
goes on with it and counts it in ``#new-seq`` again. The budget is stated by the start-up arguments; else it is the
largest ``#new-token`` of the log, if lines come up to it again and again and the sequel is smaller. ``#pending-token``, where it is
printed (0.5.11 and later), settles most cases: 0 means that nothing goes on, more than 0 with
an empty queue that something does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

LEAST_BUDGET = 512
_REACH = 256
"""How far below the budget a filled line may lie: an unfilled page, or one token for each sequence."""

_MOST_SEQS = 16
_LEAST_ENDS = 0.05
PROBE_TOKENS = 10
"""A prompt this short is a health check's or a warm-up's, more likely than the end of a long one."""


@dataclass(slots=True)
class _Filled:
    """Lines of one token count and one number of sequences: how many, how many went on, and in how many sequels of another kind."""

    new_token: int
    lines: int = 0
    continued: int = 0
    ends: int = 0


Load: TypeAlias = tuple[int | None, int | None, int | None]
"""What a prefill line prints beside its tokens: running, queue, pending; ``None`` where it doesn't."""


class Continuations(NamedTuple):
    """``lines`` that go on with a prompt, ``inferred`` of them by a chunk size, ``budget``, that no argument states.

    ``unclear`` ones follow full lines that hardly ever end in a smaller one: chunks, or prompts of exactly that length.
    """

    lines: int
    budget: int | None
    inferred: int
    unclear: int


class Chunks:
    """Takes the prefill lines of one rank: all those that may fill a budget, and each line after one of them.

    ``stated`` is the budget by the arguments, ``floor`` the fewest tokens such a line has, ``open``: the last line may go on. Servers before December 2024 printed a prompt's
    earlier chunks as cached tokens; ``unresolved`` counts the lines where they can't be told from other prompts' hits.
    """

    __slots__ = (
        "_certain", "_chain", "_near", "_off", "_pending_printed", "_queue", "_running", "_seqs", "_settled",
        "floor", "open", "stated", "top", "unresolved",
    )  # fmt: skip

    def __init__(self) -> None:
        self.open: _Filled | None = None
        self.floor = LEAST_BUDGET
        self.top = 0
        self.unresolved = 0
        self.stated: int | None = None
        self._near: dict[tuple[int, int], _Filled] = {}
        self._certain = _Filled(0)
        self._settled = 0
        self._chain: int | None = None
        self._running: int | None = None
        self._queue: int | None = None
        self._seqs = 0
        self._off = False
        self._pending_printed = False

    def state(self, budget: int | None, page_size: int) -> None:
        """The start-up arguments say how large a chunk is; 0 or less: prompts are not chunked."""
        self._settled = self.count(page_size).lines
        self.stated = budget
        self._off = budget is not None and budget <= 0
        self.top = 0 if budget is None else budget
        self.floor = (
            LEAST_BUDGET if budget is None or budget <= 0 else min(max(budget - _REACH, 1), LEAST_BUDGET)
        )
        self.open = None
        self._chain = None
        self._near = {}
        self._certain = _Filled(0)

    def line(self, new: int, cached: int, seqs: int, load: Load, oldest: bool) -> int:
        """One prefill line; returns how many of its cached tokens would be its prompt's own earlier chunks.

        ``oldest``: a server up to 0.4.3, which counts a half-done prompt among those that wait.
        """
        running, queue, pending = load
        repeated = 0
        before = self.open
        if before is not None and (
            oldest or before is self._certain or not self._complete(seqs, running, queue)
        ):
            before.continued += 1
            if seqs > 1 or (new < before.new_token and (new > PROBE_TOKENS or cached > PROBE_TOKENS)):
                before.ends += 1
            if oldest:
                repeated = self._repeated(cached, seqs)
        else:
            self._chain = None
        self._seqs, self._running, self._queue = seqs, running, queue
        filled = self._filled(new, seqs) if new >= self.floor else None
        if pending is not None:
            self._pending_printed = True
        if pending == 0 or self._off:
            self.open = None
        else:
            self.open = self._certain if pending and queue == 0 else filled
        if oldest and self.open is not None:
            self._go_on(new, cached, seqs)
        return repeated

    @property
    def lowest(self) -> int:
        """The fewest new tokens with which a line may have filled the budget, as far as it is known."""
        return max(self.floor, self.top - _REACH + 1)

    def decoded(self) -> None:
        """A decode line came: where nothing else was running, the prompt before it was complete."""
        if self._running == 0 and not self._pending_printed:
            self.open = None

    def count(self, page_size: int) -> Continuations:
        """The continuation lines so far."""
        near = self._near.values()
        budget = self.stated
        if budget is None and self.top >= LEAST_BUDGET:
            again = sum(one.lines for one in near if one.new_token == self.top) >= 2
            shown = self._pending_printed or any(one.ends for one in near)
            budget = self.top if again and shown else None
        full = [] if budget is None else self._full(budget, page_size)
        continued = sum(one.continued for one in full)
        ends = sum(one.ends for one in full)
        unclear = not self._pending_printed and ends < _LEAST_ENDS * continued
        lines = self._settled + self._certain.continued + continued
        return Continuations(
            lines, budget, 0 if self.stated is not None else continued, continued if unclear else 0
        )

    def _full(self, budget: int, page_size: int) -> list[_Filled]:
        """The classes of lines that filled the budget."""
        full = []
        for (new, seqs), one in self._near.items():
            room = page_size * seqs if self._pending_printed else max(page_size, seqs)
            if 0 <= budget - new < room:
                full.append(one)
        return full

    def _filled(self, new: int, seqs: int) -> _Filled | None:
        """The class of a line that may have filled the budget."""
        if new > self.top and self.stated is None:
            self.top = new
            self._near = {key: one for key, one in self._near.items() if new - key[0] < _REACH}
        if not -_REACH < new - self.top <= 0:
            return None
        key = (new, min(seqs, _MOST_SEQS))
        found = self._near.get(key)
        if found is None:
            found = self._near[key] = _Filled(new)
        found.lines += 1
        return found

    def _complete(self, seqs: int, running: int | None, queue: int | None) -> bool:
        """The line before went on in no other: as many left the queue as this line holds, or all it held are running now."""
        if queue is not None and self._queue is not None and self._queue - queue >= seqs:
            return True
        return running is not None and self._running is not None and running - self._running >= self._seqs > 0

    def _go_on(self, new: int, cached: int, seqs: int) -> None:
        """Remember how much of the prompt is done, where a line holds nothing but it."""
        if seqs != 1:
            self._chain = None
        elif self._chain is None:
            self._chain = cached + new
        else:
            self._chain += new

    def _repeated(self, cached: int, seqs: int) -> int:
        chain = self._chain
        if chain is None:
            self.unresolved += cached > 0
            return 0
        own = cached == chain if seqs == 1 else cached >= chain
        if not own:
            self._chain = None if seqs != 1 else chain
            return 0
        return chain
