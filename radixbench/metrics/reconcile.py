"""What everybody who counted says of a run's cached tokens, side by side and never added up.

The client sums what each answer says, the server keeps counters, logs lines and (ours) step records, and the
token ids say what an unlimited cache would have found. Their scopes differ: counters and lines cover everybody's
requests in the window, failed ones too. What scope, whole pages and repeated prefills explain is no
contradiction; the rest is told in one sentence with its numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from radixbench.capture.model import Run
from radixbench.metrics.answers import Answers, prompt_length
from radixbench.metrics.figure import CacheAccount, Reconciliation, Source
from radixbench.records import LogTotals, ServerCounters
from radixbench.units import Tokens

CLIENT = "client usage"
COUNTERS = "server counters"
LOG = "log lines"
STEPS = "scheduler steps"
FINISHES = "finished requests"
EXPECTATION = "expectation"
WINDOW = "server window"


def reconcile(answers: Answers, account: CacheAccount) -> Reconciliation:
    """All sources of ``answers``' run that said anything, and where they contradict one another."""
    run = answers.run
    client = _client(answers, account)
    others = tuple(_others(run))
    sources = (client, *others, *_only_shown(run), _expectation(account))
    comparison = _Comparison.of(answers, account)
    beyond, missing = tuple(comparison.beyond(client)), tuple(comparison.missing(client))
    contradictions = (text for source in others for text in comparison.against(client, source))
    return Reconciliation(sources, (*beyond, *missing, *contradictions), beyond, missing)


def _client(answers: Answers, account: CacheAccount) -> Source:
    sent = len(answers.run.requests)
    scope = f"{len(answers.counted):,} of {sent:,} requests: completed, with possible counts"
    if account.unknown:
        as_zero = "unknown" if account.cached_tokens is None else "taken as 0, since others name their hits"
        scope += f"; {account.unknown:,} answers without cached tokens, {as_zero}"
    return Source(CLIENT, account.prompt_tokens, account.cached_tokens, scope)


def _others(run: Run) -> Iterator[Source]:
    """Whoever counted the same tokens apart from the client."""
    if run.counters is not None:
        yield _counted(run.counters)
    if run.log is not None and not run.log.chunk_continuations_as_hits:
        yield _logged(run.log)
    if run.steps_complete:
        yield from _recorded(run)


def _recorded(run: Run) -> Iterator[Source]:
    """The engine's own records; where lines of them were lost their sums are only shown."""
    lost = "" if run.steps_complete else "; some are missing"
    if run.steps:
        cached = sum(step.cached_tokens for step in run.steps)
        computed = sum(step.new_tokens for step in run.steps if step.phase == "prefill")
        scope = f"the server's steps in the window, other clients included{lost}"
        yield Source(STEPS, computed + cached, cached, scope)
    if run.finishes:
        yield Source(
            FINISHES,
            sum(finish.input_len for finish in run.finishes),
            sum(finish.cached_input_len for finish in run.finishes),
            f"{len(run.finishes):,} requests that ended in the window, cached as of their first admission{lost}",
        )


def _counted(counters: ServerCounters) -> Source:
    if counters.reset:
        return Source(
            COUNTERS, None, None, f"{counters.source}: fell during the run, the server was restarted"
        )
    scope = f"{counters.source}, after the run minus before: everybody's requests in between"
    return Source(COUNTERS, counters.prompt_tokens, counters.cached_tokens, scope)


def _logged(log: LogTotals) -> Source:
    if log.prefill_lines == 0:
        return Source(LOG, None, None, "no prefill lines: cached tokens unknown")
    known = log.new_tokens is not None and log.cached_tokens is not None
    prompt = (log.new_tokens or 0) + (log.cached_tokens or 0) if known else None
    scope = f"{log.prefill_lines:,} prefill lines of the window, everybody's requests"
    if log.chunk_continuations_as_hits:
        scope += "; this server counts earlier chunks of a prompt as hits"
    return Source(LOG, prompt, log.cached_tokens, scope)


def _only_shown(run: Run) -> Iterator[Source]:
    """What covers something else altogether, and is compared with nothing."""
    if run.counters is not None and not run.counters.reset:
        for tier, tokens in run.counters.cached_by_tier.items():
            yield Source(
                f"{COUNTERS}, {tier}", None, tokens, "cached tokens of this tier alone, not added up"
            )
    if run.log is not None and run.log.chunk_continuations_as_hits:
        yield _logged(run.log)
    if not run.steps_complete:
        yield from _recorded(run)
    if run.log is not None and run.log.window_hit_rate is not None:
        scope = f"a rolling hit rate of {100 * run.log.window_hit_rate:.1f} % over the latest requests, not over this run"
        yield Source(WINDOW, None, None, scope)


def _expectation(account: CacheAccount) -> Source:
    scope = f"an unlimited cache, by token ids, in whole pages of {account.page_size:,}"
    if account.upper_bound_only:
        scope += "; an upper bound only, since the working set exceeds the pool"
    return Source(
        EXPECTATION, account.prompt_tokens, account.expected_high, scope, cached_low=account.expected_low
    )


@dataclass(frozen=True, slots=True)
class _Comparison:
    """How far two sources may be apart: ``pages`` for whole pages, ``uncounted`` for prompts the client left out."""

    run: Run
    account: CacheAccount
    pages: Tokens
    uncounted: Tokens
    retractions: int

    @staticmethod
    def of(answers: Answers, account: CacheAccount) -> _Comparison:
        counted = {request.prompt for request in answers.counted}
        left_out = [request for request in answers.run.requests if request.prompt not in counted]
        room = account.pressure
        return _Comparison(
            run=answers.run,
            account=account,
            pages=(account.page_size - 1) * len(answers.run.requests),
            uncounted=sum(max(prompt_length(request), 0) for request in left_out),
            retractions=0 if room is None else room.retractions or 0,
        )

    def beyond(self, client: Source) -> Iterator[str]:
        """Answers that say more than can be, and a sum above what an unlimited cache gives."""
        account = self.account
        if account.impossible:
            answers = "answer says" if account.impossible == 1 else "answers say"
            yield f"{account.impossible:,} {answers} more cached tokens than possible{self._retracted()}"
        if self.run.mode != "on" or client.cached_tokens is None or not client.prompt_tokens:
            return
        if client.cached_tokens > account.expected_high + account.page_size * account.raced:
            yield (
                f"{CLIENT} says {_share(client.cached_tokens, client.prompt_tokens)} were cached,"
                f" above the theoretical maximum of {_share(account.expected_high, client.prompt_tokens)}"
            )

    def missing(self, client: Source) -> Iterator[str]:
        """The client's sum below the least to be expected, and nothing was evicted."""
        account = self.account
        if self.run.mode != "on" or client.cached_tokens is None or not client.prompt_tokens:
            return
        missing = 0 if account.shortfall is None else account.shortfall.unexplained
        if missing > self.pages:
            yield (
                f"{CLIENT} says {client.cached_tokens:,} cached tokens where an unlimited cache gives at least"
                f" {account.expected_low:,}: {missing:,} are missing without a sign of eviction"
            )

    def against(self, client: Source, other: Source) -> Iterator[str]:
        """The client's sums against another source's, which may cover more."""
        extra = self.uncounted
        if client.prompt_tokens is not None and other.prompt_tokens is not None:
            gap = other.prompt_tokens - client.prompt_tokens
            if gap > self.uncounted + self.pages and not self.retractions:
                yield (
                    f"{other.name} cover {other.prompt_tokens:,} prompt tokens, {CLIENT} {client.prompt_tokens:,}:"
                    f" {gap:,} came from somebody else or from outside the run"
                )
            elif gap < -self.pages:
                yield (
                    f"{other.name} cover {other.prompt_tokens:,} prompt tokens, {CLIENT} {client.prompt_tokens:,}:"
                    f" {-gap:,} are missing there"
                )
            extra = max(extra, gap)
        if client.cached_tokens is None or other.cached_tokens is None:
            return
        apart = other.cached_tokens - client.cached_tokens
        if apart > extra + self.pages or apart < -self.pages:
            yield (
                f"{other.name} say {other.cached_tokens:,} cached tokens, {CLIENT} {client.cached_tokens:,}:"
                f" {abs(apart):,} apart{self._retracted()}"
            )

    def _retracted(self) -> str:
        if not self.retractions:
            return ""
        times = "retraction" if self.retractions == 1 else "retractions"
        return f"; the server tells of {self.retractions:,} {times}, after which a prompt is counted again"


def _share(tokens: Tokens, prompt: Tokens) -> str:
    return f"{100 * tokens / prompt:.1f} % of prompt tokens ({tokens:,} of {prompt:,})"
