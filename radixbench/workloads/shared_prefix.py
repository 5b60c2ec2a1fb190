"""Groups of prompts that begin with the same system prompt and end in questions of their own.

The traffic of SGLang's ``generated-shared-prefix`` benchmark (0.5.22), token-exact: ids are made and
sent as ids, so a shared prefix of 4,096 tokens is 4,096 tokens. All prompts are shuffled together.
Within a group the questions differ from their first token on, so that exactly ``shared`` tokens are
shared; with ``shared`` 0 no two prompts share anything.
"""

from __future__ import annotations

from dataclasses import replace

from radixbench.workloads.conversation import Workload
from radixbench.workloads.multi_turn import multi_turn
from radixbench.workloads.tokens import TokenSource

KIND = "shared-prefix"


def shared_prefix(
    *,
    shared: int,
    groups: int,
    prompts_per_group: int,
    question_len: int,
    output_len: int,
    seed: int,
    tokens: TokenSource,
) -> Workload:
    """``groups`` x ``prompts_per_group`` prompts of ``shared`` + ``question_len`` tokens.

    A prompt is a conversation of one turn.
    """
    chat = multi_turn(
        shared=shared,
        turns=1,
        groups=groups,
        prompts_per_group=prompts_per_group,
        question_len=question_len,
        output_len=output_len,
        seed=seed,
        tokens=tokens,
    )
    return replace(chat, kind=KIND)
