"""Throughput: tokens over the time they took.

Prompt tokens are divided by the time at work, decoding included: the gaps between a rank's lines, idle ones and probes of an idle
server left out; where ranks work beside each other, the time in which any of them did. Decode rates of several ranks
add up only for as long as the ranks work beside each other. Stamps of whole seconds
can't measure a few seconds; exact steps can, and there nothing but steps is time at work.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from radixbench.metrics.log_summary.course import Course
from radixbench.metrics.log_summary.figures import Group, left_out
from radixbench.metrics.log_summary.ledger import Ledger
from radixbench.metrics.log_summary.model import Throughput
from radixbench.metrics.log_summary.stretches import STAMP_S, Stretch, union
from radixbench.metrics.log_summary.sums import Sums

_LEAST_SECONDS = 5.0
_LEAST_FINE = 0.05
COARSE = "log stamps have a resolution of 1 s"


def throughput(group: Group) -> Throughput:
    """Of SGLang's lines or of ours."""
    sums = group.sums
    exact = [ledger.exact for ledger in group.ledgers if ledger.exact.steps]
    if exact:
        busy: float | None = max(one.busy_s for one in exact)
        idle_after_s: float | None = 0.0
        reason = None
        source = "the exact times of steps"
    else:
        courses = [ledger.course for ledger in group.ledgers]
        busy, reason = busy_time(courses)
        idle_after_s = None if busy is None else max(course.idle_after_s() for course in courses)
        source = f"time stamps, idle gaps of more than {idle_after_s or 0:g} s left out"
    prompt_known = sums.prefill_batches > 0 and reason is None and busy
    joint, why = _output(group.ledgers, sums)
    parts = []
    if prompt_known:
        parts.append(f"prompt tokens over {busy:,.1f} s at work ({source})")
    if joint is not None:
        parts.append(_output_basis(group.ledgers, sums, joint, exact=bool(exact)))
    reasons = [one for one in (reason, why) if one is not None]
    return Throughput(
        input=(sums.reused_tokens + sums.new_tokens) / busy if prompt_known and busy else None,
        computed=sums.new_tokens / busy if prompt_known and busy else None,
        output=None if joint is None else joint.rate,
        busy_s=busy,
        idle_after_s=idle_after_s,
        basis="; ".join(parts) or None,
        reason="; ".join(reasons) or None,
    )


def busy_time(courses: Sequence[Course]) -> tuple[float | None, str | None]:
    """Seconds in which any of the ranks was at work, and why prompt throughput can't be had from them."""
    worked = [course.worked() for course in courses]
    if not any(worked):
        probed = any(course.probes for course in courses)
        if probed:
            return None, "every line is a probe of an idle server"
        timeless = any(course.sums.prefill_batches + course.sums.decode_batches for course in courses)
        return None, "no line has a time" if timeless else "no lines of work to measure"
    if len(worked) == 1:
        busy = sum(stretch.busy_s for stretch in worked[0])
    else:
        busy = length(span for stretches in worked for span in spans_of(stretches))
    fine = any(stretch.start_s % 1 or stretch.end_s % 1 for stretches in worked for stretch in stretches)
    if busy < (_LEAST_FINE if fine else _LEAST_SECONDS):
        return (
            busy,
            "the log spans too little time" if fine else f"{COARSE}, and the log covers {busy:.0f} s of work",
        )
    return busy, None


class Turn(NamedTuple):
    """One rank's part of a throughput: ``tokens`` in ``seconds`` of that work, and when the rank was at work at all."""

    tokens: float
    seconds: float
    spans: Sequence[tuple[float, float]]

    @property
    def pace(self) -> float:
        """Tokens per second of the rank's own work."""
        return self.tokens / self.seconds


class Joint(NamedTuple):
    """The throughput of several ranks; ``busy_s``: the time in which any was at work, ``None`` where the paces are merely added."""

    rate: float
    busy_s: float | None


def joint_rate(turns: Sequence[Turn]) -> Joint | None:
    """Each rank's pace counts for its share of the time in which any worked: beside each other they add up, in turns they don't.

    Ranks without tokens or time take no part; one seen at single moments is taken to have worked for a second from each.
    Where any rank's time at work isn't known, the paces are added.
    """
    timed = [turn for turn in turns if turn.seconds > 0]
    if not timed:
        return None
    at_work = [turn for turn in timed if turn.tokens > 0] or timed
    seen = length(span for turn in at_work for span in turn.spans)
    if seen <= 0 or not all(turn.spans for turn in at_work):
        return Joint(sum(turn.pace for turn in at_work), None)
    spans = [_visible(turn.spans, min(STAMP_S, seen)) for turn in at_work]
    whole = length(span for own in spans for span in own)
    rate = sum(turn.pace * (length(own) / whole) for turn, own in zip(at_work, spans, strict=True))
    return Joint(rate, whole)


def _visible(spans: Sequence[tuple[float, float]], least_s: float) -> Sequence[tuple[float, float]]:
    return spans if length(spans) > 0 else [(start, start + least_s) for start, _ in spans]


def spans_of(stretches: Iterable[Stretch]) -> list[tuple[float, float]]:
    """From when to when each lasted."""
    return [(one.start_s, one.end_s) for one in stretches]


def joint_basis(joint: Joint, noun: str) -> str:
    """How several ranks' paces came to one rate; ``noun``: what they are called."""
    if joint.busy_s is None:
        return f"the {noun}' paces added, as if all worked at once (their stamps don't tell when each did)"
    return f"each of the {noun}' paces weighted with its share of the {joint.busy_s:,.1f} s in which any was at work"


def length(spans: Iterable[tuple[float, float]]) -> float:
    """Seconds in any of the spans."""
    return sum(end - start for start, end in union(spans))


def _turns(ledgers: Sequence[Ledger]) -> list[Turn]:
    courses = [ledger.course for ledger in ledgers]
    return [
        Turn(course.sums.work, course.sums.work_time, spans_of(course.worked()))
        for course in courses
        if course.sums.work_time > 0
    ]


def _output(ledgers: Sequence[Ledger], sums: Sums) -> tuple[Joint | None, str | None]:
    joint = joint_rate(_turns(ledgers))
    if joint is not None or not sums.decode_batches:
        return joint, None
    if left_out(ledgers):
        return None, "every decode line with a rate is a first one or follows an idle gap"
    return None, "no decode line has a rate"


def _output_basis(ledgers: Sequence[Ledger], sums: Sums, joint: Joint, *, exact: bool) -> str:
    several = sum(ledger.course.sums.work_time > 0 for ledger in ledgers) > 1
    together = f", {joint_basis(joint, 'ranks')}" if several else ""
    if exact:
        return f"output: {sums.work:,.0f} tokens over {sums.work_time:,.2f} s of decode steps{together}"
    reasons = left_out(ledgers)
    told = ", ".join(f"{lines:,} {reason}" for reason, lines in reasons.items())
    tail = f", left out: {told}" if told else ""
    return f"output: running requests x accepted tokens of {sums.decode_batches:,} decode lines over the time their rates imply{together}{tail}"
