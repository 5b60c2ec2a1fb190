"""From a workload's name and sizes to the workload."""

from __future__ import annotations

from radixbench.errors import UsageError
from radixbench.workloads import multi_turn, shared_prefix
from radixbench.workloads.conversation import Workload
from radixbench.workloads.tokens import TokenSource


def build(
    kind: str,
    *,
    shared: int,
    turns: int | None,
    groups: int,
    prompts_per_group: int,
    question_len: int,
    output_len: int,
    seed: int,
    tokens: TokenSource,
) -> Workload:
    """The workload ``kind`` (``shared-prefix`` or ``multi-turn``) for one cell and seed.

    ``turns`` of ``None`` means 1 for ``multi-turn``; ``shared-prefix`` has no turns and refuses any other.
    """
    if kind == multi_turn.KIND:
        return multi_turn.multi_turn(
            shared=shared,
            turns=1 if turns is None else turns,
            groups=groups,
            prompts_per_group=prompts_per_group,
            question_len=question_len,
            output_len=output_len,
            seed=seed,
            tokens=tokens,
        )
    if kind != shared_prefix.KIND:
        raise UsageError(
            f"there is no workload {kind!r}", remedy=f"choose {shared_prefix.KIND} or {multi_turn.KIND}"
        )
    if turns not in {None, 1}:
        raise UsageError(f"{kind} has no turns, yet {turns} are asked for", remedy="use multi-turn")
    return shared_prefix.shared_prefix(
        shared=shared,
        groups=groups,
        prompts_per_group=prompts_per_group,
        question_len=question_len,
        output_len=output_len,
        seed=seed,
        tokens=tokens,
    )
