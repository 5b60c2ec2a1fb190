"""Prompts that are sent around a measurement without touching what it measures.

They share no page with a measured prompt, nor with one another: warming a server up must not put a
measured prefix into its cache. The probe proves a flush: sent before it and again after it, the second
time must find nothing. Some caches find a repeated prompt and never one that goes on, so the probe has
an extension too.
"""

from __future__ import annotations

from radixbench.errors import UsageError
from radixbench.workloads.conversation import Conversation, Turn, Workload
from radixbench.workloads.tokens import RESERVE, TokenSource, begin

KIND = "warm-up"
_PROBE = RESERVE - 1


def warmup(*, count: int, prompt_len: int, output_len: int, seed: int, tokens: TokenSource) -> Workload:
    """``count`` prompts of ``prompt_len`` tokens, at most ``RESERVE`` - 1 of them."""
    if not 0 <= count <= _PROBE or prompt_len < 1 or output_len < 1:
        raise UsageError(
            f"a warm-up of {count} prompts with {prompt_len} tokens and {output_len} of output is none",
            remedy=f"at most {_PROBE} prompts, lengths of 1 or more",
        )
    drawn = tokens.draw("warm-up", seed, count, prompt_len)
    return Workload(
        kind=KIND,
        conversations=tuple(
            Conversation(
                index=place,
                group=place,
                turns=(
                    Turn(
                        prompt=place,
                        user_ids=tuple(begin(ids, tokens.reserved_opening(place, seed))),
                        output_len=output_len,
                    ),
                ),
            )
            for place, ids in enumerate(drawn)
        ),
    )


def probe(*, prompt_len: int, seed: int, tokens: TokenSource) -> tuple[int, ...]:
    """The ids of one prompt that no workload of any cell or seed begins like."""
    if prompt_len < 1:
        raise UsageError(f"a probe of {prompt_len} tokens is none", remedy="give 1 or more")
    (ids,) = tokens.draw("probe", seed, 1, prompt_len)
    return tuple(begin(ids, tokens.reserved_opening(_PROBE, seed)))


def probe_extension(*, prompt_len: int, more: int, seed: int, tokens: TokenSource) -> tuple[int, ...]:
    """The probe of ``prompt_len`` tokens and ``more`` after it: what a next turn is to a cache."""
    if more < 1:
        raise UsageError(f"an extension by {more} tokens is none", remedy="give 1 or more")
    (ids,) = tokens.draw("probe extension", seed, 1, more)
    return (*probe(prompt_len=prompt_len, seed=seed, tokens=tokens), *ids)
