"""The page size as the numbers betray it, and whether new tokens were rounded up to it.

Cached tokens and, in decode lines, tokens in use come in whole pages. Servers from 0.4.8 to 0.5.19 also round the new tokens of each
request up to a page, so that a hit rate from their lines is too low; before and after, new tokens are printed as they are.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from radixbench.metrics.log_summary.version import ROUNDS_FROM, ROUNDS_UNTIL, Span

LEAST_PAGE = 16
MOST_PAGE = 256


class Rounding(NamedTuple):
    """New tokens are rounded up to pages of ``page_size``; ``stated`` by the arguments, or inferred.

    ``doubtful``: tokens in use come in other numbers, so that the prompts' own lengths may be all there is to it.
    """

    page_size: int
    stated: bool
    doubtful: bool


class PageSigns:
    """Greatest common divisors over the lines of one rank; 1 once they say nothing more."""

    __slots__ = ("cached", "new", "used")

    def __init__(self) -> None:
        self.new = 0
        self.cached = 0
        self.used = 0

    def merge(self, other: PageSigns) -> None:
        """Take in what another rank's lines say."""
        self.new = gcd(self.new, other.new)
        self.cached = gcd(self.cached, other.cached)
        self.used = gcd(self.used, other.used)

    def page_size(self) -> int:
        """The largest usual page size that all lines agree with; 1 where no tokens were reused or none fits."""
        if self.cached == 0:
            return 1
        common = gcd(self.cached, self.used)
        power = common & -common
        return min(power, MOST_PAGE) if power >= LEAST_PAGE else 1

    def rounding(self, stated: int | None, versions: Span) -> Rounding | None:
        """Whether these lines give a hit rate that may be too low; ``None`` where they don't, or nothing was reused.

        Tokens in use that are no whole pages make rounding unlikely, not impossible: a bound is on the safe side.
        """
        if not versions.may_be_in(ROUNDS_FROM, ROUNDS_UNTIL) or self.cached == 0:
            return None
        if stated is not None:
            rounded = stated > 1 and self.new % stated == 0
            return Rounding(stated, stated=True, doubtful=False) if rounded else None
        common = gcd(self.cached, self.new)
        page = min(common & -common, MOST_PAGE)
        if page < LEAST_PAGE:
            return None
        return Rounding(page, stated=False, doubtful=self.used % page != 0)
