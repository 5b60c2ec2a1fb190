"""Namespaces of a cache: adapters, and salts. What one put there another must never find.

Whoever knows which namespace each request belongs to can tell from cached tokens and token ids alone: a request
that found more than its own namespace had been sent, yet no more than all of them together, found another's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from radixbench.capture.model import Run
from radixbench.findings.model import Finding
from radixbench.findings.words import listed, several
from radixbench.metrics.answers import sort_out
from radixbench.metrics.cache import page_size
from radixbench.metrics.reuse import expected_reuse
from radixbench.units import Tokens


@dataclass(frozen=True, slots=True)
class Crossing:
    """A request that found ``cached`` tokens where its own namespace can explain ``own`` at most."""

    prompt: int
    namespace: str
    cached: Tokens
    own: Tokens


def crossings(run: Run, namespaces: Mapping[int, str]) -> tuple[Crossing, ...]:
    """Requests of ``run`` with hits across namespaces, which are given by prompt number (adapter name, or salt).

    Requests that aren't named there are left out; at a page size above 1 a page of doubt stays.
    """
    page = page_size(run)
    everything = expected_reuse(run, page)
    counted = [request for request in sort_out(run).counted if request.prompt in namespaces]
    found = []
    for name in dict.fromkeys(namespaces.values()):
        members = tuple(one for one in run.requests if namespaces.get(one.prompt) == name)
        alone = expected_reuse(replace(run, requests=members, prompts=replace(run.prompts, held=())), page)
        for request in counted:
            if namespaces[request.prompt] != name or request.cached_tokens is None:
                continue
            own = alone[request.prompt].most
            if own + page - 1 < request.cached_tokens and own < everything[request.prompt].most:
                found.append(Crossing(request.prompt, name, request.cached_tokens, own))
    return tuple(sorted(found, key=lambda one: one.prompt))


def crossing_findings(run: Run, namespaces: Mapping[int, str], noun: str = "adapters") -> Iterator[Finding]:
    """A wrong answer, not a slow one: the cache gave a request what another namespace had computed."""
    found = crossings(run, namespaces)
    if found:
        worst = max(found, key=lambda one: one.cached - one.own)
        yield Finding(
            "crossed-namespaces",
            "serious",
            f"WRONG: cache crossed {noun}: {several(len(found), 'request')} ({listed([one.prompt for one in found])})"
            f" found what others had put there; request {worst.prompt} of {worst.namespace} {worst.cached:,} cached tokens"
            f" of {worst.own:,} possible",
            "their answers are computed from another's states: don't serve several adapters with this cache",
        ).of_run(run)


def salt_findings(run: Run) -> Iterator[Finding]:
    """The one case a run knows by itself: an off arm whose every request has a salt of its own."""
    if run.protocol.off_mode == "salt" and run.mode == "off":
        own = {request.prompt: f"salt {request.prompt}" for request in run.requests}
        if any(request.cached_tokens for request in run.requests):
            yield from crossing_findings(run, own, "salts")
