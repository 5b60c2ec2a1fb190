"""Captures with all that a measurement records of itself: checks, witnesses, client, calibration, corpus, failures."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

from radixbench.capture.model import Capture, CellFailure, Check, Run
from radixbench.metrics.summary import summarise
from radixbench.records import Calibration, ClientRecord, CorpusRecord, LogTotals, ServerCounters
from radixbench.report.evidence import Evidence
from radixbench.report.mode import cache_words
from radixbench.report.model import Arm, Slot
from radixbench.scenario.model import GridSpec, WorkloadSpec
from tests.report import scenes

CALIBRATION = Calibration(
    streams=8,
    chunks=2000,
    seconds=1.0,
    cpu_ns_per_chunk=30_000,
    chunks_per_s=2000.0,
    ttft_error_p50_ns=180_000,
    ttft_error_p99_ns=900_000,
    lag_p50_ns=90_000,
    lag_p99_ns=700_000,
    late_p50_ns=20_000,
    late_p99_ns=300_000,
    coalesced_share=0.01,
)
CLIENT = ClientRecord(
    cpu_ns=40_000_000,
    reads=1000,
    chunks=1024,
    coalesced_chunks=24,
    ticks=200,
    tick_interval_ns=10_000_000,
    stalls=0,
    stall_threshold_ns=5_000_000,
    stall_max_ns=0,
)
CORPUS = CorpusRecord(
    "chats.json", "sharegpt", "ab" * 32, 120, 100, {"no answer": 15, "too long": 5}, ("cut off at 125 MB",)
)


def side_of(capture: Capture, *, slot: Slot = "a", name: str = "A (cache on)") -> Evidence:
    """A capture as a side of a report."""
    arm = Arm(slot, name, "scene", "", "", cache_words(capture.runs))
    return Evidence(arm, capture, tuple(summarise(run) for run in capture.runs))


def witnessed(run: Run) -> Run:
    """The run with counters, log lines, a client that watched itself and the checks of its protocol."""
    cached = sum(one.cached_tokens or 0 for one in run.requests)
    prompt = sum(one.prompt_tokens or 0 for one in run.requests)
    checks = (
        Check(
            "exact repeats",
            True,
            f"a prompt of 128 tokens sent again found {127 if run.mode == 'on' else 0} cached",
        ),
        Check("flush", True, "after 2 calls a probe it knew found 0 cached"),
        Check("alone", None, "the server doesn't count requests"),
        Check("measured hits", True, f"{cached} cached tokens, all put there by the run itself"),
    )
    return replace(
        run,
        protocol=replace(
            run.protocol,
            off_mode="salt" if run.mode == "off" else None,
            flush_attempts=2,
            flush_tiers=("device", "host"),
            flush_waited_ns=1_300_000 + 1000 * run.order,
            checks=checks,
        ),
        client=CLIENT,
        counters=ServerCounters(
            "/metrics", prompt_tokens=prompt, cached_tokens=cached, requests=len(run.requests)
        ),
        log=LogTotals(
            "radixbench",
            prefill_lines=20 + run.order,
            decode_lines=80,
            new_tokens=prompt - cached,
            cached_tokens=cached,
            peak_token_usage=0.25,
        ),
    )


@cache
def measured() -> tuple[Capture, Capture]:
    """A grid of shared lengths and concurrencies with every record; one cell of the off arm failed."""
    cells: list[scenes.Cell] = [
        {"shared_tokens": shared, "max_concurrency": level} for shared in (0, 512) for level in (1, 8)
    ]

    def chains(cell: scenes.Cell, rng: random.Random) -> list[list[scenes.Ask]]:
        shared = cell["shared_tokens"]
        assert isinstance(shared, int)
        return scenes.shared_prefix_asks(shared, rng)

    workload = WorkloadSpec(shared=(0, 512), question_len=32, output_len=scenes.OUTPUT)
    on, off = scenes.sweep(scenes.Setup(), workload, cells, chains, name="grid")
    scenario = replace(on.scenario, grid=GridSpec(max_concurrency=(1, 8)), off_mode="salt")
    failure = CellFailure({"shared_tokens": 512, "max_concurrency": 8}, 3, "off", "the server died")
    arms = [
        replace(
            capture,
            scenario=scenario,
            runs=tuple(witnessed(run) for run in capture.runs),
            calibration=CALIBRATION,
        )
        for capture in (on, off)
    ]
    return arms[0], replace(arms[1], planned_runs=13, failures=(failure,))


def with_cached(run: Run, share: float) -> Run:
    """The run with this share of every request's cached tokens."""
    requests = tuple(
        replace(one, cached_tokens=None if one.cached_tokens is None else round(share * one.cached_tokens))
        for one in run.requests
    )
    return replace(run, requests=requests)


def retokenized(run: Run) -> Run:
    """The run as if each later prompt repeated other tokens than those that were generated before it."""
    tree = run.prompts
    answers = {node for node in tree.sequences if node is not None}
    nodes = tuple(
        replace(node, parent=tree.nodes[node.parent].parent, len=node.len + tree.nodes[node.parent].len)
        if node.parent in answers and node.parent is not None
        else node
        for node in tree.nodes
    )
    return replace(run, prompts=replace(tree, nodes=nodes))
