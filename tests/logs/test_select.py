"""Which records a user's words keep."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.errors import UsageError
from radixbench.logs.record import LogRecord, Rank
from radixbench.logs.select import ABOUT_THE_SERVER, Selection, read_rank
from radixbench.logs.timeline import Timeline

DP1_TP3 = Rank("", 1, (("TP", 3), ("EP", 3)))
RAY = Rank("SGLangEngine pid=36871, ip=192.0.2.7", None, (("TP", 0),))


def record(at_s: float | None = None, rank: Rank | None = None, **values: Any) -> LogRecord:
    """A prefill line, or an event."""
    return LogRecord(1, "sglang", "other" if values else "prefill", values, {}, rank or Rank(), at_s)


def kept(selection: Selection, *moments: float | None) -> list[float | None]:
    return [at_s for at_s in moments if selection.keeps(record(at_s))]


def test_both_bounds_are_included() -> None:
    """A log's seconds are whole: what is printed at a bound belongs to it."""
    assert kept(Selection(10.0, 20.0), 9.999, 10.0, 15.0, 20.0, 20.001) == [10.0, 15.0, 20.0]
    assert kept(Selection(since_s=10.0), 9.0, 11.0) == [11.0]
    assert kept(Selection(until_s=10.0), 9.0, 11.0) == [9.0]


def test_without_a_bound_a_record_needs_no_time() -> None:
    """With one, it can't be told where it lies."""
    assert kept(Selection(), None, 1.0) == [None, 1.0]
    assert kept(Selection(since_s=0.0), None, 1.0) == [1.0]
    assert kept(Selection(until_s=9.0), None, 1.0) == [1.0]


@pytest.mark.parametrize("event", sorted(ABOUT_THE_SERVER))
def test_what_the_server_is_is_always_kept(event: str) -> None:
    """Its arguments were printed before any bound, and by no rank."""
    selection = Selection(10.0, 20.0, [read_rank("DP7")])
    assert selection.keeps(record(None, event=event))
    assert not selection.keeps(record(None, event="retract"))


@pytest.mark.parametrize(
    ("words", "rank", "meant"),
    [
        ("DP1", DP1_TP3, True),
        ("dp1", DP1_TP3, True),
        ("DP1 TP3", DP1_TP3, True),
        ("TP3  DP1", DP1_TP3, True),
        ("DP1 TP3 EP3", DP1_TP3, True),
        ("EP3", DP1_TP3, True),
        ("DP1 TP0", DP1_TP3, False),
        ("DP3", DP1_TP3, False),
        ("TP1", DP1_TP3, False),
        ("DP1", Rank(), False),
        ("all", Rank(), True),
        ("all", DP1_TP3, False),
        ("GPU_ID0", Rank("", None, (("GPU_ID", 0),)), True),
        ("SGLangEngine", RAY, True),
        ("SGLangEngine pid=36871", RAY, True),
        ("SGLangEngine pid=36871 TP0", RAY, True),
        ("ip=192.0.2.7", RAY, True),
        (RAY.label, RAY, True),
        ("SGLangEngine pid=3687", RAY, False),
        ("SGLangEngine TP1", RAY, False),
        ("Engine", RAY, False),
        ("sglang-0/server", Rank("sglang-0/server"), True),
        ("sglang-1/server", Rank("sglang-0/server"), False),
        ("TP0", Rank("TP0"), True),
    ],
)
def test_a_rank_is_named_as_the_log_prints_it(words: str, rank: Rank, meant: bool) -> None:
    """All that is said must be printed; what is not said may be anything."""
    assert Selection(ranks=[read_rank(words)]).keeps(record(rank=rank)) is meant


def test_one_of_several_ranks_is_enough() -> None:
    """And the selection tells which ranks there were."""
    selection = Selection.of(Timeline(), ranks=["DP0", "DP2"])
    ranks = [Rank("", number) for number in range(3)]
    assert [selection.keeps(record(rank=rank)) for rank in ranks] == [True, False, True]
    assert selection.ranks_seen == dict(zip(ranks, (True, False, True), strict=True))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "names no rank"),
        ("  ", "names no rank"),
        ("0", "names no rank"),
        ("-1", "names no rank"),
        ("DP0 DP1", "no line has two DP ranks"),
    ],
)
def test_what_names_no_rank_is_refused(words: str, message: str) -> None:
    """With how to name one."""
    with pytest.raises(UsageError, match=message) as refusal:
        Selection.of(Timeline(), ranks=[words])
    assert refusal.value.remedy


def test_moments_are_settled_with_the_first_time_of_the_log() -> None:
    """Before it, nobody knows which day ``11:20`` is of, or where ``+10m`` begins."""
    timeline = Timeline()
    selection = Selection.of(timeline, since="11:20", until="+10m")
    assert not selection.keeps(record(None))
    moments = [
        timeline.at(f"2026-08-26 {clock}")
        for clock in ("11:17:01", "11:19:59", "11:20:00", "11:27:01", "11:27:02")
    ]
    assert kept(selection, *moments) == moments[2:4]
    assert selection.since_s == moments[2]


def test_words_that_are_no_moment_are_refused_before_a_log_is_read() -> None:
    """Those that only this log can't tell, with its first time."""
    for words, flag in ({"since": "soon"}, "--since"), ({"until": "soon"}, "--until"):
        with pytest.raises(UsageError, match=f"{flag} 'soon': is no moment"):
            Selection.of(Timeline(), **words)
    timeline = Timeline()
    selection = Selection.of(timeline, since="2026-08-26")
    with pytest.raises(UsageError, match="the log prints times of day without a date"):
        selection.keeps(record(timeline.at("11:17:01")))


def test_an_end_before_the_beginning_is_refused() -> None:
    """Nothing would be left, and the user would not know why."""
    timeline = Timeline()
    selection = Selection.of(timeline, since="2026-08-27", until="2026-08-26 12:00")
    with pytest.raises(UsageError, match="--since 2026-08-27: is after --until 2026-08-26 12:00"):
        selection.keeps(record(timeline.at("2026-08-26 11:17:01")))


@settings(deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_no_words_break_it(rank: str, source: str) -> None:
    """They name a rank or are refused."""
    try:
        words = read_rank(rank)
    except UsageError:
        return
    assert isinstance(words.match(Rank(source, 0)), bool)
