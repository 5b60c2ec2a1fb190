"""Hits nobody tells of: an arm that seems to compute several times faster than the one without reuse ever did."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.capture.model import Capture, Run
from radixbench.compare.comparison import compare
from radixbench.compare.untold import untold_hits
from radixbench.metrics.summary import summarise
from radixbench.records import Mode
from tests.builders import make_capture, make_request, make_run, ns, prompt_ids

PER_TOKEN_S = 0.001
SHARED, QUESTION, N = 200, 20, 8
LENGTH = SHARED + QUESTION


def run(
    mode: Mode,
    *,
    seed: int = 0,
    warm: bool = False,
    at_once: bool = False,
    told: bool = False,
    order: int = 0,
) -> Run:
    """Eight requests of two families on a server that computes 1,000 tokens per second, one after the other.

    ``warm``: it held all but the last token of each before; ``at_once`` all are sent at the start; ``told``: the
    answers tell what they found.
    """
    prompts = [prompt_ids(2 * seed + i % 2, i, shared=SHARED, question=QUESTION) for i in range(N)]
    now, requests = 0.0, []
    for i in range(N):
        found = 0 if mode == "off" else LENGTH - 1 if warm else SHARED if i >= 2 else 0
        sent, now = 0.0 if at_once else now, now + PER_TOKEN_S * (LENGTH - found)
        requests.append(
            make_request(
                i,
                send_s=sent,
                ttft_s=now - sent,
                prompt_tokens=LENGTH,
                cached=found if told else None,
                end_ns=ns(now) + 100_000_000,
            )
        )
    return make_run(requests, prompts=prompts, mode=mode, seed=seed, order=order)


class Summed:
    """A run with its summary."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.summary = summarise(run)


@pytest.mark.parametrize("at_once", [False, True])
def test_a_cache_that_held_everything_before_is_betrayed(at_once: bool) -> None:
    """One token of each prompt computed, where first arrivals must compute all of theirs; with a queue too."""
    on, off = Summed(run("on", warm=True, at_once=at_once)), Summed(run("off", at_once=at_once))
    why = untold_hits(on, off)
    assert why is not None
    assert "nobody tells" in why
    assert untold_hits(off, on) == why


@pytest.mark.parametrize("at_once", [False, True])
def test_an_honest_cold_cache_is_not_accused(at_once: bool) -> None:
    """It is several times faster all the same, since the run itself fills it."""
    assert untold_hits(Summed(run("on", at_once=at_once)), Summed(run("off", at_once=at_once))) is None


def test_answers_that_tell_are_believed() -> None:
    """Nothing is untold where every answer says what it found, or where both arms have their cache on."""
    assert untold_hits(Summed(run("on", warm=True, told=True)), Summed(run("off"))) is None
    assert untold_hits(Summed(run("on", warm=True)), Summed(run("on"))) is None


def test_an_arm_without_first_tokens_says_nothing() -> None:
    """No speed is known of it."""
    off = run("off")
    dead = replace(off, requests=tuple(replace(one, chunk_ns=(), chunk_tokens=()) for one in off.requests))
    assert untold_hits(Summed(run("on", warm=True)), Summed(dead)) is None


def sweep(*, warm: bool) -> tuple[Capture, Capture]:
    """Three seeds of both arms."""
    arms: dict[Mode, list[Run]] = {"on": [], "off": []}
    for seed in range(3):
        arms["on"].append(run("on", seed=seed, warm=warm, order=2 * seed))
        arms["off"].append(run("off", seed=seed, order=2 * seed + 1))
    return make_capture(arms["on"]), make_capture(arms["off"])


def test_no_verdict_rests_on_a_secretly_warm_arm() -> None:
    """Every pair is set aside, with a serious caveat; the honest arms have their verdict."""
    secret = compare(*sweep(warm=True))
    caveat = next(one for one in secret.caveats if one.code == "untold-hits")
    assert caveat.severity == "serious"
    assert {row.verdict for row in secret.changes} <= {"undecided", None}
    honest = compare(*sweep(warm=False))
    assert all(one.code != "untold-hits" for one in honest.caveats)
    assert next(row for row in honest.changes if row.metric == "ttft_p50").verdict == "better"


def test_one_slow_start_in_a_sparse_open_loop_accuses_nobody() -> None:
    """A second between requests says nothing of the speed: each prompt by itself shows what the arm can do."""

    def sparse(mode: Mode, first_s: float) -> Summed:
        prompts = [prompt_ids(i, i, shared=SHARED, question=QUESTION) for i in range(N)]
        requests = [
            make_request(i, send_s=float(i), ttft_s=0.05 if i else first_s, prompt_tokens=LENGTH, cached=None)
            for i in range(N)
        ]
        return Summed(make_run(requests, prompts=prompts, mode=mode))

    assert untold_hits(sparse("on", 0.05), sparse("off", 0.4)) is None
