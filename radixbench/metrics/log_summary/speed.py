"""Throughput: tokens over the time they took.

Prompt tokens are divided by the time at work, decoding included: the gaps between a rank's lines, idle ones and probes of an idle
server left out; where ranks work beside each other, the time in which any of them did. Stamps of whole seconds
can't measure a few seconds; exact steps can, and there nothing but steps is time at work.
"""

from __future__ import annotations

from collections.abc import Sequence

from radixbench.metrics.log_summary.course import Course
from radixbench.metrics.log_summary.figures import Group, left_out
from radixbench.metrics.log_summary.ledger import Ledger
from radixbench.metrics.log_summary.model import Throughput
from radixbench.metrics.log_summary.stretches import union
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
    output, why = _output(group.ledgers, sums)
    parts = []
    if prompt_known:
        parts.append(f"prompt tokens over {busy:,.1f} s at work ({source})")
    if output is not None:
        parts.append(_output_basis(group.ledgers, sums, exact=bool(exact)))
    reasons = [one for one in (reason, why) if one is not None]
    return Throughput(
        input=(sums.reused_tokens + sums.new_tokens) / busy if prompt_known and busy else None,
        computed=sums.new_tokens / busy if prompt_known and busy else None,
        output=output,
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
        spans = [(stretch.start_s, stretch.end_s) for stretches in worked for stretch in stretches]
        busy = sum(end - start for start, end in union(spans))
    fine = any(stretch.start_s % 1 or stretch.end_s % 1 for stretches in worked for stretch in stretches)
    if busy < (_LEAST_FINE if fine else _LEAST_SECONDS):
        return (
            busy,
            "the log spans too little time" if fine else f"{COARSE}, and the log covers {busy:.0f} s of work",
        )
    return busy, None


def output_rate(parts: Sequence[Sums]) -> float | None:
    """Tokens of all ranks over the time of the one that decoded longest."""
    longest = max((one.work_time for one in parts), default=0.0)
    return sum(one.work for one in parts) / longest if longest > 0 else None


def _output(ledgers: Sequence[Ledger], sums: Sums) -> tuple[float | None, str | None]:
    rate = output_rate([ledger.course.sums for ledger in ledgers])
    if rate is not None or not sums.decode_batches:
        return rate, None
    if left_out(ledgers):
        return None, "every decode line with a rate is a first one or follows an idle gap"
    return None, "no decode line has a rate"


def _output_basis(ledgers: Sequence[Ledger], sums: Sums, *, exact: bool) -> str:
    if exact:
        return f"output: {sums.work:,.0f} tokens over {sums.work_time:,.2f} s of decode steps"
    reasons = left_out(ledgers)
    told = ", ".join(f"{lines:,} {reason}" for reason, lines in reasons.items())
    tail = f", left out: {told}" if told else ""
    return f"output: running requests x accepted tokens of {sums.decode_batches:,} decode lines over the time their rates imply{tail}"
