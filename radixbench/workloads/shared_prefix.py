"""Groups of prompts that begin with the same system prompt and end in questions of their own.

The traffic of SGLang's ``generated-shared-prefix`` benchmark (0.5.22), token-exact: ids are made and
sent as ids, so a shared prefix of 4,096 tokens is 4,096 tokens. All prompts are shuffled together. A cache
should find ``shared`` tokens in every prompt but the first of each group. Prompts fall on groups equally or
by Zipf's law, as on an API with few large customers and many small ones.
Within a group the questions differ from their first token on, so that exactly ``shared`` tokens are
shared; with ``shared`` 0 no two prompts share anything.
"""

from __future__ import annotations

from radixbench.workloads.conversation import Workload
from radixbench.workloads.multi_turn import multi_turn
from radixbench.workloads.sizes import Sizes
from radixbench.workloads.tokens import TokenSource

KIND = "shared-prefix"


def shared_prefix(sizes: Sizes, seed: int, tokens: TokenSource) -> Workload:
    """Prompts of ``shared`` + ``question_len`` tokens: conversations of one turn."""
    return multi_turn(sizes, seed, tokens, kind=KIND)
