"""A sheet of batch lines added to its rank's ledger: what line by line comes to, a column at a time.

What depends on the line before (gaps, chunks, the rate after an idle gap) is decided line by line, but only for lines that
may need it. A spell of lines that share window and stretch is added in one go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from radixbench.metrics.log_summary.chunks import PROBE_TOKENS
from radixbench.metrics.log_summary.course import JUMP_BACK_S, Course
from radixbench.metrics.log_summary.ledger import FULL, SIDE_POOLS, Ledger
from radixbench.metrics.log_summary.paced_sheet import Worked, worked
from radixbench.metrics.log_summary.sheet import Rates, Sheet, Truths
from radixbench.metrics.log_summary.stretches import SHORTEST_IDLE_S


def can_post(ledger: Ledger, sheet: Sheet) -> bool:
    """The lines go forward in time, and none of ours with exact times came before."""
    last = ledger.course.last_s
    steps = np.diff(sheet.at, prepend=sheet.at[0] if last is None else last)
    return not ledger.exact.steps and bool((steps > -JUMP_BACK_S).all())


def post(ledger: Ledger, sheet: Sheet) -> None:
    """Add the lines of ``sheet`` to ``ledger``."""
    _speculate(ledger, sheet)
    resting = _resting(ledger, sheet)
    probes = _probes(sheet, resting)
    paced = worked(ledger.pace, ledger.course, sheet, resting, probes)
    _chunks(ledger, sheet)
    _signs(ledger, sheet)
    _graphs(ledger, sheet)
    _spells(ledger, sheet, paced, resting, probes)


def _spells(ledger: Ledger, sheet: Sheet, paced: Worked, resting: Truths, probes: Truths) -> None:
    """Reach the first line of each spell and add what its lines come to."""
    begins = _beginnings(ledger.course, sheet.at, probes)
    starts = np.flatnonzero(begins)
    usage = _usage(ledger, sheet)
    sums = np.add.reduceat(_whole_sums(sheet, usage), starts, axis=1)
    work_sums = np.add.reduceat(np.stack(paced), starts, axis=1)
    peaks = np.maximum.reduceat(_whole_peaks(sheet), starts, axis=1)
    sides = {
        name: np.fmax.reduceat(sheet.rates(key), starts).tolist()
        for key, name in SIDE_POOLS.items()
        if sheet.has(key)
    }
    course = ledger.course
    spells = zip(
        sheet.at[starts].tolist(),
        sheet.at[np.append(starts[1:], len(sheet)) - 1].tolist(),
        resting[starts].tolist(),
        probes[starts].tolist(),
        _by_spell(sums),
        _by_spell(work_sums),
        _by_spell(peaks),
        np.fmax.reduceat(usage, starts).tolist(),
        strict=True,
    )
    for place, (first, last, rests, probe, counts, spent, (running, queue, pending), used) in enumerate(
        spells
    ):
        if probe:
            course.probe(first)
        else:
            course.reach(first, rests)
        course.sums.gain(counts, spent)
        course.peaks.rise(running, queue, pending, used)
        for name, usages in sides.items():
            course.peaks.rise_pool(name, usages[place])
        if last > first:  # a probe is a spell of its own
            course.linger(last)
    gaps = np.diff(sheet.at, prepend=sheet.at[0])
    course.stretches.note_gaps(gaps[~begins & (gaps >= 1.0)])
    ledger.waiting = bool(_waits(sheet)[-1])


def _beginnings(course: Course, at: Rates, probes: Truths) -> Truths:
    """Lines that begin a spell: in another window than the line before, after a gap that may be idle, late, or no work."""
    gaps = np.diff(at, prepend=at[0])
    latest = np.maximum.accumulate(at)
    late = at < (latest if course.last_s is None else np.maximum(latest, course.last_s))
    windows = np.floor_divide(at, course.width)
    begins: Truths = (gaps > SHORTEST_IDLE_S) | late | (np.diff(windows, prepend=windows[0]) != 0)
    begins[0] = True
    begins |= probes
    begins[1:] |= late[:-1] | probes[:-1]
    return begins


def _by_spell(rows: npt.NDArray[Any]) -> Iterator[tuple[Any, ...]]:
    """Column by column, without a list for each."""
    return zip(*[row.tolist() for row in rows], strict=True)


def _usage(ledger: Ledger, sheet: Sheet) -> Rates:
    """Of the pool for full attention."""
    usage = sheet.rates("token_usage")
    if sheet.has("full_token_usage"):
        ledger.full_pool = True
        usage = np.where(np.isnan(usage), sheet.rates("full_token_usage"), usage)
    return usage


def _whole_sums(sheet: Sheet, usage: Rates) -> npt.NDArray[np.int64]:
    """A row for each count of ``Sums.gain``."""
    prefill, decode = sheet.prefill, ~sheet.prefill
    running, queue = sheet.counts("running_req"), sheet.counts("queue_req")
    tokens = [np.where(prefill, sheet.counts(key), 0) for key in ("new_seq", "new_token", "cached_token")]
    runs = decode & (running >= 0)
    rows = [
        prefill, *tokens, decode, np.where(runs, running, 0), runs,
        np.maximum(queue, 0), queue >= 0, queue > 0, ~np.isnan(usage), usage >= FULL,
    ]  # fmt: skip
    return np.stack([row.astype(np.int64) for row in rows])


def _whole_peaks(sheet: Sheet) -> npt.NDArray[np.int64]:
    """A row for each count of ``Peaks.rise``."""
    running = np.where(sheet.prefill, 0, sheet.counts("running_req"))
    pending = np.where(sheet.prefill, sheet.counts("pending_token"), 0)
    return np.stack([running, sheet.counts("queue_req"), pending])


def _waits(sheet: Sheet) -> Truths:
    """Lines that leave something waiting."""
    return (sheet.counts("queue_req") > 0) | (sheet.prefill & (sheet.counts("pending_token") > 0))


def _resting(ledger: Ledger, sheet: Sheet) -> Truths:
    """Lines before which nothing was at work."""
    prefill = sheet.prefill
    waited = np.concatenate(([ledger.waiting], _waits(sheet)[:-1]))
    prefilled = (np.cumsum(prefill) - prefill > 0) | (ledger.course.sums.prefill_batches > 0)
    return ~waited & np.where(prefill, sheet.counts("running_req") <= 0, ~prefilled)


def _probes(sheet: Sheet, resting: Truths) -> Truths:
    """Lines that are no work but probes of an idle server."""
    few = sheet.prefill & (sheet.counts("new_token") <= PROBE_TOKENS)
    if not few.any():
        return few
    few &= (sheet.counts("cached_token") <= PROBE_TOKENS) & (sheet.counts("new_seq") == 1)
    return few & resting & ~_waits(sheet)


def _speculate(ledger: Ledger, sheet: Sheet) -> None:
    if not sheet.has("accept_len"):
        return
    running = sheet.counts("running_req")
    length, rate = sheet.rates("accept_len"), sheet.rates("accept_rate")
    told = ~sheet.prefill & (running > 0) & (length > 0)
    if told.any():
        ledger.speculation.add_length(
            float(np.average(length[told], weights=running[told])), float(running[told].sum())
        )
    told &= ~np.isnan(rate)
    if told.any():
        ledger.speculation.add_rate(
            float(np.average(rate[told], weights=running[told])), float(running[told].sum())
        )


def _chunks(ledger: Ledger, sheet: Sheet) -> None:
    """Lines that may fill a chunk or leave one open, and the line after each of them; no other changes anything."""
    chunks = ledger.chunks
    places = np.flatnonzero(sheet.prefill)
    runs = np.where(sheet.prefill, -1, sheet.counts("running_req"))
    if not len(places):
        if chunks.open is not None:
            chunks.decoded(_printed(int(runs.max())))
        return
    most = np.maximum.reduceat(runs, np.append(0, places))
    decoded = np.diff(np.cumsum(~sheet.prefill)[places], prepend=0) > 0
    new, queue, pending = (sheet.counts(key)[places] for key in ("new_token", "queue_req", "pending_token"))
    opening = (new >= chunks.lowest) | ((pending > 0) & (queue == 0))
    matters = opening | np.concatenate(([True], opening[:-1]))
    decoded, places, between = decoded[matters], places[matters], most[:-1][matters]
    columns = [
        sheet.counts(key)[places].tolist()
        for key in ("new_token", "cached_token", "new_seq", "running_req", "queue_req", "pending_token")
    ]
    rows = zip(decoded.tolist(), between.tolist(), *columns, strict=True)
    for after, run, new, cached, seqs, running, queue, pending in rows:
        if chunks.open is not None and after:
            chunks.decoded(_printed(run))
        if new >= chunks.floor or pending > 0 or chunks.open is not None:
            load = (_printed(running), _printed(queue), _printed(pending))
            chunks.line(new, cached, seqs, load, oldest=False)
    if chunks.open is not None and not sheet.prefill[places[-1] :].all():
        chunks.decoded(_printed(int(most[-1])))


def _printed(count: int) -> int | None:
    return None if count < 0 else count


def _graphs(ledger: Ledger, sheet: Sheet) -> None:
    graphs = sheet.rates("cuda_graph")[~sheet.prefill]
    ledger.graph_lines += int((~np.isnan(graphs)).sum())
    ledger.graph_hits += int((graphs == 1).sum())


def _signs(ledger: Ledger, sheet: Sheet) -> None:
    """What the lines betray of their server."""
    signs, prefill = ledger.signs, sheet.prefill
    for labels, part in sheet.shapes():
        if labels not in signs.shapes:
            signs.learn(labels, part.first())
    signs.use(sheet)
    if not prefill.any():
        return
    new, cached, seqs = (sheet.counts(key)[prefill] for key in ("new_token", "cached_token", "new_seq"))
    running, queue, pending = (
        np.maximum(sheet.counts(key)[prefill], 0) for key in ("running_req", "queue_req", "pending_token")
    )
    signs.count(new, cached, seqs, running)
    idle = (running == 0) & (queue == 0) & (pending == 0)
    for tokens in new[idle & (seqs == 1) & (cached <= PROBE_TOKENS)].tolist():
        signs.probes.add(tokens)
