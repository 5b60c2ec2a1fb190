"""An agent at work: a task, then calls of tools and their results, with a history that only grows.

The traffic of coding agents: a head of system prompt (``shared``) and tool definitions (``tools_len``), a
task, and from the second turn on the result of the tool that the answer before called, ``tool_result_len``
tokens that came from outside. Think time is how long the tool took. A cache should find everything but the
newest result; without one the whole history is computed anew at every step, so the work grows with the square
of the steps.
"""

from __future__ import annotations

from radixbench.workloads.conversation import Workload
from radixbench.workloads.groups import members, quotas
from radixbench.workloads.questions import heads, questions
from radixbench.workloads.script import Talk, script
from radixbench.workloads.sizes import Sizes
from radixbench.workloads.tokens import TokenSource

KIND = "agent"


def agent(sizes: Sizes, seed: int, tokens: TokenSource) -> Workload:
    """Tool loops of ``turns`` requests (one where it is ``None``), shuffled.

    Request k (from 1) is a prompt of head + ``question_len`` + (k - 1) x (``output_len`` +
    ``tool_result_len``) tokens when every answer has the length asked for.
    """
    results = (1 if sizes.turns is None else sizes.needed("turns")) - 1
    tools_len = 0 if sizes.tools_len is None else sizes.needed("tools_len", least=0)
    head_len = sizes.shared + tools_len
    counts = quotas(sizes)
    tops = heads("system", head_len, seed=seed, sizes=sizes, tokens=tokens)
    tasks = questions(counts, sizes, seed=seed, tokens=tokens)
    talks = []
    for place, group in enumerate(members(counts)):
        task = tops[group] + tasks[place] if head_len else tokens.opened(tasks[place], place, seed)
        brought = tokens.draw(f"tool/{place}", seed, results, sizes.needed("tool_result_len"))
        talks.append(Talk(group, tuple(tuple(ids) for ids in (task, *brought))))
    used = [tuple(top) for top, count in zip(tops, counts, strict=True) if count and top]
    return script(KIND, talks, sizes, seed=seed, tokens=tokens, prefixes=used)
