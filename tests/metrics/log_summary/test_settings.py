"""What the server's own words say about its cache."""

from __future__ import annotations

import pytest

from radixbench.logs.record import Rank
from tests.metrics.log_summary.records import arguments, codes, decode, event, note, prefill, slot, summarise


def test_settings_that_bear_on_the_cache_are_shown() -> None:
    """By the server's own names, in a fixed order; the rest and what is unset is left out."""
    args = arguments(
        page_size=1,
        chunked_prefill_size=8192,
        radix_eviction_policy="lru",
        disable_radix_cache=False,
        tp_size=8,
        host="0.0.0.0",
        version=None,
    )
    log = [
        args, event("capacity", extra={"max_total_num_tokens": 5000, "context_len": 32_768}),
        event("tree_cache", extra={"impl": "UnifiedRadixCache", "hybrid_swa": False}), event("tree_core", extra={"core": "RustUnifiedTreeCore"}),
        prefill(9),
    ]  # fmt: skip
    assert summarise(log).server == {
        "disable_radix_cache": False, "page_size": 1, "chunked_prefill_size": 8192, "radix_eviction_policy": "lru", "max_total_num_tokens": 5000,
        "context_len": 32_768, "tp_size": 8, "tree_impl": "UnifiedRadixCache", "tree_core": "RustUnifiedTreeCore", "tree_hybrid_swa": False,
    }  # fmt: skip


def test_settings_hold_plain_values_only() -> None:
    """Objects become text, what is no number disappears."""
    args = arguments(
        speculative_config={"model": "draft"}, mem_fraction_static=float("nan"), model_path="x" * 1000
    )
    server = summarise([args, prefill(9)]).server
    assert server["speculative_config"] == "{'model': 'draft'}"
    assert "mem_fraction_static" not in server
    assert len(server["model_path"]) == 300


def test_the_pool_is_not_the_drafts() -> None:
    """A draft model's pool is printed too, with its own name."""
    log = [
        event("kv_pool_size", pool_tokens=9000),
        event("kv_pool_size", extra={"pool": "draft KV cache"}, pool_tokens=10),
        prefill(9),
    ]
    assert summarise(log).pressure.pool_tokens == 9000


@pytest.mark.parametrize(
    ("side", "role"),
    [
        ([prefill(9, bootstrap_req=0, inflight_req=1)], "prefill"), ([decode(preallocated_usage=0.0, transfer_req=0)], "decode"),
        ([prefill(9), decode()], "unified"), ([arguments(disaggregation_mode="prefill"), prefill(9)], "prefill"),
        ([arguments(disaggregation_mode="decode"), decode()], "decode"), ([arguments(disaggregation_mode="null"), decode()], "unified"),
    ],
)  # fmt: skip
def test_roles(side: list[object], role: str) -> None:
    """By the arguments, else by the keys that only one side of a pair prints."""
    summary = summarise(side)
    assert summary.role == role
    assert ("disaggregated" in codes(summary)) == (role != "unified")
    assert "no-decode-lines" not in codes(summary)


def test_both_sides_of_a_pair_in_one_log() -> None:
    """Prefill lines of the one and decode lines of the other are told, as no single server's."""
    summary = summarise([prefill(9, bootstrap_req=0), decode(preallocated_usage=0.0, at=1)])
    assert "two-roles" in codes(summary)
    assert "disaggregated" not in codes(summary)


def test_longest_prefix_matching_falls_back() -> None:
    """schedule_policy=lpm is fcfs above 128 waiting requests."""
    log = [arguments(schedule_policy="lpm"), prefill(9, queue_req=300)]
    assert "up to 300" in note(summarise(log), "lpm-falls-back")
    assert "lpm-falls-back" not in codes(
        summarise([arguments(schedule_policy="fcfs"), prefill(9, queue_req=300)])
    )
    assert "lpm-falls-back" not in codes(
        summarise([arguments(schedule_policy="lpm"), prefill(9, queue_req=100)])
    )


def test_speculation() -> None:
    """An accept rate isn't comparable across versions, and EAGLE keys the cache by pairs of tokens."""
    log = [arguments(speculative_algorithm="EAGLE"), decode(accept_len=2.0, accept_rate=0.86)]
    found = codes(summarise(log))
    assert {"accept-rate-not-comparable", "bigram-keys"} <= found
    assert not codes(summarise([decode(accept_len=2.0)])) & {"accept-rate-not-comparable", "bigram-keys"}


def test_a_plain_log_has_no_notes() -> None:
    """A healthy server's log: settings stated, reuse, no pressure, no defect."""
    log = [
        arguments(
            disable_radix_cache=False, page_size=1, chunked_prefill_size=8192, disaggregation_mode="null"
        )
    ]
    for n in range(120):
        log += [
            prefill(100 + n, 300, at=3 * n, running_req=2, pending_token=0),
            decode(3, 150.0, at=3 * n + 1),
        ]
    assert codes(summarise(log)) == set()


def test_llamacpp_says_what_it_is() -> None:
    """Build, slots and the host's prompt cache."""
    log = [
        event("version", dialect="llamacpp", extra={"build": 6000, "commit": "abcdef0"}), event("slots", dialect="llamacpp", extra={"n_slots": 4, "n_ctx_slot": 4096}),
        event("prompt_cache", dialect="llamacpp", extra={"enabled": True}), slot("prompt_eval", prompt_ms=9.0, prompt_n=9),
    ]  # fmt: skip
    assert summarise(log).server == {"n_slots": 4, "n_ctx_slot": 4096, "build": 6000, "prompt_cache": True}


def test_what_is_stated_twice_stands_once() -> None:
    """What was asked for and what came of it: both only where they differ."""
    capacity = event("capacity", extra={"max_total_num_tokens": 5000, "context_len": 4096})
    same = [arguments(max_total_tokens=5000, context_length=4096), capacity, prefill(9)]
    assert summarise(same).server == {"max_total_num_tokens": 5000, "context_len": 4096}
    other = [arguments(max_total_tokens=9000, context_length=8192), capacity, prefill(9)]
    assert summarise(other).server == {
        "max_total_num_tokens": 5000, "max_total_tokens": 9000, "context_len": 4096, "context_length": 8192,
    }  # fmt: skip


def test_missing_start_up_lines_are_told() -> None:
    """What they would have told and nothing else does; with them there is no note."""
    told = note(summarise([prefill(9)]), "start-up-missing")
    assert (
        "the page size, whether the cache is on and what the cache held when the log begins are unknown"
        in told
    )
    reused = note(summarise([event("ready"), prefill(9, 3)]), "start-up-missing")
    assert reused.endswith("the page size is unknown.")
    assert "start-up-missing" not in codes(summarise([arguments(page_size=1), prefill(9)]))


def test_a_restart_with_the_cache_off_doesnt_deny_the_reuse_before_it() -> None:
    """The last arguments hold for what came after them."""
    on, off = arguments(disable_radix_cache=False), arguments(disable_radix_cache=True)
    log = [
        on,
        prefill(50, cached=900, at=1),
        prefill(50, cached=900, at=2),
        off._replace(at_s=100.0),
        prefill(50, at=101),
    ]
    summary = summarise(log)
    assert "the reuse is of the time before" in note(summary, "cache-disabled")
    assert "cache-off" not in {part.cause for part in summary.uncached}


def test_several_servers_settings_are_those_they_share() -> None:
    """Two services in one stream: what one says of itself isn't true of the other."""
    a, b = Rank("a"), Rank("b")
    log = [
        arguments(disable_radix_cache=False, page_size=1, tp_size=1)._replace(rank=a),
        arguments(disable_radix_cache=True, page_size=64, tp_size=1)._replace(rank=b),
        prefill(50, cached=900, rank=a),
        prefill(50, rank=b),
    ]
    summary = summarise(log)
    assert summary.server == {"tp_size": 1}
    assert "cache-disabled" not in codes(summary)
    assert summary.prefill.hit_rate_bound is None
