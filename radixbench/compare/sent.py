"""The prompts as they were sent: equal scripts can still come to other tokens.

A script's digest covers every token and message of the workload. What servers answered belongs to the prompts of
later turns with a live history, so there the arms may part; anywhere else the sent tokens must be the script's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from radixbench.capture.model import PromptTree, Run
from radixbench.capture.prompt_tree import depths
from radixbench.units import Tokens

_GROWING = frozenset({"live", "retokenized"})


@dataclass(slots=True)
class Parted:
    """Prompts that surely hold other tokens on either side: those that may, later turns with their answers, and others."""

    compared: int = 0
    later: int = 0
    others: int = 0


def parted(a: Run, b: Run, history: str) -> Parted:
    """The prompts that both runs of a pair sent, by their content hashes."""
    turns = {request.prompt: request.turn for request in a.requests}
    common = turns.keys() & {request.prompt for request in b.requests}
    trees = _Trees(a.prompts, b.prompts)
    found = Parted()
    for prompt in sorted(common):
        differs = trees.differ(prompt)
        if differs is None:
            continue
        found.compared += 1
        if differs and turns[prompt] > 0 and history in _GROWING:
            found.later += 1
        elif differs:
            found.others += 1
    return found


@dataclass(slots=True)
class _Trees:
    """Two runs' trees, and for every node where its path ends, in tokens. Parents stand before their children."""

    a: PromptTree
    b: PromptTree
    ends: tuple[tuple[Tokens, ...], tuple[Tokens, ...]] = field(init=False)
    known: dict[tuple[int | None, int | None], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ends = depths(self.a), depths(self.b)

    def differ(self, prompt: int) -> bool | None:
        """Whether a prompt's tokens surely differ; ``None`` where one side has no such prompt.

        Hashes cover the tokens of one node. Trees are split where prompts part, so that some nodes of equal prompts
        may not be the same stretch: those prove nothing.
        """
        if not (prompt < len(self.a.prompts) and prompt < len(self.b.prompts)):
            return None
        x, y = self.a.prompts[prompt], self.b.prompts[prompt]
        if x is None or y is None:
            return None
        if self.ends[0][x] != self.ends[1][y]:
            return True
        return self._walk(x, y)

    def _walk(self, x: int | None, y: int | None) -> bool:
        """From the ends of two paths to their roots, stretch by stretch."""
        passed: list[tuple[int | None, int | None]] = []
        differs = False
        while x is not None and y is not None:
            if (x, y) in self.known:
                differs = self.known[x, y]
                break
            passed.append((x, y))
            one, other = self.a.nodes[x], self.b.nodes[y]
            starts = self.ends[0][x] - one.len, self.ends[1][y] - other.len
            aligned = starts[0] == starts[1] and one.len == other.len
            if aligned and one.sha256 != other.sha256:
                differs = True
                break
            x, y = (
                one.parent if starts[0] >= starts[1] else x,
                other.parent if starts[1] >= starts[0] else y,
            )
        self.known.update(dict.fromkeys(passed, differs))
        return differs
