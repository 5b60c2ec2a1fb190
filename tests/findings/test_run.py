"""What a single run says of itself beyond the field's faults, and that a sound run says nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from radixbench.capture.model import Check, Run
from radixbench.findings.run import run_findings
from radixbench.findings.sources import source_findings
from radixbench.metrics.figure import Reconciliation
from radixbench.metrics.summary import summarise
from radixbench.records import ClientRecord, LogTotals, ServerCounters
from tests.builders import arm_run, make_request, make_run, ns, prompt_ids
from tests.faults.finding import codes, found

QUIET = ClientRecord(
    cpu_ns=ns(1),
    reads=100,
    chunks=100,
    coalesced_chunks=0,
    ticks=1000,
    tick_interval_ns=10_000_000,
    stalls=0,
    stall_threshold_ns=5_000_000,
    stall_max_ns=0,
)


def plain(**overrides: Any) -> Run:
    """A sound run of ten prompts that share nothing."""
    return make_run([make_request(i, send_s=float(i)) for i in range(10)], **overrides)


def test_a_sound_run_has_nothing_to_say() -> None:
    """Neither cold, off nor quiet clients raise a finding; each finding has its run's place and cell."""
    assert codes(plain(client=QUIET)) == set()
    for mode in ("on", "off"):
        assert codes(arm_run(seed=0, mode=mode, order=0, ttft_s=0.1, shared=64)) == set()
    run = make_run([make_request(0, output=0)], cell={"shared_tokens": 7})
    assert {(one.place, one.cell) for one in run_findings(run, summarise(run))} == {
        ("7 shared tokens, seed 0, cache on", (("shared_tokens", 7),))
    }


def first_arrivals_and_hits(first_s: float, odd_s: float, cached: bool) -> Run:
    """Sixteen first arrivals compute a thousand tokens each, the others eight in 10 ms; the 5th takes ``odd_s``."""
    prompts = [prompt_ids(i % 16, i, shared=1024, question=8) for i in range(64)]
    requests = [
        make_request(
            i,
            send_s=0.5 * i,
            ttft_s=odd_s if i == 5 else first_s if i < 16 else 0.01,
            prompt_tokens=1032,
            cached=None if not cached else 0 if i < 16 else 1024,
        )
        for i in range(64)
    ]
    return make_run(requests, prompts=prompts)


@pytest.mark.parametrize("cached", [True, False])
def test_short_prompts_say_nothing_of_the_speed_of_long_ones(cached: bool) -> None:
    """What a step costs anyway is most of a short prompt's time: long ones are held against long ones alone."""
    sound = first_arrivals_and_hits(0.03, 0.03, cached)
    assert "suspected-hit" not in codes(sound)
    warm = first_arrivals_and_hits(0.3, 0.01, cached)
    assert "1 request (5)" in found(warm, "suspected-hit").text


def test_a_queue_accuses_nobody() -> None:
    """Sent at once and computed one by one, the first answer comes a hundred times sooner than the last."""
    requests = [make_request(i, ttft_s=0.1 * (i + 1), prompt_tokens=1000) for i in range(100)]
    prompts = [prompt_ids(0, i, shared=0, question=50) for i in range(100)]
    assert "suspected-hit" not in codes(make_run(requests, prompts=prompts))


def test_a_hit_in_an_off_run_is_suspected_too() -> None:
    """A server that says 0 and answers forty times sooner."""
    requests = [
        make_request(i, send_s=5.0 * i, ttft_s=0.1 if i == 3 else 4.0, prompt_tokens=21_000)
        for i in range(20)
    ]
    prompts = [prompt_ids(0, i, shared=0, question=800) for i in range(20)]
    assert (
        "off run: 1 request (3)"
        in found(make_run(requests, prompts=prompts, mode="off"), "suspected-hit").text
    )


def test_a_race_for_a_prefix_is_told() -> None:
    """Eight at once, each computes the prefix, one later hits: within the range, and what priming would mend."""
    prompts = [prompt_ids(0, i, shared=64, question=8) for i in range(9)]
    requests = [make_request(i, send_s=0.001 * i, ttft_s=1.0, prompt_tokens=72) for i in range(8)]
    later = make_request(8, send_s=5.0, prompt_tokens=72, cached=64)
    told = found(make_run([*requests, later], prompts=prompts), "prefixes-raced")
    assert told.text == (
        "7 requests came while a prefix of theirs was still being computed, and 448 of its tokens were computed again: 64"
        " cached tokens, where 64 to 512 were to be expected"
    )
    assert told.severity == "info"


def test_a_run_of_one_wave_is_warned_of() -> None:
    """As many prompts as are under way at once: none can find another's prefix, so that both arms look alike."""
    prompts = [prompt_ids(0, i, shared=64, question=8) for i in range(8)]
    requests = [make_request(i, send_s=0.001 * i, ttft_s=1.0, prompt_tokens=72) for i in range(8)]
    run = make_run(requests, prompts=prompts)
    told = found(run, "one-wave")
    assert told.severity == "warning"
    assert told.text.startswith("all 8 requests were under way before the first of them was answered")
    assert "0 of the 448 tokens they share were found" in told.text
    assert "--prompts-per-group" in told.remedy
    assert "prefixes-raced" not in codes(run)
    assert "one-wave" not in codes(replace(run, mode="off", protocol=replace(run.protocol, declared="off")))
    assert "one-wave" not in codes(make_run(requests))


def test_a_shortfall_names_its_causes() -> None:
    """Sequential requests that miss a prefix the run had computed: unexplained without, evicted with a sign."""
    prompts = [prompt_ids(0, i, shared=64, question=8) for i in range(8)]
    requests = [make_request(i, send_s=float(i), prompt_tokens=72) for i in range(8)]
    run = make_run(requests, prompts=prompts)
    assert "64 first arrivals, 448 unexplained" in found(run, "hit-shortfall").text
    evicting = replace(run, counters=ServerCounters("/metrics", evicted_tokens=5000))
    assert "448 evicted for want of room" in found(evicting, "hit-shortfall").text
    assert "--max-total-tokens" in found(evicting, "hit-shortfall").remedy


def test_sources_that_contradict_are_quoted() -> None:
    """Each disagreement in its own sentence."""
    run = plain()
    told = Reconciliation(sources=(), disagreements=("counters say 5", "the log says 7"))
    summary = replace(summarise(run), reconciliation=told)
    (one,) = source_findings(run, summary)
    assert (one.code, one.text) == ("sources-disagree", "counters say 5; the log says 7")


def test_tiers_are_told_and_never_added_up() -> None:
    """A device tier alone is nothing to tell."""
    two = ServerCounters("/metrics", cached_by_tier={"device": 30, "host": 24})
    assert "device 30, host 24" in found(plain(counters=two), "cache-tiers").text
    assert codes(plain(counters=ServerCounters("/metrics", cached_by_tier={"device": 0}))) == set()


def test_a_restart_is_serious() -> None:
    """A counter that fell."""
    assert (
        found(plain(counters=ServerCounters("/metrics", reset=True)), "server-restarted").severity
        == "serious"
    )


def test_a_full_pool_is_told_without_a_state_pool() -> None:
    """The KV pool alone was full; what has room isn't told."""
    full = LogTotals("sglang", 3, 9, new_tokens=320, cached_tokens=0, peak_token_usage=0.993)
    assert "usage 0.99" in found(plain(log=full), "pool-full").text
    assert codes(plain(log=replace(full, peak_token_usage=0.9))) == set()


@pytest.mark.parametrize(
    ("name", "code"),
    [("extensions", "no-extensions"), ("exact repeats", "no-repeats")],
)
def test_checks_that_failed_are_findings(name: str, code: str) -> None:
    """Each with its own detail; those that held say nothing."""
    run = plain()
    failed = replace(run.protocol, checks=(Check(name, False, "found 0 of 128"), Check(name, True, "fine")))
    assert found(replace(run, protocol=failed), code).text.endswith("found 0 of 128")


def test_prompts_sent_before_are_counted() -> None:
    """By the ledger of what the server was sent."""
    run = plain()
    repeated = replace(run, protocol=replace(run.protocol, ledger_repeats=3))
    assert found(repeated, "sent-before").text.startswith("3 measured prompts begin as ones")


@pytest.mark.parametrize("off_mode", ["salt", "flush"])
def test_how_an_arm_came_to_be_off_is_told(off_mode: Any) -> None:
    """A salted server keeps its tree, a flushed one answers one at a time."""
    run = plain(mode="off")
    off = replace(run, protocol=replace(run.protocol, off_mode=off_mode))
    assert found(off, f"off-by-{off_mode}").severity == "info"
    assert codes(replace(run, protocol=replace(run.protocol, off_mode="flag"))) == set()


def test_a_salt_that_is_crossed_is_wrong() -> None:
    """Every request has a salt of its own, so that any hit is another's."""
    run = arm_run(seed=0, mode="off", order=0, ttft_s=0.1, shared=64, hits=True)
    salted = replace(run, protocol=replace(run.protocol, off_mode="salt"))
    assert found(salted, "crossed-namespaces").text.startswith("WRONG: cache crossed salts: 7 requests")
    assert "crossed-namespaces" not in codes(run)


@pytest.mark.parametrize(
    ("first", "others", "why"),
    [
        (0, 30, "it isn't what they share with others' prompts of this run"),
        (64, 64, "1 request found what nobody in this run had sent"),
    ],
)
def test_a_salted_arm_with_other_hits_is_no_accusation(first: int, others: int, why: str) -> None:
    """Counts that are too high, or prompts from before the run, aren't what the salts' prompts share."""
    run = arm_run(seed=0, mode="off", order=0, ttft_s=0.1, shared=64, hits=False)
    over = [replace(one, cached_tokens=others if one.prompt else first) for one in run.requests]
    salted = replace(run, requests=tuple(over), protocol=replace(run.protocol, off_mode="salt"))
    told = found(salted, "hits-beyond-namespace")
    assert "found more than their own salts explain" in told.text
    assert f"; {why}: the server counts too much, or held something from before" in told.text
    assert "crossed-namespaces" not in codes(salted)


def test_two_models_in_one_run() -> None:
    """A router that answers from another server in between."""
    run = plain()
    renamed = [replace(one, model="b" if one.prompt == 4 else "a") for one in run.requests]
    told = found(replace(run, requests=tuple(renamed)), "model-renamed")
    assert told.text == "the answers name 2 models: 'a' (9 answers), 'b' (1 answer)"


def test_prompts_of_another_length_than_was_sent() -> None:
    """A server that cuts prompts short, or puts something in front, by its own usage."""
    run = plain()
    cut = tuple(replace(one, prompt_tokens=16 if one.prompt == 3 else 32) for one in run.requests)
    assert found(replace(run, requests=cut), "prompt-length").text == (
        "the server counts other prompts than were sent: 1 of 10 answers tell of another length, as request 3, 16 tokens"
        " of 32 sent"
    )
    silent = tuple(replace(one, prompt_tokens=None) for one in run.requests)
    assert "prompt-length" not in codes(replace(run, requests=silent))


def test_another_model_than_was_asked() -> None:
    """An alias or another model: only somebody who knows the server can tell."""
    run = plain()
    renamed = tuple(replace(one, model="b") for one in run.requests)
    assert found(replace(run, requests=renamed), "model-unlike").text == (
        "the answers name the model 'b', asked was 'tiny'"
    )
    asked = tuple(replace(one, model="tiny") for one in run.requests)
    assert "model-unlike" not in codes(replace(run, requests=asked))


def off_arm(*, salted: bool) -> Run:
    """Two first arrivals of a thousand tokens, then six that share most of one of them, sent one after the other."""
    prompts = [prompt_ids(i % 2, i, shared=1024, question=8) for i in range(8)]
    requests = [
        make_request(
            i, send_s=float(i), ttft_s=0.4 if salted or i < 2 else 0.01, prompt_tokens=1032, cached=None
        )
        for i in range(8)
    ]
    return make_run(requests, prompts=prompts, mode="off")


def test_an_off_arm_that_hits_without_a_word() -> None:
    """A salt nobody honours, on a server that doesn't tell: later arrivals come too soon."""
    told = found(off_arm(salted=False), "suspected-hit").text
    assert told.startswith("suspected hit in off run: 6 requests (2, 3, 4, 5, 6 and 1 more)")
    assert "suspected-hit" not in codes(off_arm(salted=True))


def test_late_sends_are_the_clients() -> None:
    """An open loop that can't keep up: p99 of the lateness beside the median TTFT."""
    late = make_run([make_request(i, send_s=float(i) + 0.5, due_ns=ns(i)) for i in range(10)])
    assert "up to 500.0 ms (p99) after they were due" in found(late, "client-lag").text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"stalls": 60, "stall_max_ns": ns(0.02)}, "stalled 60 times in 1,000 looks"),
        ({"stalls": 12, "stall_max_ns": ns(0.2)}, "stalled 12 times in 1,000 looks, up to 200.0 ms"),
        ({"cpu_ns": ns(95)}, "the client used 96 % of a core, 950.0 ms per chunk"),
    ],
)
def test_a_client_that_sets_the_numbers(changes: dict[str, int], said: str) -> None:
    """Stalls often or long, or a core that is all but used up."""
    assert said in found(plain(client=replace(QUIET, **changes)), "client-lag").text


@pytest.mark.parametrize(
    ("busy_s", "late_s", "gravity"),
    [
        (80, 0.0, ["warning"]),
        (95, 0.0, ["serious"]),
        (0, 0.5, ["warning"]),
        (80, 0.5, ["serious", "warning"]),
    ],
)
def test_a_client_that_sets_the_numbers_gravely(busy_s: int, late_s: float, gravity: list[str]) -> None:
    """A core all used up, and lateness as long as the figure of a client that is busy: a cap makes requests late as well."""
    requests = [make_request(i, send_s=i + late_s, due_ns=ns(i)) for i in range(10)]
    run = make_run(requests, client=replace(QUIET, cpu_ns=ns(busy_s)))
    told = [one.severity for one in run_findings(run, summarise(run)) if one.code == "client-lag"]
    assert told == gravity


@pytest.mark.parametrize(("ticks", "stalls"), [(3, 1), (19, 10), (40, 1)])
def test_a_few_looks_say_nothing_of_a_client(ticks: int, stalls: int) -> None:
    """A run too short for a share of stalls, and one stall alone."""
    short = replace(QUIET, ticks=ticks, stalls=stalls, stall_max_ns=ns(0.2))
    assert "client-lag" not in codes(plain(client=short))


def test_stalls_count_against_first_tokens_alone() -> None:
    """They are held against the TTFT, so that is what they touch."""
    often = found(plain(client=replace(QUIET, stalls=60, stall_max_ns=ns(0.02))), "client-lag")
    assert often.metrics == {"ttft_p50", "ttft_p99"}


def test_a_control_needs_no_smaller_blocks() -> None:
    """Prompts below a block that share nothing have nothing to be found; such that share a prefix do."""
    requests = [make_request(i, send_s=float(i), prompt_tokens=12) for i in range(4)]
    own, shared = (
        make_run(
            requests,
            prompts=[prompt_ids(0, i, shared=n, question=12 - n) for i in range(4)],
            args={"page_size": 16},
        )
        for n in (0, 8)
    )
    assert "shorter-than-block" not in codes(own)
    assert (
        "4 of 4 prompts are shorter than one block of 16 tokens" in found(shared, "shorter-than-block").text
    )


def test_a_shortfall_is_told_once() -> None:
    """The sources' contradiction with the expectation is the same fact; one too small for a shortfall stays theirs."""
    prompts = [prompt_ids(0, i, shared=64, question=8) for i in range(30)]
    requests = [make_request(i, send_s=float(i), prompt_tokens=72, cached=64 if i else 0) for i in range(30)]
    nothing = make_run([replace(one, cached_tokens=0) for one in requests], prompts=prompts)
    assert "hit-shortfall" in codes(nothing)
    again = found(nothing, "sources-disagree")
    assert (again.severity, "are missing" in again.text) == ("info", False)
    one_missed = make_run([*requests[:29], replace(requests[29], cached_tokens=0)], prompts=prompts)
    assert "hit-shortfall" not in codes(one_missed)
    assert "64 are missing without a sign of eviction" in found(one_missed, "sources-disagree").text


def test_coalesced_reads_leave_no_itl() -> None:
    """Above a tenth of the chunks: the figure is refused with its reason, and the finding says why."""
    run = plain(client=replace(QUIET, coalesced_chunks=11))
    assert found(run, "coalesced-reads").text.startswith("11 % of 100 chunks came in one read")
    figure = summarise(run).figures["itl_p50"]
    assert figure.value is None
    assert "11 of 100 chunks were read together" in (figure.reason or "")
    assert summarise(plain(client=replace(QUIET, coalesced_chunks=10))).figures["itl_p50"].value is not None
