"""What an unlimited cache would have reused for these exact prompts, sent in this order.

The capture's prompt tree says which token runs are shared; a run of tokens is in the cache from the
moment a request that holds it has been prefilled. Where requests are in flight together nobody
outside the server knows who was first, so the answer is a range:

    low   a prompt helps only requests sent after its first token arrived, an answer (minus its last
          token, whose KV is never computed) only those sent after the response ended
    high  everything sent earlier helps: as if requests ran one after the other in sending order

A match covers at most the prompt minus its last token, in whole pages. Walking stops at the first
run already in the cache, so the cost grows with the nodes, not with pairs of requests.
"""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.capture.model import PromptTree, Run
from radixbench.errors import CaptureError


@dataclass(frozen=True, slots=True)
class Reuse:
    """Tokens one request could have found cached: surely, and at most."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class _Write:
    """From ``at_ns`` on, the path to ``node`` but for its last ``but_last`` tokens is cached."""

    at_ns: int
    node: int
    but_last: int


def expected_reuse(run: Run, page_size: int) -> dict[int, Reuse]:
    """By prompt number, for every request of the run that was sent."""
    depths = _depths(run.prompts)
    low = _pessimistic(run, depths, page_size)
    high = _optimistic(run, depths, page_size)
    return {prompt: Reuse(low=low[prompt], high=high[prompt]) for prompt in low}


class _Cached:
    """How many tokens of each node's run are in the cache; ancestors of a cached token always are."""

    def __init__(self, tree: PromptTree, depths: list[int]) -> None:
        self._nodes = tree.nodes
        self._depths = depths
        self._held = [0] * len(tree.nodes)

    def match(self, node: int) -> int:
        """Tokens from the root that the path to ``node`` finds cached."""
        at: int | None = node
        while at is not None:
            if self._held[at] > 0:
                return self._depths[at] - self._nodes[at].len + self._held[at]
            at = self._nodes[at].parent
        return 0

    def write(self, node: int, but_last: int) -> None:
        """Cache the path to ``node`` except its last ``but_last`` tokens."""
        at: int | None = node
        while at is not None:
            kept = self._nodes[at].len - but_last
            if kept > 0:
                if self._held[at] >= kept:
                    return
                self._held[at] = kept
            but_last = max(0, -kept)
            at = self._nodes[at].parent


def _depths(tree: PromptTree) -> list[int]:
    depths: list[int] = []
    for index, node in enumerate(tree.nodes):
        if node.parent is not None and not 0 <= node.parent < index:
            raise CaptureError(f"prompt tree: node {index} stands before its parent {node.parent}")
        depths.append(node.len + (0 if node.parent is None else depths[node.parent]))
    return depths


def _usable(match: int, prompt_len: int, page_size: int) -> int:
    return max(0, min(match, prompt_len - 1)) // page_size * page_size


def _ends(run: Run, prompt: int) -> tuple[int | None, int | None]:
    """The nodes at which a request's prompt, and its prompt with the answer, end."""
    tree = run.prompts
    at = tree.prompts[prompt] if prompt < len(tree.prompts) else None
    return at, tree.sequences[prompt] if prompt < len(tree.sequences) else None


def _pessimistic(run: Run, depths: list[int], page_size: int) -> dict[int, int]:
    writes: list[_Write] = []
    for request in run.requests:
        prompt, sequence = _ends(run, request.prompt)
        if request.status != "completed" or request.first_token_ns is None:
            continue
        if prompt is not None:
            writes.append(_Write(request.first_token_ns, prompt, 0))
        if sequence is not None:
            writes.append(_Write(request.end_ns, sequence, 1))
    writes.sort(key=lambda write: write.at_ns)
    cached, done, found = _Cached(run.prompts, depths), 0, {}
    for request in sorted(run.requests, key=lambda one: one.send_ns):
        while done < len(writes) and writes[done].at_ns <= request.send_ns:
            cached.write(writes[done].node, writes[done].but_last)
            done += 1
        prompt, _ = _ends(run, request.prompt)
        found[request.prompt] = (
            0 if prompt is None else _usable(cached.match(prompt), depths[prompt], page_size)
        )
    return found


def _optimistic(run: Run, depths: list[int], page_size: int) -> dict[int, int]:
    cached, found = _Cached(run.prompts, depths), {}
    for request in sorted(run.requests, key=lambda one: one.send_ns):
        prompt, sequence = _ends(run, request.prompt)
        if prompt is None:
            found[request.prompt] = _usable(request.sent_prompt_tokens, request.sent_prompt_tokens, page_size)
            continue
        found[request.prompt] = _usable(cached.match(prompt), depths[prompt], page_size)
        cached.write(prompt, 0)
        if sequence is not None:
            cached.write(sequence, 1)
    return found
