"""Whether the prefix cache of an arm was on, off, or nobody knows: what a header must always say.

An arm is ``off`` only where that was proved, and ``on`` where hits were seen or the state was proved;
what was only declared is ``unknown``.
"""

from __future__ import annotations

from collections.abc import Sequence

from radixbench.capture.model import Run
from radixbench.report import text
from radixbench.report.evidence import Evidence
from radixbench.report.model import Tone
from radixbench.report.words import known

_ORIGINS = {
    "flag": "by a server flag",
    "salt": "by a salt of its own on every request",
    "flush": "by a flush before every request",
}


def cache_words(runs: Sequence[Run]) -> str:
    """``on``, ``off, by a server flag``, ``unknown (declared off, which the server doesn't tell)``."""
    if not runs:
        return "unknown (no run was saved)"
    modes = known(run.mode for run in runs)
    return " / ".join(_of_mode(mode, [run for run in runs if run.mode == mode]) for mode in modes)


def _of_mode(mode: str, runs: Sequence[Run]) -> str:
    unlike = sum(run.protocol.verified is False for run in runs)
    if mode == "on":
        seen = any(run.protocol.verified is not None or _hits(run) for run in runs)
        return "on" if seen else "unknown (declared on, and the server doesn't tell)"
    if unlike:
        return (
            f"unknown (declared off, but tokens were reused in {unlike} of {text.plural(len(runs), 'run')})"
        )
    if not any(run.protocol.verified for run in runs):
        return "unknown (declared off, and the server doesn't tell)"
    origin = origin_words(runs)
    return f"off, {origin}" if origin else "off"


def _hits(run: Run) -> bool:
    return any(request.cached_tokens for request in run.requests)


def origin_words(runs: Sequence[Run]) -> str:
    """How arms without reuse came about; "" where that isn't recorded or nothing was off."""
    modes = known(run.protocol.off_mode for run in runs if run.mode == "off")
    return text.several([_ORIGINS[mode] for mode in modes])


def verification(runs: Sequence[Run]) -> str:
    """``verified in 9 of 9 runs``, or that the server didn't tell."""
    yes = sum(run.protocol.verified is True for run in runs)
    no = sum(run.protocol.verified is False for run in runs)
    if no:
        return f"NOT as declared in {no} of {text.plural(len(runs), 'run')}"
    if yes == 0:
        return "not verifiable, the server doesn't tell" if runs else "no runs"
    return f"verified in {yes} of {text.plural(len(runs), 'run')}"


def verification_tone(runs: Sequence[Run]) -> Tone:
    """The tone of a verification: refused where a run wasn't in its declared state."""
    if any(run.protocol.verified is False for run in runs):
        return "worse"
    return "better" if runs and all(run.protocol.verified is True for run in runs) else "caution"


def sides_tone(sides: Sequence[Evidence]) -> Tone:
    """The tone of all sides together: a side without runs proves nothing."""
    tone = verification_tone([run for side in sides for run in side.capture.runs])
    return "caution" if tone == "better" and not all(side.capture.runs for side in sides) else tone
