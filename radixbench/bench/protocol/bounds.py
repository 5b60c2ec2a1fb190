"""What the measured requests of a run could have found cached at most, if nobody else had filled the cache.

Two bounds, neither of which an honest server can break, whatever the order in which it works:

    of one request   the longest run of tokens it shares with any other that was sent before its own first
                     token came, or with what was primed
    of all that      the sum over one family of prompts as if they had run one after the other: each
    share tokens     shared run is computed at least once

Requests that were refused over HTTP put nothing anywhere; what failed otherwise may have been computed.
The first betrays a single hit that nobody in the run can explain, the second a prefix that was there before all.
"""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.capture.model import PromptTree, Run
from radixbench.capture.prompt_tree import depths
from radixbench.records import RequestRecord
from radixbench.units import Tokens


@dataclass(frozen=True, slots=True)
class Excess:
    """More found than could be: by ``requests`` on their own, and ``tokens`` too many in all families together.

    ``worst`` is the request furthest above its bound, with what it found and could have found.
    """

    requests: int
    tokens: Tokens
    worst: tuple[int, Tokens, Tokens] | None


def excess(run: Run, page_size: Tokens) -> Excess:
    """What the answered requests of ``run`` found beyond both bounds; a count above the prompt's own pages is ignored."""
    found = {record.prompt: record for record in run.requests if believable(record, page_size)}
    single = _single_bounds(run)
    over: list[tuple[Tokens, int, Tokens, Tokens]] = []
    rounds_up = False
    for prompt, record in found.items():
        tokens, bound = record.cached_tokens or 0, single.get(prompt)
        if bound is None or tokens <= bound:
            continue
        if tokens <= _whole(bound, page_size):
            rounds_up = True
        else:
            over.append((tokens - bound, prompt, tokens, bound))
    worst = max(over)[1:] if over else None
    return Excess(len(over), _family_excess(run, found, page_size, rounds_up=rounds_up), worst)


def believable(record: RequestRecord, page_size: Tokens) -> bool:
    """Whether an answer tells of no more cached tokens than its prompt has, rounded up to pages."""
    if record.status != "completed" or record.cached_tokens is None:
        return False
    return record.cached_tokens <= _whole(record.prompt_tokens or record.sent_prompt_tokens, page_size)


def _whole(tokens: Tokens, page_size: Tokens) -> Tokens:
    """Rounded up to pages, as some servers count."""
    return -(-tokens // page_size) * page_size


def _end(tree: PromptTree, prompt: int) -> int | None:
    """The node at which a request's prompt, with its answer where that is known, ends."""
    sequence = tree.sequences[prompt]
    return tree.prompts[prompt] if sequence is None else sequence


class _Writers:
    """How many sequences pass through each node; two are as good as many."""

    def __init__(self, tree: PromptTree, held: int) -> None:
        self._tree = tree
        self._count = [0] * len(tree.nodes)
        for node in tree.held:
            self.write(node, held)

    def write(self, node: int | None, weight: int = 1) -> None:
        """One more sequence ends at ``node``."""
        while node is not None and self._count[node] < 2:
            self._count[node] = min(self._count[node] + weight, 2)
            node = self._tree.nodes[node].parent

    def deepest(self, node: int | None, least: int) -> int | None:
        """The last node on the way to ``node`` through which ``least`` sequences pass."""
        while node is not None and self._count[node] < least:
            node = self._tree.nodes[node].parent
        return node


def _single_bounds(run: Run) -> dict[int, Tokens]:
    """By prompt number; a request's own sequence is one of the two that must pass."""
    tree, deep = run.prompts, depths(run.prompts)
    writers, bounds = _Writers(tree, held=2), {}
    moments = []
    for record in run.requests:
        if tree.prompts[record.prompt] is not None and not record.turned_away:
            moments.append((record.send_ns, 0, record.prompt))
            moments.append((record.first_token_ns or record.end_ns, 1, record.prompt))
    for _, is_answer, prompt in sorted(moments):
        node = tree.prompts[prompt]
        assert node is not None
        if is_answer:
            shared = writers.deepest(node, 2)
            bounds[prompt] = min(0 if shared is None else deep[shared], deep[node] - 1)
        else:
            writers.write(_end(tree, prompt))
    return bounds


def _family_excess(
    run: Run, found: dict[int, RequestRecord], page_size: Tokens, *, rounds_up: bool
) -> Tokens:
    """Tokens found beyond each family's sum, over the families that break theirs."""
    tree, deep, top = run.prompts, depths(run.prompts), _tops(run.prompts)
    writers, loose = _Writers(tree, held=1), _passed_by_others(run)
    spare: dict[int, Tokens] = {}
    for record in sorted(run.requests, key=lambda one: one.send_ns):
        node = tree.prompts[record.prompt]
        if node is None or record.turned_away:
            continue
        shared = writers.deepest(node, 1)
        bound = min(0 if shared is None else deep[shared], deep[node] - 1)
        bound = _whole(bound, page_size) if rounds_up else bound // page_size * page_size
        writers.write(_end(tree, record.prompt))
        if record.prompt in found:
            bound += page_size if node in loose else 0
            spare[top[node]] = spare.get(top[node], 0) + bound - (found[record.prompt].cached_tokens or 0)
    return -sum(tokens for tokens in spare.values() if tokens < 0)


def _tops(tree: PromptTree) -> list[int]:
    """For each node the root's child above it."""
    tops: list[int] = []
    for index, node in enumerate(tree.nodes):
        tops.append(index if node.parent is None else tops[node.parent])
    return tops


def _passed_by_others(run: Run) -> set[int]:
    """Nodes through which prompts of several conversations pass.

    A prompt that ends there finds a page less when it comes last than when it comes first, and their order is
    the server's.
    """
    tree = run.prompts
    owner: dict[int, int] = {}
    several: set[int] = set()
    for record in run.requests:
        node = tree.prompts[record.prompt]
        while node is not None and node not in several:
            before = owner.setdefault(node, -1)
            if before == record.conversation:
                break
            if before == -1:
                owner[node] = record.conversation
            else:
                several.add(node)
            node = tree.nodes[node].parent
    return several


@dataclass(frozen=True, slots=True)
class Reach:
    """How many of ``asked`` answered requests found all that was put in beforehand for them.

    ``unknown`` ones don't say. ``worst`` is the request furthest below: its number, what it found and should have.
    """

    asked: int
    reached: int
    unknown: int
    worst: tuple[int, Tokens, Tokens] | None


def reach(run: Run, slack: Tokens, *, omits_zero: bool = False) -> Reach:
    """Measured hits against what the run's tree says was held; ``slack`` tokens may be missed by each.

    A server that ``omits_zero`` says 0 by counts without cached tokens.
    """
    tree, deep = run.prompts, depths(run.prompts)
    held = _Writers(tree, held=1)
    asked = reached = unknown = 0
    below: list[tuple[Tokens, int, Tokens, Tokens]] = []
    for record in run.requests:
        node = tree.prompts[record.prompt]
        inside = held.deepest(node, 1)
        if record.status != "completed" or node is None or inside is None:
            continue
        asked += 1
        wanted = min(deep[inside], deep[node] - 1)
        found = record.cached_tokens
        if found is None and omits_zero and record.prompt_tokens is not None:
            found = 0
        if found is None:
            unknown += 1
        elif found >= wanted - slack:
            reached += 1
        else:
            below.append((wanted - found, record.prompt, found, wanted))
    return Reach(asked, reached, unknown, max(below)[1:] if below else None)
