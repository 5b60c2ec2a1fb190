"""From a workload's name and sizes to the workload."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from radixbench.errors import UsageError
from radixbench.workloads import agent, few_shot, multi_turn, rag, sampling, shared_prefix, tree, unique
from radixbench.workloads.conversation import Workload
from radixbench.workloads.sizes import Sizes
from radixbench.workloads.tokens import TokenSource

__all__ = ["KINDS", "Sizes", "build", "families"]

_Generator = Callable[[Sizes, int, TokenSource], Workload]

_WITH_TURNS = frozenset({multi_turn.KIND, agent.KIND})

_GENERATORS: Mapping[str, _Generator] = MappingProxyType(
    {
        shared_prefix.KIND: shared_prefix.shared_prefix,
        multi_turn.KIND: multi_turn.multi_turn,
        few_shot.KIND: few_shot.few_shot,
        sampling.KIND: sampling.sampling,
        rag.KIND: rag.rag,
        agent.KIND: agent.agent,
        tree.KIND: tree.tree,
        unique.KIND: unique.unique,
    }
)

KINDS = tuple(_GENERATORS)
"""Every kind that is made up; those read from files are made by ``chats`` and ``replay``."""


def build(kind: str, sizes: Sizes, *, seed: int, tokens: TokenSource) -> Workload:
    """The workload ``kind`` for one cell and seed.

    ``tokens`` must be made for at least ``families(kind, sizes)`` families. Raises ``UsageError`` for a kind
    nobody knows, turns where there are none, and sizes that are missing or make no workload.
    """
    generator = _generator(kind)
    if kind not in _WITH_TURNS and sizes.turns not in {None, 1}:
        raise UsageError(f"{kind} has no turns, yet {sizes.turns} are asked for", remedy="use multi-turn")
    return generator(sizes, seed, tokens)


def families(kind: str, sizes: Sizes) -> int:
    """How many families of prompts ``kind`` has at most: what ``TokenSource.of`` must be made for.

    All cells of a sweep need the same number: the largest of theirs.
    """
    _generator(kind)
    if kind == rag.KIND:
        return max(sizes.total, sizes.groups * sizes.needed("documents"))
    return sizes.total


def _generator(kind: str) -> _Generator:
    try:
        return _GENERATORS[kind]
    except KeyError:
        raise UsageError(
            f"there is no workload {kind!r}", remedy=f"choose {', '.join(KINDS[:-1])} or {KINDS[-1]}"
        ) from None
