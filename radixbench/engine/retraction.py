"""Who has to give way when decoding runs out of slots."""

from __future__ import annotations

from collections.abc import Iterable

from radixbench.engine.request import Req


def retraction_order(running: Iterable[Req]) -> list[Req]:
    """First to go first: fewest outputs, which lose the least work; among equals the longest input."""
    return sorted(running, key=lambda req: (req.output_len, -req.prompt_len))
