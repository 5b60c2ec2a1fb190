"""More than two captures: every candidate compared with one reference, and all that is said of them judged as one claim.

The last capture is the reference. Each is read and summarised once. A chance of 5 % to be wrong is one of all gated rows of
all candidates: who looks at seven of them finds a "better" among them more easily than who looks at one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from radixbench.capture.model import Capture
from radixbench.compare.allow import meant_for
from radixbench.compare.arm import Arm, gather
from radixbench.compare.change import ArmSummary, Caveat, Change, Comparison
from radixbench.compare.comparison import compare_arms
from radixbench.compare.eligible import differences
from radixbench.compare.finding import caveats
from radixbench.compare.targets import with_goodput
from radixbench.compare.verdict import THRESHOLD
from radixbench.errors import UsageError
from radixbench.findings.model import Finding
from radixbench.scenario.model import GoodputSpec

LETTERS = "ABCDEFGH"
MAX_CAPTURES = len(LETTERS)


@dataclass(frozen=True, slots=True)
class Many:
    """``arms`` in the order given, the reference last; a comparison for each of the others, A candidate and B reference."""

    arms: tuple[Arm, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The letters of the captures, the reference's last."""
        return tuple(arm.side for arm in self.arms)

    @property
    def reference(self) -> ArmSummary:
        """What every candidate is compared with."""
        return self.comparisons[0].b

    @property
    def threshold(self) -> float:
        """The smallest |factor − 1| that counts, the same for all."""
        return self.comparisons[0].threshold

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """Those of all comparisons, one for each code; what isn't said of all of them names the pair."""
        return caveats(
            dict.fromkeys(one for comparison in self.comparisons for one in self._told(comparison))
        )

    def concerned(self, code: str) -> tuple[str, ...]:
        """The candidates whose comparison has a caveat of this code."""
        return tuple(c.sides[0] for c in self.comparisons if code in {caveat.code for caveat in c.caveats})

    def _told(self, comparison: Comparison) -> Iterable[Finding]:
        for finding in comparison.findings:
            shared = all(finding in other.findings for other in self.comparisons)
            yield finding if shared or _names_a_side(finding, self.names) else _of_pair(finding, comparison)


def compare_many(
    captures: Sequence[Capture],
    paths: Sequence[str | None],
    *,
    threshold: float = THRESHOLD,
    clock_floor_mhz: float | None = None,
    allow: Iterable[str] = (),
    goodput: GoodputSpec | None = None,
) -> Many:
    """Every capture but the last compared with the last; options as of ``compare``.

    A field in ``allow`` is allowed wherever it stands in the way; nowhere, and it is refused or told as ``compare`` does.
    Raises ``UsageError`` for fewer than two captures and for more than ``MAX_CAPTURES``.
    """
    check_number(len(captures))
    arms = tuple(
        gather(letter, capture if goodput is None else with_goodput(capture, goodput), path)
        for letter, capture, path in zip(LETTERS, captures, paths, strict=False)
    )
    *candidates, reference = arms
    fields = _allowed([(arm, reference) for arm in candidates], allow)
    found = [
        compare_arms(arm, reference, threshold=threshold, clock_floor_mhz=clock_floor_mhz, allow=names)
        for arm, names in zip(candidates, fields, strict=True)
    ]
    return Many(arms, tuple(replace(one, beside=_rows_beside(one, found)) for one in found))


def check_number(captures: int) -> None:
    """Refuse a number of captures that can't be compared."""
    if captures < 2:
        raise UsageError("a comparison needs two captures", remedy="give a candidate, then the reference")
    if captures > MAX_CAPTURES:
        raise UsageError(
            f"{captures} captures given, and at most {MAX_CAPTURES} can be told apart side by side",
            remedy="compare them in groups, each with the reference last",
        )


def _rows_beside(comparison: Comparison, all_of_them: Sequence[Comparison]) -> tuple[Change, ...]:
    return tuple(row for other in all_of_them if other is not comparison for row in other.changes)


def _allowed(pairs: Sequence[tuple[Arm, Arm]], allow: Iterable[str]) -> list[tuple[str, ...]]:
    """For each pair the fields that it needs; those that none needs are given to all, which say so or refuse them."""
    fields = [field for field in map(str.strip, allow) if field]
    if not fields:
        return [()] * len(pairs)
    needed = [meant_for(differences(*pair), fields) for pair in pairs]
    nobody = [field for field in fields if not any(field in names for names in needed)]
    return [(*names, *nobody) for names in needed]


def _names_a_side(finding: Finding, letters: Iterable[str]) -> bool:
    return finding.told.startswith(tuple(f"{letter}{end}" for letter in letters for end in (":", ",")))


def _of_pair(finding: Finding, comparison: Comparison) -> Finding:
    pair = " against ".join(comparison.sides)
    return replace(finding, place=f"{pair}, {finding.place}" if finding.place else pair)
