"""Prompts that have nothing in common: the case that loses.

One-off work, such as classifying documents. A cache should find nothing, so what it costs to look, insert
and evict is all that is left to see. A prompt is as long as the shared-prefix workload's of the same sizes,
so that the two can be laid side by side.
"""

from __future__ import annotations

from dataclasses import replace

from radixbench.workloads.conversation import Workload
from radixbench.workloads.multi_turn import multi_turn
from radixbench.workloads.sizes import Sizes
from radixbench.workloads.tokens import TokenSource

KIND = "unique"


def unique(sizes: Sizes, seed: int, tokens: TokenSource) -> Workload:
    """Prompts of ``shared`` + ``question_len`` tokens, of which none are shared."""
    alone = replace(sizes, shared=0, question_len=sizes.shared + sizes.question_len)
    return multi_turn(alone, seed, tokens, kind=KIND)
