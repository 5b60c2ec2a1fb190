"""What an unlimited cache would have reused for these exact prompts, sent in this order.

The capture's prompt tree says which token runs are shared; a run of tokens is in the cache from the
moment a request that holds it has been prefilled, or from the beginning where priming put it there. Where
requests are in flight together nobody outside the server knows who was first, so the answer is a range:

    low       a prompt helps only requests sent after its first token arrived, an answer (minus its last
              token, whose KV is never computed) only those sent after the response ended
    high      everything sent earlier helps: as if requests ran one after the other in sending order
    unpaged   the same at page size 1: what whole pages cost is the difference
    most      whatever order the server works in: what was sent before this request's own first token
    sharable  everything any other request of the run holds, or was held beforehand, before or after

A request that was refused over HTTP left nothing anywhere. One that failed without a token otherwise was perhaps
computed: it helps at most, and what only such ones had sent is told apart, as ``doubtful``.
A match covers at most the prompt minus its last token, and ends at the first page that isn't there.
"""

from __future__ import annotations

from typing import NamedTuple

from radixbench.capture.model import PromptTree, Run
from radixbench.metrics.answers import prompt_length
from radixbench.metrics.prefixes import CachedPrefixes, Found, tree_depths
from radixbench.records import RequestRecord
from radixbench.units import Tokens


class Reuse(NamedTuple):
    """Tokens one request could have found cached; low ≤ high ≤ unpaged ≤ most ≤ sharable.

    ``doubtful`` tokens of ``high`` had been sent by none but requests that failed without a token. ``met_at`` is the
    node of the prompt tree in which what others had sent ends, and ``known`` whether the prompt is in the tree
    at all: one that isn't may have been cached from nothing to all but its last token.
    """

    low: Tokens
    high: Tokens
    unpaged: Tokens
    most: Tokens
    sharable: Tokens
    met_at: int | None = None
    known: bool = True
    doubtful: Tokens = 0

    @property
    def raced(self) -> bool:
        """Some of it was sent earlier by a request that was answered, and perhaps not there yet."""
        return self.known and self.low < self.high - self.doubtful

    @property
    def first(self) -> bool:
        """Some of what it shares nobody had sent before, or none but requests that failed."""
        return self.known and (self.unpaged < self.sharable or self.doubtful > 0)


def expected_reuse(run: Run, page_size: Tokens) -> dict[int, Reuse]:
    """By prompt number, for every request of the run that was sent."""
    return _Play(run, page_size).levels()


def prompt_only_reuse(run: Run, page_size: Tokens) -> dict[int, Tokens]:
    """The upper end of the range for a cache that keeps prompts and forgets answers; 0 for unknown prompts."""
    return _Play(run, page_size).without_answers()


def _ends(tree: PromptTree, number: int) -> tuple[int | None, int | None]:
    """The nodes at which a request's prompt, and its prompt with the answer, end."""
    at = tree.prompts[number] if number < len(tree.prompts) else None
    return at, tree.sequences[number] if number < len(tree.sequences) else None


class _Play:
    """A run's requests in sending order, and where their prompts and sequences end in the tree."""

    def __init__(self, run: Run, page_size: Tokens) -> None:
        self._tree = run.prompts
        self._depths = tree_depths(run.prompts)
        self._page = page_size
        self._sent = sorted(run.requests, key=lambda one: one.send_ns)
        self._ends = [_ends(run.prompts, one.prompt) for one in self._sent]

    def levels(self) -> dict[int, Reuse]:
        """All levels of each request."""
        surely = self._surely()
        cached = CachedPrefixes(self._tree, self._depths)
        earlier, answered, meanwhile = self._watch(cached)
        found: dict[int, Reuse] = {}
        for place, request in enumerate(self._sent):
            prompt, _ = self._ends[place]
            if prompt is None:
                found[request.prompt] = self._unknown(request)
                continue
            limit = self._depths[prompt] - 1
            unpaged = min(earlier[place].tokens, limit)
            high = self._whole(unpaged)
            low = min(surely[place], high)
            found[request.prompt] = Reuse(
                low=low,
                high=high,
                unpaged=unpaged,
                most=min(meanwhile[place], limit),
                sharable=min(cached.match(prompt, leaving_out=place).tokens, limit),
                met_at=answered[place].node,
                doubtful=high - max(low, self._whole(min(answered[place].tokens, limit))),
            )
        return found

    def _watch(self, cached: CachedPrefixes) -> tuple[dict[int, Found], dict[int, Found], dict[int, Tokens]]:
        """What each prompt meets when it is sent, the same of answered requests alone, and what it meets of others'
        tokens when its first token comes.

        Everything is written when it is sent; at the end ``cached`` holds all that may have been computed.
        """
        moments: list[tuple[int, int, int]] = []
        for place, request in enumerate(self._sent):
            arrived = request.end_ns if request.first_token_ns is None else request.first_token_ns
            moments += [(request.send_ns, 0, place), (max(arrived, request.send_ns), 1, place)]
        brought = CachedPrefixes(self._tree, self._depths)
        earlier: dict[int, Found] = {}
        answered: dict[int, Found] = {}
        meanwhile: dict[int, Tokens] = {}
        for _, arrived, place in sorted(moments):
            prompt, sequence = self._ends[place]
            if prompt is None:
                continue
            if arrived:
                meanwhile[place] = cached.match(prompt, leaving_out=place).tokens
                continue
            earlier[place], answered[place] = cached.match(prompt), brought.match(prompt)
            for cache in self._reached(place, cached, brought):
                cache.write(prompt, place)
                if sequence is not None:
                    cache.write(sequence, place, but_last=1)
        return earlier, answered, meanwhile

    def _reached(self, place: int, cached: CachedPrefixes, brought: CachedPrefixes) -> list[CachedPrefixes]:
        """Which of the two a request's tokens belong to."""
        request = self._sent[place]
        if request.turned_away:
            return []
        lost = request.status != "completed" and request.first_token_ns is None
        return [cached] if lost else [cached, brought]

    def _surely(self) -> dict[int, Tokens]:
        """The low end by place, for prompts that are in the tree."""
        writes: list[tuple[int, int, int, int]] = []
        for place, request in enumerate(self._sent):
            prompt, sequence = self._ends[place]
            if request.status != "completed" or request.first_token_ns is None:
                continue
            if prompt is not None:
                writes.append((request.first_token_ns, place, prompt, 0))
            if sequence is not None:
                writes.append((request.end_ns, place, sequence, 1))
        writes.sort()
        cached, done = CachedPrefixes(self._tree, self._depths), 0
        found: dict[int, Tokens] = {}
        for place, request in enumerate(self._sent):
            while done < len(writes) and writes[done][0] <= request.send_ns:
                _, writer, node, but_last = writes[done]
                cached.write(node, writer, but_last)
                done += 1
            prompt, _ = self._ends[place]
            if prompt is not None:
                tokens = cached.match(prompt, leaving_out=place).tokens
                found[place] = self._whole(min(tokens, self._depths[prompt] - 1))
        return found

    def without_answers(self) -> dict[int, Tokens]:
        """The high end where only prompts are kept."""
        cached = CachedPrefixes(self._tree, self._depths)
        found: dict[int, Tokens] = {}
        for place, request in enumerate(self._sent):
            prompt, _ = self._ends[place]
            if prompt is None:
                found[request.prompt] = 0
                continue
            found[request.prompt] = self._whole(min(cached.match(prompt).tokens, self._depths[prompt] - 1))
            if not request.turned_away:
                cached.write(prompt, 0)
        return found

    def _whole(self, tokens: Tokens) -> Tokens:
        return max(0, tokens) // self._page * self._page

    def _unknown(self, request: RequestRecord) -> Reuse:
        most = max(0, prompt_length(request) - 1)
        return Reuse(0, self._whole(most), most, most, most, known=False)
