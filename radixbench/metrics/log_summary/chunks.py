"""Which prefill lines go on with a prompt that the line before began.

No line says so. A prompt longer than the chunk budget fills a line up to it, and the rank's next prefill line
goes on with it and counts it in ``#new-seq`` again. The budget is stated by the start-up arguments; else it is the
largest ``#new-token`` of the log, if it is a usual chunk size, lines come up to it again and the sequel is another kind of line.
``#pending-token``, where it is printed (0.5.11 and later), settles most cases: 0 means that nothing goes on, more than 0 with
an empty queue that something does. Where prompts of equal length fill a chunk exactly, nothing tells: then it is unclear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

LEAST_BUDGET = 512
_REACH = 256
"""How far below the budget a filled line may lie: an unfilled page, or one token for each sequence."""

_USUAL = 512
"""Chunk sizes in use are multiples of this."""

_MOST_SEQS = 16
_LEAST_ENDS = 0.05
_LEAST_EVEN_ENDS = 0.5
"""Of the sequels of lines with several sequences that may all be of one length, the share that must be of another kind."""

PROBE_TOKENS = 10
"""A prompt this short is a health check's or a warm-up's, more likely than the end of a long one."""


@dataclass(slots=True)
class _Filled:
    """Lines of one token count and one number of sequences: how many, how many went on, and in how many sequels of another kind.

    ``bare`` sequels of one sequence, of a server with a cumulative rate, print nothing as cached.
    """

    new_token: int
    lines: int = 0
    continued: int = 0
    ends: int = 0
    bare: int = 0


Load: TypeAlias = tuple[int | None, int | None, int | None]
"""What a prefill line prints beside its tokens: running, queue, pending; ``None`` where it doesn't."""


class Continuations(NamedTuple):
    """``lines`` that go on with a prompt, ``inferred`` of them by a chunk size, ``budget``, that no argument states.

    ``unclear`` ones follow full lines, of ``size`` tokens, that hardly ever end in another kind: chunks, or prompts of equal length.
    ``bare``: those that show a server with a cumulative rate not to print earlier chunks as cached.
    """

    lines: int
    budget: int | None
    inferred: int
    unclear: int
    size: int
    bare: int


class Chunks:
    """Takes the prefill lines of one rank: all those that may fill a budget, and each line after one of them.

    ``stated`` is the budget by the arguments, ``floor`` the fewest tokens such a line has, ``open``: the last line may go on. Servers before December 2024 printed a prompt's
    earlier chunks as cached tokens, the next ones (up to 0.4.3) none; ``unresolved`` counts the lines where they can't be told from other prompts' hits.
    """

    __slots__ = (
        "_bare", "_certain", "_chain", "_near", "_off", "_pending_printed", "_queue", "_running", "_seqs", "_settled",
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
        self._settled = self._bare = 0
        self._chain: int | None = None
        self._running: int | None = None
        self._queue: int | None = None
        self._seqs = 0
        self._off = False
        self._pending_printed = False

    def state(self, budget: int | None, page_size: int) -> None:
        """The start-up arguments say how large a chunk is; 0 or less: prompts are not chunked."""
        before = self.count(page_size)
        self._settled, self._bare = before.lines, before.bare
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
            before.ends += self._is_end(before.new_token, new, cached, seqs)
            if oldest:
                before.bare += self._is_bare(before.new_token, new, cached, seqs, running)
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

    def decoded(self, running: int | None) -> None:
        """A decode line came: where nothing else was running, or all that were admitted are, the prompt before it was complete."""
        before = self._running
        if before is None or self.open is self._certain:
            return
        alone = before == 0 and not self._pending_printed
        if alone or (running is not None and running - before >= self._seqs > 0):
            self.open = None

    def count(self, page_size: int) -> Continuations:
        """The continuation lines so far."""
        near = self._near.values()
        size = self.top if self.stated is None else self.stated
        if self.stated is None:
            again = sum(one.lines for one in near if one.new_token == size) >= 2
            size = size if again and size >= LEAST_BUDGET and size % _USUAL == 0 else 0
        full = self._full(size, page_size) if size > 0 else {}
        continued = sum(one.continued for one in full.values())
        unclear = 0 if self._pending_printed else self._unclear(full)
        shown = self._pending_printed or any(one.ends for one in near)
        budget = self.stated
        if budget is None and size and shown:
            budget = size
        return Continuations(
            lines=self._settled + self._certain.continued + continued,
            budget=budget,
            inferred=0 if self.stated is not None or unclear else continued,
            unclear=unclear,
            size=size,
            bare=self._bare + sum(one.bare for one in full.values()),
        )

    def _full(self, budget: int, page_size: int) -> dict[tuple[int, int], _Filled]:
        """The classes of lines that filled the budget."""
        full = {}
        for (new, seqs), one in self._near.items():
            room = page_size * seqs if self._pending_printed else max(page_size, seqs)
            if 0 <= budget - new < room:
                full[new, seqs] = one
        return full

    def _unclear(self, full: dict[tuple[int, int], _Filled]) -> int:
        """How many sequels of full lines may be as many prompts of one length."""
        continued = sum(one.continued for one in full.values())
        if sum(one.ends for one in full.values()) < _LEAST_ENDS * continued:
            return continued
        return sum(
            one.continued
            for (new, seqs), one in full.items()
            if 1 < seqs < _MOST_SEQS
            and new % seqs == 0
            and one.continued > 1
            and one.ends < _LEAST_EVEN_ENDS * one.continued
        )

    def _is_end(self, filled: int, new: int, cached: int, seqs: int) -> bool:
        """The sequel can't be more prompts of the same length as those of the filled line; nor is it a probe."""
        if seqs == 1 and (new > filled or new <= PROBE_TOKENS >= cached):
            return False
        return filled % max(self._seqs, 1) != 0 or new * self._seqs != filled * seqs

    def _is_bare(self, filled: int, new: int, cached: int, seqs: int, running: int | None) -> bool:
        """A smaller sequel of a lone sequence, which isn't running yet, and nothing of it is printed as cached."""
        alone = seqs == self._seqs == 1 and PROBE_TOKENS < new < filled
        return alone and cached == 0 and running is not None and running == self._running

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
        """The line before went on in no other: as many left the queue as this line holds, or all it held are running now.

        A chunked prompt goes on in the very next batch: where fewer run than before, others came in between.
        """
        if queue is not None and self._queue is not None and self._queue - queue >= seqs:
            return True
        if running is None or self._running is None:
            return False
        return running < self._running or running - self._running >= self._seqs > 0

    def _go_on(self, new: int, cached: int, seqs: int) -> None:
        """Remember how much of the prompt is done, where a line holds nothing but it."""
        if seqs != 1:
            self._chain = None
        elif self._chain is None:
            self._chain = cached + new
        else:
            self._chain += new

    def _repeated(self, cached: int, seqs: int) -> int:
        """The cached tokens of a lone sequence that are exactly what was done of it so far."""
        if self._chain is None or seqs != 1:
            self.unresolved += cached > 0
        elif cached == self._chain:
            return cached
        self._chain = None
        return 0
