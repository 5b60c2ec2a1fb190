"""Whose prompts the lines are: users', the server's own, or a batch's that another line overwrote."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.metrics.log_summary.chunks import PROBE_TOKENS
from radixbench.metrics.log_summary.figures import Group
from radixbench.metrics.log_summary.model import Note
from radixbench.metrics.log_summary.notes.words import be, percent, several
from radixbench.metrics.log_summary.reading import Reading
from radixbench.metrics.log_summary.sums import Sums

_LEAST_WARM_UP = 0.01
_LEAST_PROBES = 0.05
_LEAST_TWINS = 0.2
_MOSTLY = 0.5
_LEAST_LINES = 3


def traffic_notes(reading: Reading) -> Iterator[Note]:
    """Notes on warm-ups, health checks, doubled lines and prompts that share nothing but their first token."""
    group = reading.figures.group
    if group is not None:
        yield from _requests(reading)
    if group is None or reading.figures.prefill.batches is None:
        return
    sums = group.sums
    yield from _warm_up(group, sums)
    yield from _probes(group, sums)
    yield from _twins(group, sums)
    yield from _first_token(group, sums)


def _requests(reading: Reading) -> Iterator[Note]:
    log = reading.kept.ours if reading.dialect == "radixbench" else reading.kept.sglang
    finished, timed = log.request_books()
    probes, aborted = finished.probes or timed.probes, finished.unfinished
    told = []
    if probes:
        told.append(f"{several(probes, 'health check')} {be(probes)} no request")
    if aborted:
        told.append(f"{several(aborted, 'request')} {be(aborted)} aborted and without latency")
    if told:
        yield Note("request-lines-left-out", f"Of the lines about requests, {'; '.join(told)}.")
    odd = finished.above_prompt or timed.above_prompt
    if odd and reading.figures.prefill.batches is None:
        yield Note(
            "cached-above-prompt",
            f"{several(odd, 'request')} with more cached tokens than prompt tokens left out of the requests' hit rate: servers miscount after a retraction.",
        )


def _prompt_share(tokens: int, sums: Sums) -> str:
    return percent(tokens / max(sums.new_tokens + sums.cached_tokens, 1))


def _warm_up(group: Group, sums: Sums) -> Iterator[Note]:
    warm = [ledger.sums(ledger.warm_up, repeated=False) for ledger in group.ledgers]
    lines = sum(one.prefill_batches for one in warm)
    tokens = sum(one.new_tokens + one.cached_tokens for one in warm)
    if lines and tokens >= _LEAST_WARM_UP * (sums.new_tokens + sums.cached_tokens):
        yield Note(
            "warm-up",
            f"{several(lines, 'prefill line')} with {several(tokens, 'token')} ({_prompt_share(tokens, sums)} of all) came before the server was "
            "ready, its own warm-up; the figures count them.",
        )


def _probes(group: Group, sums: Sums) -> Iterator[Note]:
    rounding = group.rounding
    page = 1 if rounding is None or rounding.doubtful else rounding.page_size
    found = [ledger.signs.probes.count(page) for ledger in group.ledgers]
    lines, tokens = sum(one for one, _ in found), sum(one for _, one in found)
    if lines and lines >= _LEAST_PROBES * sums.prefill_batches:
        yield Note(
            "probe-lines",
            f"{several(lines, 'prefill line')} of {sums.prefill_batches:,} ({percent(lines / sums.prefill_batches)}) hold{'s' if lines == 1 else ''} one prompt of at most "
            f"{max(PROBE_TOKENS, page)} tokens on an idle server, as health checks and warm-ups do: {_prompt_share(tokens, sums)} of the tokens; the figures count them.",
        )


def _twins(group: Group, sums: Sums) -> Iterator[Note]:
    """sgl-project/sglang#18570."""
    twins = [ledger.signs.twins.found() for ledger in group.ledgers]
    pairs = sum(one.pairs for one in twins)
    if not pairs or 2 * pairs < _LEAST_TWINS * sums.prefill_batches or sums.hit_rate is None:
        return
    new = sums.new_tokens - sum(one.new_tokens for one in twins)
    cached = sums.reused_tokens - sum(one.cached_tokens for one in twins)
    without = percent(cached / (cached + new)) if cached + new > 0 else "unknown"
    yield Note(
        "duplicate-prefill-lines",
        f"{several(pairs, 'pair')} of neighbouring prefill lines {'is' if pairs == 1 else 'are'} equal but for the throughput. Servers around 0.5.9 print the second of two batches "
        f"twice and lose the first: the hit rate is {percent(sums.hit_rate)} with all lines, {without} with one of each pair.",
    )


def _first_token(group: Group, sums: Sums) -> Iterator[Note]:
    lines = sum(ledger.signs.few_shared for ledger in group.ledgers)
    if lines >= _LEAST_LINES and lines >= _MOSTLY * sums.prefill_batches:
        yield Note(
            "only-first-token-shared",
            f"In {lines:,} of {several(sums.prefill_batches, 'prefill line')} at most one token of each prompt was cached: only the first token (BOS) is shared, so the "
            "prompts differ from their second token on (a time, a name or an id at their head?).",
        )
