"""Queue and pools, and which of them was full first."""

from __future__ import annotations

import pytest

from tests.metrics.log_summary.records import arguments, codes, decode, event, note, prefill, summarise


def test_queue_and_pool_over_all_batch_lines() -> None:
    """Means and shares over prefill and decode lines alike; the highest values anywhere."""
    log = [
        prefill(9, queue_req=4, pending_token=500),
        decode(at=1, token_usage=0.98),
        prefill(9, at=2, queue_req=..., token_usage=...),
    ]
    found = summarise([*log, event("capacity", extra={"max_total_num_tokens": 5000})]).pressure
    assert (found.queue_mean, found.queue_max, found.queued_share) == (2.0, 4, 0.5)
    assert (found.pending_tokens_max, found.pools, found.full_share, found.pool_tokens) == (
        500,
        {"token": 0.98},
        0.5,
        5000,
    )


def test_values_that_are_not_printed_are_unknown() -> None:
    """No queue and no usage on any line: no figures, not 0."""
    found = summarise([prefill(9, queue_req=..., token_usage=..., running_req=...)]).pressure
    assert (found.queue_mean, found.queue_max, found.queued_share, found.pools, found.full_share) == (
        None,
        None,
        None,
        {},
        None,
    )


@pytest.mark.parametrize(("key", "name"), [("mamba_usage", "mamba"), ("swa_token_usage", "swa")])
def test_fault_118_the_side_pool_is_full_first(key: str, name: str) -> None:
    """Mamba usage 1.00 while KV usage is 0.14: the state pool is the one that is short."""
    log = [prefill(9, token_usage=..., full_token_usage=0.14, **{key: 1.0})]
    summary = summarise(log)
    assert summary.pressure.pools == {"full": 0.14, name: 1.0}
    told = note(summary, "side-pool-full")
    assert "usage 1.00" in told
    assert "0.14" in told
    assert "hybrid-model" not in codes(summary)


def test_a_hybrid_model_is_hinted_at() -> None:
    """Pools of several kinds of state, none of them full."""
    summary = summarise([prefill(9, token_usage=..., full_token_usage=0.14, swa_token_usage=0.3)])
    assert "sliding-window" in note(summary, "hybrid-model")
    assert "side-pool-full" not in codes(summary)
    assert "hybrid-model" not in codes(summarise([prefill(9)]))


def test_both_pools_full_is_no_side_pool() -> None:
    """Where the KV pool is full too, the model's other state is not what is short."""
    log = [prefill(9, token_usage=..., full_token_usage=0.98, swa_token_usage=1.0)]
    assert "side-pool-full" not in codes(summarise(log))
    assert "pool-full" in codes(summarise(log))


def test_device_and_host_pools() -> None:
    """Decode lines of sparse attention print pools that no key names."""
    log = [decode(token_usage=..., extra={"gpu token usage": 0.4, "cpu token usage": 0.2})]
    assert summarise(log).pressure.pools == {"gpu": 0.4, "cpu": 0.2}


def test_a_full_pool_is_told_from_a_tenth_of_the_lines() -> None:
    """Usage of 0.97 and more, or a retraction."""
    room = [prefill(9, at=n) for n in range(9)]
    assert "10.0 % of the lines" in note(summarise([*room, prefill(9, at=9, token_usage=0.97)]), "pool-full")
    assert "pool-full" not in codes(summarise([*room, *room, prefill(9, at=9, token_usage=0.97)]))
    assert "1 retraction sent 3 requests back" in note(
        summarise([*room, event("retract", retracted_reqs=3)]), "pool-full"
    )
    test = event("retract", extra={"testing": True}, retracted_reqs=2)
    assert "pool-full" not in codes(summarise([*room, test]))
    both = summarise([*room, test, event("retract", retracted_reqs=3)])
    assert "1 retraction sent 3 requests back" in note(both, "pool-full")


def test_no_cached_prefixes_are_evicted_where_the_cache_is_off() -> None:
    """A full pool then has nothing of that kind to evict."""
    full = [prefill(9, token_usage=0.99)]
    assert "evicted" in note(summarise(full), "pool-full")
    assert "evicted" not in note(summarise([arguments(disable_radix_cache=True), *full]), "pool-full")


def test_a_queue_is_told_where_requests_mostly_wait() -> None:
    """Half of the lines with a queue, and how long it was."""
    summary = summarise([prefill(9, queue_req=30), prefill(9, at=1, queue_req=10), prefill(9, at=2)])
    assert "13.3 on average and 30 at most" in note(summary, "queue-builds")
    assert "queue-builds" not in codes(
        summarise([prefill(9, queue_req=30), prefill(9, at=1), prefill(9, at=2)])
    )
