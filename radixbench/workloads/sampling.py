"""One prompt answered many times: best-of-n, self-consistency, rollouts of reinforcement learning.

The prompts repeat on purpose, and at a temperature above 0, with a seed for each request, the answers
differ. A cache should find all of a prompt but its last token, which is always computed, in every request
but a prompt's first.
"""

from __future__ import annotations

from radixbench.workloads.conversation import Workload
from radixbench.workloads.groups import members, quotas
from radixbench.workloads.questions import heads
from radixbench.workloads.script import Talk, script
from radixbench.workloads.sizes import Sizes
from radixbench.workloads.tokens import TokenSource

KIND = "sampling"


def sampling(sizes: Sizes, seed: int, tokens: TokenSource) -> Workload:
    """``groups`` prompts of ``shared`` + ``question_len`` tokens, each asked as often as its group is large."""
    counts = quotas(sizes)
    length = sizes.shared + sizes.question_len
    prompts = [tuple(ids) for ids in heads("prompt", length, seed=seed, sizes=sizes, tokens=tokens)]
    talks = [Talk(group, (prompts[group],)) for group in members(counts)]
    used = [prompt for prompt, count in zip(prompts, counts, strict=True) if count]
    return script(KIND, talks, sizes, seed=seed, tokens=tokens, prefixes=used)
