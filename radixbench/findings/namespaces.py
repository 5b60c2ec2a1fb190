"""Namespaces of a cache: adapters, and salts. What one put there another must never find.

Whoever knows which namespace each request belongs to can tell from cached tokens and token ids alone: a request
that found more than its own namespace had been sent, yet no more than all of them together, may have found another's.
It is said to have only where it found exactly what it shares with another's prompt, as they all did that found too
much, and where no request found what nobody in this run had sent: a server that counts too much, or
that held prompts from before, looks alike otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from radixbench.capture.model import Run
from radixbench.findings.model import Finding
from radixbench.findings.words import listed, several
from radixbench.metrics.answers import sort_out
from radixbench.metrics.cache import page_size
from radixbench.metrics.prefixes import tree_depths
from radixbench.metrics.reuse import expected_reuse
from radixbench.records import RequestRecord
from radixbench.units import Tokens


@dataclass(frozen=True, slots=True)
class Crossing:
    """A request that found ``cached`` tokens where its own namespace can explain ``own`` at most.

    ``shared``: it found, but for a page, exactly what it has in common with some prompt or answer of this run.
    """

    prompt: int
    namespace: str
    cached: Tokens
    own: Tokens
    shared: bool = True


def crossings(run: Run, namespaces: Mapping[int, str]) -> tuple[Crossing, ...]:
    """Requests of ``run`` with hits across namespaces, which are given by prompt number (adapter name, or salt).

    Requests that aren't named there are left out; at a page size above 1 a page of doubt stays.
    """
    page = page_size(run)
    everything, parts = expected_reuse(run, page), _Parts(run, page)
    counted = {request.prompt for request in sort_out(run).counted}
    found = []
    for name, members in _members(run, namespaces).items():
        alone = _alone(run, members, page)
        for request in members:
            if request.prompt not in counted or request.cached_tokens is None:
                continue
            own, most = alone[request.prompt], everything[request.prompt].most
            if everything[request.prompt].known and own + page - 1 < request.cached_tokens and own < most:
                shared = parts.are(request.prompt, request.cached_tokens, most)
                found.append(Crossing(request.prompt, name, request.cached_tokens, own, shared))
    return tuple(sorted(found, key=lambda one: one.prompt))


def _members(run: Run, namespaces: Mapping[int, str]) -> dict[str, list[RequestRecord]]:
    members: dict[str, list[RequestRecord]] = {}
    for request in run.requests:
        if request.prompt in namespaces:
            members.setdefault(namespaces[request.prompt], []).append(request)
    return members


def _alone(run: Run, members: Sequence[RequestRecord], page: Tokens) -> dict[int, Tokens]:
    """The most that each of a namespace's requests could have found if there were no other namespace."""
    if len(members) == 1:
        return {members[0].prompt: 0}
    apart = replace(run, requests=tuple(members), prompts=replace(run.prompts, held=()))
    return {prompt: one.most for prompt, one in expected_reuse(apart, page).items()}


def crossing_findings(run: Run, namespaces: Mapping[int, str], noun: str = "adapters") -> Iterator[Finding]:
    """A wrong answer, not a slow one: the cache gave a request what another namespace had computed."""
    found = crossings(run, namespaces)
    if not found:
        return
    worst = max(found, key=lambda one: one.cached - one.own)
    what = (
        f"{several(len(found), 'request')} ({listed([one.prompt for one in found])})",
        f"request {worst.prompt} of {worst.namespace} {worst.cached:,} cached tokens of {worst.own:,} possible",
    )
    beyond = _beyond_the_run(run, namespaces)
    if all(one.shared for one in found) and not beyond:
        yield Finding(
            "crossed-namespaces",
            "serious",
            f"WRONG: cache crossed {noun}: {what[0]} found what others had put there; {what[1]}",
            "their answers are computed from another's states: don't serve several adapters with this cache",
        ).of_run(run)
    else:
        yield Finding(
            "hits-beyond-namespace",
            "serious",
            f"{what[0]} found more than their own {noun} explain, {what[1]}; {_other_cause(beyond)}: the server counts too much,"
            " or held something from before",
            "compare with the server's own counters, and measure a server that was just started",
        ).of_run(run)


def salt_findings(run: Run) -> Iterator[Finding]:
    """The one case a run knows by itself: an off arm whose every request has a salt of its own."""
    if run.protocol.off_mode == "salt" and run.mode == "off":
        own = {request.prompt: f"salt {request.prompt}" for request in run.requests}
        if any(request.cached_tokens for request in run.requests):
            yield from crossing_findings(run, own, "salts")


def _other_cause(beyond: int) -> str:
    """Why it isn't said that they found one another's."""
    if beyond:
        return f"{several(beyond, 'request')} found what nobody in this run had sent"
    return "it isn't what they share with others' prompts of this run"


def _beyond_the_run(run: Run, namespaces: Mapping[int, str]) -> int:
    """How many requests found what not even all namespaces together explain."""
    page = page_size(run)
    reuse = expected_reuse(run, page)
    return sum(
        (one.cached_tokens or 0) >= reuse[one.prompt].most + page
        for one in sort_out(run).completed
        if one.prompt in namespaces
    )


class _Parts:
    """Where a prompt and others of the run part, by its tokens."""

    def __init__(self, run: Run, page: Tokens) -> None:
        self._tree = run.prompts
        self._depths: Sequence[Tokens] = tree_depths(run.prompts)
        self._page = page

    def are(self, prompt: int, tokens: Tokens, most: Tokens) -> bool:
        """Whether ``tokens`` end, but for a page, where others part from this prompt, ``most`` being the last such place."""
        places = [most]
        node = self._tree.prompts[prompt]
        while node is not None:
            places.append(min(self._depths[node], most))
            node = self._tree.nodes[node].parent
        return any(abs(place - tokens) < self._page for place in places)
