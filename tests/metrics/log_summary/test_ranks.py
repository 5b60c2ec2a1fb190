"""Who printed what: copies of the same batches, caches of their own, servers of their own."""

from __future__ import annotations

from radixbench.logs.record import LogRecord, Rank
from tests.metrics.log_summary.records import (
    arguments,
    codes,
    decode,
    event,
    note,
    prefill,
    stats,
    step,
    summarise,
)


def _rank(dp: int | None = None, source: str = "", **parts: int) -> Rank:
    return Rank(source, dp, tuple(parts.items()))


def test_copies_of_a_batch_count_once() -> None:
    """Four tensor ranks print the same two batches; the first one counts, the others are rows."""
    log = [prefill(100, 50, at=n, rank=_rank(TP=tp)) for n in range(2) for tp in range(4)]
    summary = summarise(log)
    assert (summary.prefill.batches, summary.prefill.cached_tokens) == (2, 100)
    assert [(rank.rank, rank.counted) for rank in summary.ranks] == [
        ("TP0", True), ("TP1", False), ("TP2", False), ("TP3", False),
    ]  # fmt: skip
    assert note(summary, "same-batches").startswith("3 ranks are left out")


def test_the_rank_that_printed_most_counts() -> None:
    """A copy that lost lines is no leader."""
    log = [prefill(10, rank=_rank(TP=0)), prefill(10, rank=_rank(TP=1)), prefill(20, at=1, rank=_rank(TP=1))]
    summary = summarise(log)
    assert summary.prefill.new_tokens == 30
    assert [rank.counted for rank in summary.ranks] == [False, True]


def test_copies_that_are_none_are_told() -> None:
    """A rank with other sums than the one that counts is hardly its copy."""
    log = [prefill(100, at=n, rank=_rank(TP=0)) for n in range(4)] + [prefill(9, rank=_rank(TP=1))]
    assert "do several servers write into this log?" in note(summarise(log), "same-batches")
    same = [prefill(100, at=n, rank=_rank(TP=tp)) for n in range(4) for tp in (0, 1)]
    assert "several servers" not in note(summarise(same), "same-batches")


def test_a_rank_of_a_later_run_is_no_copy() -> None:
    """Started again with tensor ranks, a server names them: both runs count, and the later one's copies don't."""
    first = [arguments(at=0), event("ready", at=1), *(prefill(100, at=2 + n) for n in range(5))]
    again = [arguments(at=20), event("ready", at=21)]
    later = [prefill(10, 90, at=22 + n, rank=_rank(TP=tp)) for n in range(3) for tp in (0, 1)]
    summary = summarise([*first, *again, *later])
    assert (summary.prefill.batches, summary.prefill.new_tokens) == (8, 530)
    assert [rank.counted for rank in summary.ranks] == [True, True, False]
    assert "several servers" not in note(summary, "same-batches")
    unseen = summarise([*first, *later])
    assert unseen.prefill.batches == 5


def test_data_parallel_ranks_have_caches_of_their_own() -> None:
    """Their sums are added, each is a row, and the note gives the range of their hit rates."""
    log = [
        prefill(100, 100, rank=_rank(0, TP=0)),
        prefill(300, 100, rank=_rank(1, TP=1)),
        prefill(9, 9, rank=_rank(1, TP=3)),
    ]
    summary = summarise(log)
    assert (summary.prefill.new_tokens, summary.prefill.cached_tokens) == (400, 200)
    assert [rank.prefill.hit_rate for rank in summary.ranks if rank.counted] == [0.5, 0.25]
    assert "2 data-parallel ranks" in note(summary, "data-parallel-trees")
    assert "from 25.0 % to 50.0 %" in note(summary, "data-parallel-trees")


def test_one_rank_alone_has_no_note_about_ranks() -> None:
    """DP0 TP0 by itself is a server like any other."""
    assert not codes(summarise([prefill(1, rank=_rank(0, TP=0)), decode(at=1, rank=_rank(0, TP=0))])) & {
        "same-batches", "data-parallel-trees", "several-sources",
    }  # fmt: skip


def test_several_servers_in_one_stream() -> None:
    """Each source is a row, the totals are over all, and a note names them."""
    log = [prefill(10, 5, rank=_rank(source="a")), prefill(20, 5, rank=_rank(source="b"))]
    summary = summarise(log)
    assert summary.prefill.new_tokens == 30
    assert [rank.rank for rank in summary.ranks] == ["a", "b"]
    assert note(summary, "several-sources").startswith("2 servers write into this log (a, b)")


def test_another_servers_lines_are_left_out() -> None:
    """The dialect that says most has the figures; the other's lines are counted in a note."""
    summary = summarise([*(stats(1.0, 5.0, at=10 * n) for n in range(3)), prefill(10, 5, at=40)])
    assert summary.dialect == "vllm"
    assert summary.prefill.cached_tokens is None
    assert "1 line of SGLang's" in note(summary, "two-servers")


def test_a_cut_line_of_ours_is_still_ours() -> None:
    """Without its exact end it looks like SGLang's but for the step number: no second server, and its tokens count."""
    whole = [step(n, 10 * n, 10 * n + 5, new_seq=1, new_tokens=10) for n in range(3)]
    summary = summarise([*whole, prefill(7, extra={"step": 3}), decode(2, extra={"step": 4})])
    assert (summary.dialect, summary.prefill.new_tokens, summary.decode.batches) == ("radixbench", 37, 1)
    assert "two-servers" not in codes(summary)


def _retraction(rank: Rank) -> LogRecord:
    return event("retract", at=1, rank=rank, retracted_reqs=2)


def test_retractions_follow_the_ranks() -> None:
    """Copies print the same retraction, data-parallel ranks their own, and one without a rank belongs to all."""
    copies = [prefill(10, rank=_rank(TP=0)), *(_retraction(_rank(TP=tp)) for tp in range(4))]
    assert summarise(copies).pressure.retracted_requests == 2
    own = [
        *(prefill(10, rank=_rank(dp, TP=dp)) for dp in (0, 1)),
        *(_retraction(_rank(dp, TP=dp)) for dp in (0, 1)),
    ]
    summary = summarise(own)
    assert summary.pressure.retracted_requests == 4
    assert [rank.pressure.retracted_requests for rank in summary.ranks] == [2, 2]
    unnamed = [*(prefill(10, rank=_rank(dp, TP=dp)) for dp in (0, 1)), _retraction(_rank())]
    assert summarise(unnamed).pressure.retracted_requests == 2
