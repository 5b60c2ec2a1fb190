"""The new tokens of one rank's prefill lines, parted by what each line alone tells of its prompts.

A line of one sequence is about one prompt, which reused something or didn't; a line of several doesn't tell which did. A later
chunk of a long prompt stands in a line of its own and can't be told from a prompt.
"""

from __future__ import annotations

import numpy as np

from radixbench.metrics.log_summary.sheet import Counts


class Reuse:
    """What lines of one sequence reused, and what was computed while the cache was still empty.

    An emptied cache counts as that up to the first line that reuses more than one token of each prompt. Of a rank that never
    reuses anything no one can say that an empty cache is why.
    """

    __slots__ = ("_alone", "_behind_hit", "_filled", "_filling", "_is_empty", "_no_hit", "_recovered")

    def __init__(self) -> None:
        self._no_hit = self._behind_hit = 0
        self._filled = self._filling = self._alone = 0
        self._is_empty = self._recovered = False

    def empty(self) -> None:
        """The server starts or flushes its cache."""
        self._is_empty = True

    def add(self, new: int, cached: int, seqs: int) -> None:
        """One line."""
        if self._is_empty:
            if cached <= seqs:
                self._fill(new, new if seqs == 1 else 0)
                return
            self._recover()
        if seqs == 1:
            if cached > 1:
                self._behind_hit += new
            else:
                self._no_hit += new

    def count(self, new: Counts, cached: Counts, seqs: Counts) -> None:
        """Several lines in their order."""
        if self._is_empty:
            hits = np.flatnonzero(cached > seqs)
            first = int(hits[0]) if len(hits) else len(new)
            self._fill(int(new[:first].sum()), int(new[:first][seqs[:first] == 1].sum()))
            if len(hits):
                self._recover()
            new, cached, seqs = new[first:], cached[first:], seqs[first:]
        one = seqs == 1
        self._no_hit += int(new[one & (cached <= 1)].sum())
        self._behind_hit += int(new[one & (cached > 1)].sum())

    @property
    def after_empty(self) -> int:
        """New tokens from a start or flush up to the first reuse."""
        return self._filled + self._filling if self._recovered else 0

    @property
    def no_hit(self) -> int:
        """New tokens of other one-sequence lines with at most one cached token: the first (BOS) is shared by all prompts."""
        return self._no_hit if self._recovered else self._no_hit + self._alone

    @property
    def behind_hit(self) -> int:
        """New tokens of other one-sequence lines that reused more."""
        return self._behind_hit

    def _fill(self, new: int, alone: int) -> None:
        self._filling += new
        self._alone += alone

    def _recover(self) -> None:
        self._filled += self._filling
        self._filling = 0
        self._is_empty = False
        self._recovered = True
