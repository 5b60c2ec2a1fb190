"""Sharing on several levels: a platform's prompt, a customer's, a project's, then questions.

Each group is a tree of ``depth`` levels: its root is common to all, every node has ``fanout`` children in the
next level, and questions hang on the leaves. The ``shared`` tokens of a prompt are spread evenly over the levels. A
cache that keeps whole prompts only would see few repeats; a tree should find, in each prompt, as many levels as
any earlier one had in common with it.

    level 1 ─┬─ level 2 ─┬─ level 3 ── questions
             │           └─ level 3 ── questions
             └─ level 2 ─── …                          depth 3, fanout 2: 4 leaves
"""

from __future__ import annotations

from radixbench.workloads.conversation import Workload
from radixbench.workloads.groups import members, quotas
from radixbench.workloads.questions import questions
from radixbench.workloads.script import Talk, script
from radixbench.workloads.sizes import Sizes
from radixbench.workloads.tokens import TokenSource

KIND = "tree"

_Leaf = tuple[int, int]


def tree(sizes: Sizes, seed: int, tokens: TokenSource) -> Workload:
    """Prompts of ``shared`` + ``question_len`` tokens, spread evenly over the leaves and shuffled.

    Where a group has fewer prompts than leaves, the leaves in use are spread evenly over the tree.
    """
    counts = quotas(sizes)
    leaves = sizes.needed("fanout") ** (sizes.needed("depth") - 1)
    homes = [(group, k * leaves // count) for group, count in enumerate(counts) for k in range(count)]
    paths = _paths(sorted(set(homes)), sizes, seed, tokens)
    asked = questions(counts, sizes, seed=seed, tokens=tokens)
    talks = []
    for place, (group, question) in enumerate(zip(members(counts), asked, strict=True)):
        prompt = [*paths[homes[place]], *question]
        if not sizes.shared:
            prompt = tokens.opened(prompt, place, seed)
        talks.append(Talk(group, (tuple(prompt),)))
    prefixes = dict.fromkeys(path for path in paths.values() if path)
    return script(KIND, talks, sizes, seed=seed, tokens=tokens, prefixes=list(prefixes))


def _paths(leaves: list[_Leaf], sizes: Sizes, seed: int, tokens: TokenSource) -> dict[_Leaf, tuple[int, ...]]:
    """The tokens from the root to each of ``leaves``, which are (group, number of the leaf)."""
    depth, fanout = sizes.needed("depth"), sizes.needed("fanout")
    even, rest = divmod(sizes.shared, depth)
    paths: dict[_Leaf, tuple[int, ...]] = dict.fromkeys(leaves, ())
    for level in range(1, depth + 1):
        below = fanout ** (depth - level)
        nodes = list(dict.fromkeys((group, leaf // below) for group, leaf in leaves))
        length = even + (level <= rest)
        if not length:
            break
        drawn = tokens.draw(f"level/{level}", seed, len(nodes), length)
        firsts = tokens.distinct(f"level/{level}", seed, len(nodes))
        for ids, first, (group, _) in zip(drawn, firsts, nodes, strict=True):
            ids[:] = tokens.opened(ids, group, seed) if level == 1 else [first, *ids[1:]]
        run = dict(zip(nodes, drawn, strict=True))
        paths = {(g, leaf): path + tuple(run[g, leaf // below]) for (g, leaf), path in paths.items()}
    return paths
