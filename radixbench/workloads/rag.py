"""Retrieval: a system prompt, tool definitions, documents found in a store, and the question.

System prompt (``shared``) and tools (``tools_len``) open every prompt of the run. Then come
``documents_per_prompt`` of the group's ``documents``, in the order of the store or scrambled, as they come
out of a ranking. A cache should find the head in every prompt, and documents only as far as they stand in the
same order as in an earlier prompt: the same documents scrambled are new tokens from the first that moved.
Both orders take the same documents, so their difference is what sorting them is worth.

    system · tools ─┬─ doc 1 ─┬─ doc 2 ── question
                    │         └─ doc 4 ── question
                    └─ doc 2 ─── doc 1 ── question
"""

from __future__ import annotations

from radixbench.errors import UsageError
from radixbench.workloads.conversation import Workload
from radixbench.workloads.groups import members, quotas
from radixbench.workloads.questions import questions
from radixbench.workloads.script import Talk, script
from radixbench.workloads.sizes import Sizes
from radixbench.workloads.tokens import TokenSource, begin

KIND = "rag"


def rag(sizes: Sizes, seed: int, tokens: TokenSource) -> Workload:
    """Prompts of head, documents and question, shuffled; the head is what priming can put into a cache."""
    head = _head(sizes, seed, tokens)
    store = _Store(sizes, seed, tokens, opens=not head)
    counts = quotas(sizes)
    asked = questions(counts, sizes, seed=seed, tokens=tokens)
    talks = []
    for place, (group, question) in enumerate(zip(members(counts), asked, strict=True)):
        context = [
            token for number in _found(place, sizes, seed, tokens) for token in store.take(group, number)
        ]
        talks.append(Talk(group, ((*head, *context, *question),)))
    return script(KIND, talks, sizes, seed=seed, tokens=tokens, prefixes=[head] if head else [])


def _head(sizes: Sizes, seed: int, tokens: TokenSource) -> tuple[int, ...]:
    tools_len = 0 if sizes.tools_len is None else sizes.needed("tools_len", least=0)
    if not sizes.shared + tools_len:
        return ()
    (system,) = tokens.draw("system", seed, 1, sizes.shared)
    (tools,) = tokens.draw("tools", seed, 1, tools_len)
    return tuple(tokens.opened(system + tools, 0, seed))


class _Store:
    """The documents of every group, made when they are first taken; most of a large store never is.

    Where they open a prompt they begin like no other of any run, else each unlike all of this one.
    """

    def __init__(self, sizes: Sizes, seed: int, tokens: TokenSource, *, opens: bool) -> None:
        self._each, self._length = sizes.needed("documents"), sizes.needed("document_len")
        self._seed, self._tokens, self._opens = seed, tokens, opens
        self._firsts = tokens.distinct("document", seed, sizes.groups * self._each)
        self._made: dict[int, list[int]] = {}

    def take(self, group: int, number: int) -> list[int]:
        """The ids of the document with that number in the group's store."""
        place = group * self._each + number
        if place not in self._made:
            run = self._tokens.run("document", self._seed, self._length, start=place * self._length)
            ids: list[int] = run.tolist()
            unlike = self._tokens.opening(place, self._seed) if self._opens else [self._firsts[place]]
            self._made[place] = begin(ids, unlike)
        return self._made[place]


def _found(place: int, sizes: Sizes, seed: int, tokens: TokenSource) -> list[int]:
    """The documents of one prompt, by their number in the store."""
    taken, stored = sizes.needed("documents_per_prompt"), sizes.needed("documents")
    if taken > stored:
        raise UsageError(
            f"a prompt can't have {taken} of {stored} documents", remedy="raise documents, or ask for fewer"
        )
    found = tokens.shuffled(f"found/{place}", seed, stored)[:taken]
    return found if sizes.document_order == "scrambled" else sorted(found)
