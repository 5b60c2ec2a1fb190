"""The figures of any group of ranks: the whole of a log, or one rank of it. One definition for both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from radixbench.metrics.log_summary.batch_log import Retracted, Retractions
from radixbench.metrics.log_summary.course import Course
from radixbench.metrics.log_summary.ledger import Ledger
from radixbench.metrics.log_summary.model import DecodeFigures, PrefillFigures, Pressure
from radixbench.metrics.log_summary.pages import PageSigns, Rounding
from radixbench.metrics.log_summary.speculation import Speculation
from radixbench.metrics.log_summary.sums import Peaks, Sums, plus, read_sums, sums_of
from radixbench.metrics.log_summary.version import Span, span_of

NO_PREFILL = "no prefill lines: cached tokens unknown"
UNCLEAR = "full lines may be chunks of longer prompts or whole prompts: prompts unknown"
NO_DECODE = "no decode lines: short answers may leave none, and a prefill server prints none"


@dataclass(frozen=True)
class Group:
    """Ranks whose batches are different ones, and what is known of their server; ``whole``: all of a log's."""

    ledgers: Sequence[Ledger]
    retractions: Retractions
    page_size: int | None
    versions: Span
    whole: bool = True

    @property
    def sums(self) -> Sums:
        """All sums, tokens printed again left out where they are known to be that."""
        whole = read_sums(Sums())
        for ledger in self.ledgers:
            whole = plus(
                whole, read_sums(ledger.sums(read_sums(ledger.course.sums), repeated=self.repeats(ledger)))
            )
        return sums_of(whole)

    @property
    def peaks(self) -> Peaks:
        """The highest values over all windows."""
        return peaks_of([ledger.course for ledger in self.ledgers])

    @cached_property
    def page(self) -> int:
        """The page size as stated, else as the numbers have it."""
        return self.page_size or self.signs.page_size()

    @cached_property
    def signs(self) -> PageSigns:
        """What the counts of all lines together agree with."""
        signs = PageSigns()
        for ledger in self.ledgers:
            signs.merge(ledger.signs.pages)
        return signs

    @property
    def rounding(self) -> Rounding | None:
        """Whether new tokens are rounded up to pages; our own never are."""
        if any(ledger.exact.steps for ledger in self.ledgers):
            return None
        return self.signs.rounding(self.page_size, self.versions)

    @property
    def continuations(self) -> int | None:
        """Lines' sequences that go on with a prompt already counted; ``None`` where that can't be told."""
        found = [ledger.chunks.count(self.page) for ledger in self.ledgers]
        return None if any(one.unclear for one in found) else sum(one.lines for one in found)

    @property
    def retracted(self) -> Retracted:
        """What was sent back to the queue; our own step lines say it too, and may say more."""
        if len(self.ledgers) == 1 and not self.whole:
            told = self.retractions.of(self.ledgers[0].rank)
        else:
            told = self.retractions.total(ledger.rank for ledger in self.ledgers)
        exact = sum(ledger.exact.retracted for ledger in self.ledgers)
        return told._replace(requests=max(told.requests, exact))

    @property
    def readmitted(self) -> int:
        """Of the requests sent back, those that may have been prefilled again by the end of the log."""
        return max(self.retracted.requests - sum(ledger.still_waiting for ledger in self.ledgers), 0)

    def repeats(self, ledger: Ledger) -> bool:
        """The rank's lines show a chunk budget, so that tokens printed again are known to be a prompt's own."""
        return ledger.chunks.count(self.page).budget is not None


def peaks_of(courses: Sequence[Course]) -> Peaks:
    """The highest values over all windows."""
    peaks = Peaks()
    for course in courses:
        for row in course.rows().values():
            peaks.raise_to(row.peaks)
    return peaks


def prefill_figures(group: Group) -> PrefillFigures:
    """What was prefilled and reused."""
    sums = group.sums
    if not sums.prefill_batches:
        return PrefillFigures(reason=NO_PREFILL if sums.decode_batches else "no batch lines")
    continuations = group.continuations
    readmissions = group.readmitted
    prompts = None if continuations is None else sums.new_seq - continuations - readmissions
    return PrefillFigures(
        batches=sums.prefill_batches,
        new_seq=sums.new_seq,
        new_tokens=sums.new_tokens,
        cached_tokens=sums.reused_tokens,
        hit_rate=sums.hit_rate,
        hit_rate_bound=None if group.rounding is None else "lower",
        hit_rate_upper=_upper(group, sums),
        prompts=None if prompts is None or prompts < 0 else prompts,
        continuations=continuations,
        readmissions=readmissions,
        largest_batch_tokens=max(ledger.signs.largest_batch for ledger in group.ledgers),
        reason=_why(sums, continuations),
    )


def _upper(group: Group, sums: Sums) -> float | None:
    """The hit rate if rounding added all it can: a page less one token for each sequence."""
    rounding = group.rounding
    if rounding is None:
        return None
    new = max(sums.new_tokens - (rounding.page_size - 1) * sums.new_seq, 0)
    prompt = sums.reused_tokens + new
    return sums.reused_tokens / prompt if prompt > 0 else None


def _why(sums: Sums, continuations: int | None) -> str | None:
    if sums.hit_rate is None:
        return "the prefill lines hold no tokens"
    return UNCLEAR if continuations is None else None


def decode_figures(group: Group) -> DecodeFigures:
    """What was decoded, and how."""
    sums = group.sums
    if not sums.decode_batches:
        return DecodeFigures(reason=NO_DECODE if sums.prefill_batches else "no batch lines")
    graph_lines = sum(ledger.graph_lines for ledger in group.ledgers)
    speculation = Speculation()
    for ledger in group.ledgers:
        speculation.merge(ledger.speculation)
    return DecodeFigures(
        batches=sums.decode_batches,
        running_mean=mean(sums.running, sums.running_lines),
        running_max=group.peaks.running if sums.running_lines else None,
        graph_share=mean(sum(ledger.graph_hits for ledger in group.ledgers), graph_lines),
        accept_len=speculation.accept_len,
        accept_rate=speculation.accept_rate,
        idle_lines=sum(ledger.pace.left_out for ledger in group.ledgers),
        left_out=left_out(group.ledgers),
    )


def left_out(ledgers: Sequence[Ledger]) -> dict[str, int]:
    """Decode lines whose rate says nothing about decoding, by reason."""
    found: Counter[str] = Counter()
    for ledger in ledgers:
        found.update(ledger.pace.reasons(ledger.course.idle_after_s()))
    return dict(found)


def pressure(group: Group, pool_tokens: int | None) -> Pressure:
    """Queue, pools and retractions."""
    main = "full" if any(ledger.full_pool for ledger in group.ledgers) else "token"
    events, requests = group.retracted
    return pressure_of(group.sums, group.peaks, main, pool_tokens, events, requests)


def pressure_of(
    sums: Sums, peaks: Peaks, main: str, pool_tokens: int | None, events: int = 0, requests: int = 0
) -> Pressure:
    """The same from sums and highest values; ``main`` names the pool that ``peaks.usage`` is of."""
    return Pressure(
        queue_mean=mean(sums.queue, sums.queue_lines),
        queue_max=peaks.queue if sums.queue_lines else None,
        queued_share=mean(sums.queued_lines, sums.queue_lines),
        pending_tokens_max=peaks.pending,
        pools={**({main: peaks.usage} if sums.usage_lines else {}), **peaks.pools},
        full_share=mean(sums.full_lines, sums.usage_lines),
        retract_events=events,
        retracted_requests=requests,
        pool_tokens=pool_tokens,
    )


def mean(total: float, n: float) -> float | None:
    """``None`` over nothing."""
    return total / n if n else None


def versions_of(ledgers: Sequence[Ledger], events: Sequence[str]) -> Span:
    """Which versions may have printed these ranks' lines."""
    prefill = {key for ledger in ledgers for key in ledger.signs.prefill_keys}
    decode = {key for ledger in ledgers for key in ledger.signs.decode_keys}
    return span_of(prefill, decode, events)
