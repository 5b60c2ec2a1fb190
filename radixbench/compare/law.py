"""The laws of both arms side by side, and what follows from them: from where on caching pays, and by how much.

Both laws are drawn over the same seeds of the same cells. What is foretold holds for a request that finds everything
shared cached and computes as many tokens as the median hit did: its first token comes after
``on(question, shared)``, without reuse after ``off(question + shared)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median_low

from radixbench.capture.model import Capture, Run
from radixbench.compare.change import Factor, LawChange, Prediction, Spread
from radixbench.compare.pairing import CellPairs, Pair
from radixbench.findings.alone import disturbed
from radixbench.findings.cell import CellKey, cell_key, cell_name
from radixbench.findings.model import Finding
from radixbench.findings.state import state_fault
from radixbench.findings.words import percent, several
from radixbench.metrics.figure import RunSummary
from radixbench.metrics.law import Curve, Law, Lines, law, law_of, seed_lines, setting_of
from radixbench.stats.crossing import above_from
from radixbench.stats.interval import LEVEL, paired_ratio
from radixbench.stats.sample import Absent
from radixbench.stats.sequential import drawn_at

_FURTHEST = 4
_MOST = 9
_SHORTEST = 16


@dataclass(frozen=True, slots=True)
class _Hits:
    """What the requests that found something cached computed, what they found at most, and the longest prompt served."""

    question: int
    most_cached: int
    context: int | None


class _Arm:
    """One side's lines with the law they come to."""

    def __init__(self, lines: Lines, drawn: float) -> None:
        self.lines = lines
        self.law = law_of(lines, drawn=drawn)

    def foretold(self, seed: int, uncached: float, cached: float = 0.0) -> float:
        """Seconds, by the curve where there is one, however little it bends: a line's interval doesn't know of bends."""
        curve = self._curve(seed, uncached)
        return (self.lines[seed] if curve is None else curve).at(uncached, cached)

    def _curve(self, seed: int, uncached: float) -> Curve | None:
        """Wherever the middle was measured; beyond its ends one that flattens isn't followed, as it would fall."""
        curve, bend = self.lines[seed].curve, self.law.bend
        if curve is None or bend is None:
            return None
        return curve if bend.value <= 0 or curve.low <= uncached <= curve.high else None


def laws(cells: Sequence[CellPairs], *, comparable: bool, drawn: float = LEVEL) -> tuple[LawChange, ...]:
    """One for each setting of the cells; nothing follows from both where they aren't ``comparable``.

    ``drawn`` is the level of Student's t that intervals are drawn at.
    """
    settings: dict[CellKey, list[CellPairs]] = {}
    for cell in cells:
        settings.setdefault(cell_key(setting_of(dict(cell.key))), []).append(cell)
    return tuple(
        _law(dict(setting), within, comparable=comparable, drawn=drawn)
        for setting, within in settings.items()
    )


def capture_laws(capture: Capture, summaries: Sequence[RunSummary]) -> tuple[LawChange, ...]:
    """The laws of one capture by itself, as ``a``; runs whose state wasn't the declared one stay out."""
    settings: dict[CellKey, list[Run]] = {}
    for run, summary in zip(capture.runs, summaries, strict=True):
        within = settings.setdefault(cell_key(setting_of(run.cell)), [])
        if not disturbed(run) and state_fault(run, summary) is None:
            within.append(run)
    drawn = drawn_at(capture.until)
    found = [(dict(setting), law(runs, drawn=drawn)) for setting, runs in settings.items()]
    why = "one capture shows one arm"
    return tuple(
        LawChange(setting, None, None, one.reason, None, why, ())
        if isinstance(one, Absent)
        else LawChange(setting, one, None, None, None, why, ())
        for setting, one in found
    )


def bend_findings(found: Iterable[LawChange], *, sides: tuple[str, str] = ("A", "B")) -> Iterator[Finding]:
    """Laws of which a surely bent line is only a rough picture; ``sides`` are what their places are called."""
    for change in found:
        for side, one in zip(sides, (change.a, change.b), strict=True):
            if one is not None and one.bend is not None and one.is_bent:
                where = cell_name(cell_key(change.setting)) if change.setting else ""
                place = ", ".join(part for part in (side, where) if part)
                yield Finding("law-bends", "info", _bend_words(one.bend.value), _BEND_REMEDY, place)


_BEND_REMEDY = "measure at the lengths you care about (--shared); factors foretold follow the bend, as far as it is known"


def _bend_words(bend: float) -> str:
    way = "below it: long prompts cost more" if bend < 0 else "above it: long prompts cost less"
    return (
        "the time to the first token is no straight line over the tokens computed; the middle of the range lies "
        f"{percent(abs(bend))} {way} than in proportion"
    )


def _law(
    setting: dict[str, int | float | str], cells: list[CellPairs], *, comparable: bool, drawn: float
) -> LawChange:
    pairs = [pair for cell in cells for pair in cell.pairs]
    if not pairs:
        return _without(setting, None, None, "no pair of runs counts")
    a, b = seed_lines(pair.a.run for pair in pairs), seed_lines(pair.b.run for pair in pairs)
    if isinstance(a, Absent) or isinstance(b, Absent):
        return _without(setting, _alone(a, drawn), _alone(b, drawn), _reasons(cells[0].sides, a, b))
    shared = sorted(a.keys() & b.keys())
    if not shared:
        return _without(setting, _alone(a, drawn), _alone(b, drawn), "no seed has a line on both sides")
    one = _Arm({seed: a[seed] for seed in shared}, drawn)
    other = _Arm({seed: b[seed] for seed in shared}, drawn)
    hits = _hits(one.lines, [pair.a.run for pair in pairs])
    why_not = _no_contrast(pairs[0], cells[0].sides[0]) if comparable else "the captures can't be compared"
    if why_not is not None or hits is None:
        why_not = why_not or f"no request of {cells[0].sides[0]} found anything cached"
        return LawChange(setting, one.law, other.law, None, None, why_not, ())
    break_even = _break_even(one, other, hits, drawn)
    return LawChange(
        setting=setting,
        a=one.law,
        b=other.law,
        reason=None,
        break_even=None if isinstance(break_even, str) else break_even,
        break_even_reason=break_even if isinstance(break_even, str) else None,
        predictions=tuple(_predictions(one, other, hits, _measured(cells), drawn)),
    )


def _without(setting: dict[str, int | float | str], a: Law | None, b: Law | None, reason: str) -> LawChange:
    return LawChange(setting, a, b, reason, None, "there is no line for both sides", ())


def _alone(lines: Lines | Absent, drawn: float) -> Law | None:
    return None if isinstance(lines, Absent) else law_of(lines, drawn=drawn)


def _reasons(sides: tuple[str, str], a: Lines | Absent, b: Lines | Absent) -> str:
    named = zip(sides, (a, b), strict=True)
    return "; ".join(f"{side}: {one.reason}" for side, one in named if isinstance(one, Absent))


def _no_contrast(pair: Pair, side: str) -> str | None:
    """Why two arms say nothing of what caching brings; ``side`` is the first one's letter."""
    a, b = (one.run for one in pair.runs)
    if (a.mode, b.mode) == ("on", "off"):
        return None
    if a.mode == b.mode:
        return f"both sides have the cache {a.mode}, so that neither shows what caching brings"
    return f"{side} ran without the cache: give the capture with it first"


def _hits(a: Lines, runs: Iterable[Run]) -> _Hits | None:
    found = [
        (uncached, cached)
        for line in a.values()
        for uncached, cached in zip(line.points.uncached, line.points.cached, strict=True)
        if cached > 0
    ]
    if not found:
        return None
    limits = [limit for run in runs if isinstance(limit := run.server.identity.get("context_length"), int)]
    return _Hits(
        question=median_low(uncached for uncached, _ in found),
        most_cached=max(cached for _, cached in found),
        context=min(limits, default=None),
    )


def _break_even(a: _Arm, b: _Arm, hits: _Hits, drawn: float) -> Spread | str:
    """Shared tokens from which on A's first token comes sooner, within what was measured; or why there is no such length."""

    def saved(shared: float) -> list[float]:
        return [
            b.foretold(seed, hits.question + shared) - a.foretold(seed, hits.question, shared)
            for seed in a.lines
        ]

    found = above_from(saved, hits.most_cached, level=drawn)
    if isinstance(found, Absent):
        return (
            f"even at {hits.most_cached:,} shared tokens, the most that were found cached, the first token doesn't surely"
            f" come sooner by these laws of {several(len(a.lines), 'seed')}"
        )
    return Spread(found.value, found.low, found.high)


def _measured(cells: Iterable[CellPairs]) -> list[int]:
    lengths = {dict(cell.key).get("shared_tokens") for cell in cells}
    return sorted(length for length in lengths if isinstance(length, int) and length > 0)


def _lengths(measured: Sequence[int], hits: _Hits) -> list[int]:
    """Those measured, and powers of two about them, as far as a prompt may be long."""
    known = list(measured) or [hits.most_cached]
    powers = [2**power for power in range(4, 31)]
    near = [
        two for two in powers if known[0] / _FURTHEST <= two <= known[-1] * _FURTHEST and two >= _SHORTEST
    ]
    step = -(-len(near) // _MOST) if near else 1
    every = sorted({*measured, *near[::-1][::step]})
    room = None if hits.context is None else hits.context - hits.question
    return [length for length in every if room is None or length < room]


def _predictions(
    a: _Arm, b: _Arm, hits: _Hits, measured: Sequence[int], drawn: float
) -> Iterator[Prediction]:
    for length in _lengths(measured, hits):
        whole = hits.question + length
        ratio = paired_ratio(
            [(b.foretold(seed, whole), a.foretold(seed, hits.question, length)) for seed in a.lines],
            level=drawn,
        )
        if not isinstance(ratio, Absent):
            inside = b.law.uncached_low <= whole <= b.law.uncached_high and length <= hits.most_cached
            factor = Factor(ratio.value, ratio.low, ratio.high, LEVEL)
            yield Prediction(
                length, factor, beyond=not inside, straight=b.law.bend is None and length not in measured
            )
