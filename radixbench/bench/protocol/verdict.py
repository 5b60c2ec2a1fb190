"""Declared against seen: what probes and measured cached tokens say of a run's cache state.

``True`` needs proof, ``False`` needs a contradiction, and an answer that doesn't report cached tokens proves
nothing, unless its server is known to leave a 0 out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from radixbench.bench.ledger import Repeats
from radixbench.bench.protocol.bounds import Excess, Reach, believable, excess, reach
from radixbench.bench.protocol.prepare import Preparation
from radixbench.bench.protocol.state import State
from radixbench.capture.model import Check, ProtocolRecord, Run
from radixbench.units import Tokens

_PROBES = frozenset({"exact repeats", "extensions", "alone"})


@dataclass(frozen=True, slots=True)
class Found:
    """Cached tokens of the answered requests: their sum, and how many answers leave it open, of how many.

    ``visited`` requests found something, ``absurd`` ones more than their prompt has.
    """

    tokens: Tokens
    silent: int
    answers: int
    visited: int
    absurd: int

    @classmethod
    def of(cls, run: Run, *, omits_zero: bool, page_size: Tokens) -> Found:
        """As the client was told; counts without cached tokens mean none where the server ``omits_zero``."""
        answered = [record for record in run.requests if record.status == "completed"]
        values = [record.cached_tokens for record in answered]
        known = [value for value in values if value is not None]
        silent = sum(
            one.cached_tokens is None and not (omits_zero and one.prompt_tokens is not None)
            for one in answered
        )
        absurd = len(known) - sum(believable(record, page_size) for record in answered)
        return cls(sum(known), silent, len(values), sum(value > 0 for value in known), absurd)


def judge(run: Run, state: State, seen: Preparation, repeats: Repeats, alone: Check | None) -> ProtocolRecord:
    """The protocol of a measured run as its capture keeps it.

    ``run`` has its requests and its prompt tree, with what was primed in it; ``alone`` says whether anybody else used
    the server meanwhile.
    """
    page = seen.probed.probe.page_size or 1
    found = Found.of(run, omits_zero=seen.probed.omits_zero, page_size=page)
    measured = _measured(run, state, seen, found)
    checks = (
        *seen.probed.checks(reuse=not (state.declared == "off" and not state.flushes_each)),
        seen.flushed.check,
        *(() if seen.primed is None else (seen.primed.check,)),
        *(_ledger(repeats) if state.declared == "cold" else ()),
        *(() if alone is None else (alone,)),
        *_renamed(run),
        measured,
    )
    return ProtocolRecord(
        declared=state.declared,
        verified=_verified(state, seen, measured),
        warmup_requests=seen.warmup_requests,
        flush_attempts=seen.flushed.attempts,
        flush_status=seen.flushed.status,
        flush_body=seen.flushed.body,
        probe_cached_tokens=seen.flushed.found,
        evidence=_evidence(state, seen, checks),
        off_mode=state.off_mode,
        priming_requests=0 if seen.primed is None else seen.primed.requests,
        primed_tokens=0 if seen.primed is None else seen.primed.tokens,
        flush_waited_ns=seen.flushed.waited_ns,
        flush_tiers=seen.flushed.tiers,
        ledger_repeats=repeats.unflushed if state.declared == "cold" else 0,
        checks=checks,
        omits_zero=seen.probed.omits_zero,
    )


def _verified(state: State, seen: Preparation, measured: Check) -> bool | None:
    """The measured requests decide; probes can only make it worse."""
    repeat, extension, left = seen.probed.repeat, seen.probed.extension, seen.flushed.found
    if state.declared == "off":
        probes = (left,) if state.flushes_each else (repeat, extension, left)
        if any(probes):
            return False
        return measured.held
    if repeat == 0 and extension == 0:
        return False
    if left:
        return False
    if measured.held is not True or repeat is None:
        return measured.held
    return True


def _evidence(state: State, seen: Preparation, checks: Sequence[Check]) -> str:
    """What contradicts the state, and what is odd about the cache; without either what bears the state out."""
    told = [f"{check.name}: {check.detail}" for check in checks if check.held is False]
    if state.declared != "off" and seen.probed.oddity is not None:
        told.insert(0, seen.probed.oddity)
    if not told:
        told = [f"{check.name}: {check.detail}" for check in checks if check.name not in _PROBES]
    return "; ".join(told)


def _measured(run: Run, state: State, seen: Preparation, found: Found) -> Check:
    if state.declared == "off":
        return _none_found(found)
    page = seen.probed.probe.page_size or 1
    if state.declared == "cold":
        return _none_unexplained(found, excess(run, page))
    reached = reach(run, seen.probed.slack, omits_zero=seen.probed.omits_zero)
    return _all_reached(reached, excess(run, page))


def _none_found(found: Found) -> Check:
    name = "no reuse"
    if found.tokens:
        visited = f"{found.visited} of {found.answers} measured requests"
        return Check(name, False, f"{visited} found {found.tokens} cached tokens")
    if found.silent or not found.answers:
        return Check(name, None, _silent(found))
    return Check(name, True, f"none of {found.answers} measured requests found cached tokens")


def _none_unexplained(found: Found, over: Excess) -> Check:
    name = "measured hits"
    if over.worst is not None:
        prompt, tokens, most = over.worst
        detail = (
            f"{over.requests} of {found.answers} requests found more than this run had put there: request {prompt}"
            f" {tokens} cached tokens of at most {most}"
        )
        return Check(name, False, detail)
    if over.tokens:
        detail = (
            f"the requests found {over.tokens} cached tokens more than an empty cache could have given them"
        )
        return Check(name, False, detail)
    if found.absurd:
        claims = (
            f"{found.absurd} of {found.answers} answers tell of more cached tokens than their prompts have"
        )
        return Check(name, None, claims)
    if found.silent or not found.answers:
        return Check(name, None, _silent(found))
    return Check(name, True, f"{found.tokens} cached tokens, all put there by the run itself")


def _all_reached(reached: Reach, over: Excess) -> Check:
    name = "measured hits"
    if reached.asked == 0:
        if over.worst is not None or over.tokens:
            return Check(
                name, False, "nothing was put into the cache, yet the requests found what they didn't send"
            )
        return Check(name, True, "nothing was shared, so nothing was to be found")
    if reached.unknown == reached.asked:
        return Check(name, None, "the server doesn't report cached tokens")
    detail = f"{reached.reached} of {reached.asked} requests found all that was put there for them"
    if reached.worst is None:
        return Check(name, True if not reached.unknown else None, detail)
    prompt, tokens, wanted = reached.worst
    return Check(name, False, f"{detail}; request {prompt} {tokens} cached tokens of {wanted}")


def _silent(found: Found) -> str:
    if not found.answers:
        return "nothing was answered"
    return f"the server doesn't report cached tokens ({found.silent} of {found.answers} answers without them)"


def _renamed(run: Run) -> tuple[Check, ...]:
    """Answers that carry another model's name than the one that was asked; only those are worth a line."""
    names = [record.model for record in run.requests if record.model not in {None, run.server.model}]
    if not names:
        return ()
    return (
        Check(
            "model",
            False,
            f"{len(names)} answers name the model {names[0]!r}, asked was {run.server.model!r}",
        ),
    )


def _ledger(repeats: Repeats) -> tuple[Check, ...]:
    """Only repeats are worth a line; those from before a proved flush are told, not held against the run."""
    if not repeats.ever:
        return ()
    return (
        Check(
            "ledger",
            repeats.unflushed == 0,
            f"{repeats.ever} measured prompts begin as ones this server was sent before,"
            f" {repeats.unflushed} of them since its last proved flush",
        ),
    )
