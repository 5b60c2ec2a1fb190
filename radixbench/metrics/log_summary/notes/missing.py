"""What a log doesn't tell: lines that are absent, cut, or of another server; times that are absent or don't fit."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.metrics.log_summary.model import Note
from radixbench.metrics.log_summary.notes.words import be, several, times
from radixbench.metrics.log_summary.reading import Reading

_COPY_ERROR = 0.1
_NAMES = {"radixbench": "radixbench's", "sglang": "SGLang's", "vllm": "vLLM's", "llamacpp": "llama.cpp's"}


def missing_notes(reading: Reading) -> Iterator[Note]:
    """Notes of every dialect about lines and times."""
    yield from _absent_batches(reading)
    yield from _other_servers(reading)
    yield from _sources(reading)
    yield from _cut_lines(reading)
    yield from _unknown_batches(reading)
    yield from _times(reading)


def _absent_batches(reading: Reading) -> Iterator[Note]:
    """sgl-project/sglang#19067 and #9099."""
    if reading.figures.group is None:
        return
    prefill, decode, role = reading.figures.prefill, reading.figures.decode, reading.figures.role
    if prefill.batches is None and decode.batches is not None:
        if role == "decode":
            why = "a PD decode server prints none: prompts are prefilled, and prefixes reused, on the prefill servers"
        else:
            why = "a PD decode server prints none, PD prefill servers of early 2026 left them out by mistake, or the log is filtered"
        yield Note("no-prefill-lines", f"No prefill lines: cached tokens unknown ({why}).")
    elif decode.batches is None and prefill.batches is not None and role != "prefill":
        yield Note(
            "no-decode-lines",
            "No decode lines: output throughput and running requests unknown (answers shorter than the print interval, 40 steps "
            "by default, leave none; so does a PD prefill server, and a filtered log).",
        )


def _other_servers(reading: Reading) -> Iterator[Note]:
    others = {name: n for name, n in reading.others.items() if n}
    if others:
        told = ", ".join(f"{several(n, 'line')} of {_NAMES[name]}" for name, n in others.items())
        yield Note(
            "two-servers",
            f"The log also holds {told}: their figures are left out, these are {_NAMES[reading.dialect]} alone.",
        )


def _sources(reading: Reading) -> Iterator[Note]:
    group = reading.figures.group
    ranks = [] if group is None else [ledger.rank for ledger in group.ledgers]
    if reading.dialect == "vllm":
        ranks = [engine.rank for engine in reading.kept.vllm.engines()]
    sources = sorted({rank.source for rank in ranks})
    if len(sources) > 1:
        shown = ", ".join(source or "one without a name" for source in sources[:8])
        more = f" and {len(sources) - 8} more" if len(sources) > 8 else ""
        yield Note(
            "several-sources",
            f"{len(sources)} servers write into this log ({shown}{more}): each is a row of its own, and the totals are over all of them.",
        )
    yield from _copies(reading)


def _copies(reading: Reading) -> Iterator[Note]:
    log = reading.kept.ours if reading.dialect == "radixbench" else reading.kept.sglang
    if reading.figures.group is None:
        return
    tokens: dict[tuple[str, int | None], list[int]] = {}
    for ledger in reading.figures.group.ledgers:
        known = tokens.setdefault((ledger.rank.source, ledger.rank.dp), [])
        known.append(ledger.course.sums.new_tokens)
    copies = [ledger for ledger, counts in log.ranks() if not counts]
    if not copies:
        return
    odd = 0
    for ledger in copies:
        own = ledger.course.sums.new_tokens
        wholes = tokens[ledger.rank.source, ledger.rank.dp]
        odd += all(abs(own - whole) > _COPY_ERROR * whole for whole in wholes)
    told = (
        f" But {several(odd, 'rank')} of them {'has' if odd == 1 else 'have'} other sums than the rank that counts: do several servers write into this log?"
        if odd
        else ""
    )
    yield Note(
        "same-batches",
        f"{several(len(copies), 'rank')} {be(len(copies))} left out of the totals: tensor, pipeline, expert and context ranks of one server print the same batches.{told}",
    )


def _cut_lines(reading: Reading) -> Iterator[Note]:
    kept = reading.kept
    batches = [ledger for log in (kept.sglang, kept.ours) for ledger in log.ledgers.values()]
    cut = {
        "vllm": sum(engine.cut_lines for engine in kept.vllm.all()),
        "llamacpp": kept.llamacpp.cut_lines,
    }.get(reading.dialect, sum(ledger.cut_lines for ledger in batches))
    malformed = reading.lines.by_kind.get("malformed", 0)
    if not cut and not malformed:
        return
    unreadable = sum(ledger.unreadable_lines for ledger in batches)
    parts = []
    if cut:
        parts.append(f"{several(cut, 'line')} {be(cut)} cut or damaged; what of them can be read counts")
    if unreadable and reading.figures.group is not None:
        parts.append(
            f"{several(unreadable, 'prefill line')} without readable token counts {be(unreadable)} left out"
        )
    if malformed:
        parts.append(f"nothing can be read of {several(malformed, 'line')}")
    yield Note("truncated-lines", "; ".join(parts) + ".")


def _unknown_batches(reading: Reading) -> Iterator[Note]:
    """Forks print batch lines of their own beside the scheduler's."""
    lines = reading.lines.events.get("unknown_batch_line", 0)
    if lines and reading.figures.group is not None:
        yield Note(
            "unknown-batch-lines",
            f"{several(lines, 'line')} of another kind of batch {be(lines)} no scheduler's and left out of all figures.",
        )


def _times(reading: Reading) -> Iterator[Note]:
    courses = [lane.course for lane in reading.figures.lanes]
    if courses and all(course.first_s is None for course in courses):
        yield Note("no-time", "No line has a time: there are no windows, no phases and no prompt throughput.")
        return
    back = sum(course.jumps_back for course in courses)
    ahead = sum(course.jumps_ahead for course in courses)
    disorder = sum(course.disorder for course in courses)
    if back or ahead:
        told = []
        if back:
            told.append(f"{times(back)} back by more than a minute")
        if ahead:
            told.append(f"{times(ahead)} ahead by more than a day")
        yield Note(
            "clock-jumped",
            f"The time stamps jump {' and '.join(told)}: the clock was set, or pieces of logs were joined.",
        )
    if disorder:
        yield Note(
            "out-of-order",
            f"{times(disorder).capitalize()} a line is older than the one before it: windows are right, gaps may not be.",
        )
    group = reading.figures.group
    if group is not None and any(ledger.signs.clock_only for ledger in group.ledgers):
        yield Note(
            "time-without-date",
            "The lines print a time of day without a date: a day is counted at every midnight passed.",
        )
