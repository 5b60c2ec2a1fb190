"""What types can't say of a capture: indices that exist, lists that belong together.

Whoever reads a capture relies on these and checks none of them again: a node whose parent comes after
it would send a walk to the root in circles. Counts and stamps are whole numbers of 63 bits. Odd values (a time
that runs backwards) are evidence and stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

from radixbench.capture.model import Capture, PromptTree, Run
from radixbench.records import RequestRecord

_LIMIT = 1 << 63
_COUNTS = (
    "requested_tokens",
    "sent_prompt_tokens",
    "prompt_tokens",
    "output_tokens",
    "cached_tokens",
    "due_ns",
    "send_ns",
    "end_ns",
)
_counts = attrgetter(*_COUNTS)


@dataclass(frozen=True, slots=True)
class Flaw:
    """Where a capture contradicts itself (``runs[0].prompts.nodes[3].parent``), and how."""

    where: str
    text: str


def first_flaw(capture: Capture) -> Flaw | None:
    """The first contradiction in a capture whose types are right; ``None`` for a sound one."""
    for name, count in (("planned_runs", capture.planned_runs), ("created_wall_ns", capture.created_wall_ns)):
        if (flaw := _count_flaw(name, count)) is not None:
            return flaw
    for index, run in enumerate(capture.runs):
        for flaw in _run_flaws(run):
            return Flaw(f"runs[{index}].{flaw.where}", flaw.text)
    return None


def _count_flaw(name: str, value: int | None) -> Flaw | None:
    if value is None or 0 <= value < _LIMIT:
        return None
    return Flaw(
        name, "must be between 0 and 2^63" if value >= _LIMIT else f"can't be negative, as {value} is"
    )


def _run_flaws(run: Run) -> Iterator[Flaw]:
    yield from _tree_flaws(run.prompts)
    for name in ("requested", "start_ns", "end_ns", "order", "seed"):
        if (flaw := _count_flaw(name, getattr(run, name))) is not None:
            yield flaw
    seen: set[int] = set()
    for index, request in enumerate(run.requests):
        if request.prompt in seen:
            yield Flaw(f"requests[{index}].prompt", f"{request.prompt} stands there twice")
        seen.add(request.prompt)
        for flaw in _request_flaws(request, len(run.prompts.prompts)):
            yield Flaw(f"requests[{index}].{flaw.where}", flaw.text)


def _tree_flaws(tree: PromptTree) -> Iterator[Flaw]:
    for index, node in enumerate(tree.nodes):
        if node.len < 1:
            yield Flaw(f"prompts.nodes[{index}].len", f"must be at least 1, not {node.len}")
        if node.parent is not None and not 0 <= node.parent < index:
            yield Flaw(f"prompts.nodes[{index}].parent", f"{node.parent} is no earlier node")
    for name, ends in (("prompts", tree.prompts), ("sequences", tree.sequences), ("held", tree.held)):
        for index, end in enumerate(ends):
            if end is not None and not 0 <= end < len(tree.nodes):
                yield Flaw(f"prompts.{name}[{index}]", f"{end} is no node of {len(tree.nodes)}")
    if len(tree.sequences) != len(tree.prompts):
        yield Flaw("prompts.sequences", f"{len(tree.sequences)} entries for {len(tree.prompts)} prompts")


def _request_flaws(request: RequestRecord, prompts: int) -> Iterator[Flaw]:
    told = [count for count in _counts(request) if count is not None]
    if min(told) < 0 or max(told) >= _LIMIT:
        yield from (flaw for name in _COUNTS if (flaw := _count_flaw(name, getattr(request, name))))
    for name, values in (("chunk_ns", request.chunk_ns), ("chunk_tokens", request.chunk_tokens)):
        if values and (flaw := _count_flaw(name, min(values)) or _count_flaw(name, max(values))):
            yield flaw
    if not 0 <= request.prompt < prompts:
        yield Flaw("prompt", f"{request.prompt} is no prompt of {prompts}")
    if len(request.chunk_tokens) != len(request.chunk_ns):
        yield Flaw(
            "chunk_tokens", f"{len(request.chunk_tokens)} entries for {len(request.chunk_ns)} arrival times"
        )
