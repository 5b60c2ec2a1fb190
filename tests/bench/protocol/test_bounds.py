"""What a run's own requests could have put into a cache, at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from radixbench.bench.protocol.bounds import excess, reach
from radixbench.capture.model import Run
from radixbench.capture.prompt_tree import build_prompt_tree
from tests.builders import make_request, make_run

SHARED = tuple(range(64))


def prompt(number: int, shared: Sequence[int] = SHARED, own: int = 16) -> tuple[int, ...]:
    """A prompt that begins with ``shared`` tokens."""
    return (*shared, *range(1000 * (number + 1), 1000 * (number + 1) + own))


def run_of(
    cached: Sequence[int | None],
    *,
    gap_s: float = 1.0,
    shared: Sequence[int] = SHARED,
    held: Sequence[Sequence[int]] = (),
) -> Run:
    """Requests of one family, each sent ``gap_s`` after the other and answered within 0.14 s."""
    prompts = [prompt(number, shared) for number in range(len(cached))]
    requests = [
        make_request(number, send_s=gap_s * number, cached=tokens, prompt_tokens=len(prompts[number]))
        for number, tokens in enumerate(cached)
    ]
    run = make_run(requests, prompts=prompts)
    tree = build_prompt_tree(prompts, [request.output_ids for request in requests], held)
    object.__setattr__(run, "prompts", tree)
    return run


def test_an_honest_cold_run_breaks_no_bound() -> None:
    """The first of a family finds nothing, the others what the first left there."""
    over = excess(run_of([0, 64, 64, 64]), 1)
    assert (over.requests, over.tokens, over.worst) == (0, 0, None)


def test_a_single_hit_nobody_can_explain() -> None:
    """The very first request found something: it was there before."""
    over = excess(run_of([64, 64, 64, 64]), 1)
    assert over.requests == 1
    assert over.worst == (0, 64, 0)


def test_in_flight_together_each_may_be_second_but_not_all() -> None:
    """Whoever is first with a server is unknown, so one request alone proves nothing; their sum does."""
    assert excess(run_of([0, 64, 64, 64], gap_s=0.001), 1).tokens == 0
    assert excess(run_of([64, 64, 64, 0], gap_s=0.001), 1).tokens == 0
    over = excess(run_of([64, 64, 64, 64], gap_s=0.001), 1)
    assert (over.requests, over.tokens) == (0, 64)


def test_a_refused_request_explains_no_hit() -> None:
    """What was turned away put nothing there; what failed otherwise may have."""
    run = run_of([0, 64, 64])
    for status, requests in ((429, 1), (502, 0)):
        lost = replace(run.requests[0], status="failed", chunk_ns=(), http_status=status, cached_tokens=None)
        over = excess(replace(run, requests=(lost, *run.requests[1:])), 1)
        assert (over.requests, over.tokens) == (requests, 64 * requests)


def test_a_silent_answer_missed_what_was_held_where_zeros_are_left_out() -> None:
    """Otherwise it is unknown."""
    run = run_of([64, None], held=[SHARED])
    assert reach(run, 0).unknown == 1
    seen = reach(run, 0, omits_zero=True)
    assert (seen.unknown, seen.reached, seen.worst) == (0, 1, (1, 0, 64))


def test_more_than_is_shared_is_too_much() -> None:
    """A request can't find its own tokens: it was sent before, by somebody else."""
    over = excess(run_of([0, 64, 79, 64]), 1)
    assert over.worst == (2, 79, 64)


def test_counts_rounded_up_to_pages_are_let_pass() -> None:
    """Some servers count whole pages, the last of them partly shared."""
    over = excess(run_of([0, 80, 80, 80], shared=range(70)), 16)
    assert (over.requests, over.tokens) == (0, 0)
    assert excess(run_of([0, 81, 80, 80], shared=range(70)), 16).requests == 1


def test_an_impossible_count_is_no_proof() -> None:
    """More cached than prompt tokens is a server's mistake, and says nothing of the cache."""
    assert excess(run_of([500, 64, 64, 64]), 1).requests == 0


def test_a_whole_prompt_rounded_up_to_pages_is_a_hit_all_the_same() -> None:
    """96 cached tokens of a prompt of 80, in pages of 32: it was there before; 97 are nonsense."""
    assert excess(run_of([96, 96, 96, 96]), 32).worst == (0, 96, 0)
    assert excess(run_of([97, 64, 64, 64]), 32).requests == 0


def test_what_was_primed_may_be_found_at_once() -> None:
    """Held tokens are there for the first request too."""
    over = excess(run_of([64, 64, 64, 64], held=[SHARED]), 1)
    assert (over.requests, over.tokens) == (0, 0)


def test_primed_requests_must_find_all_of_it() -> None:
    """Each request is held against what was put there for it, less what this server's pages lose."""
    reached = reach(run_of([64, 64, 48, None], held=[SHARED]), 0)
    assert (reached.asked, reached.reached, reached.unknown, reached.worst) == (4, 2, 1, (2, 48, 64))
    assert reach(run_of([64, 64, 49, 64], held=[SHARED]), 15).reached == 4
    assert reach(run_of([0, 0, 0, 0]), 0).asked == 0


def test_a_repeated_prompt_is_held_to_all_but_its_last_token() -> None:
    """A warm cache holds whole prompts, of which the last token is computed anyhow."""
    run = run_of([79], held=[prompt(0)])
    assert reach(run, 0).reached == 1
