"""How large one cell's workload is: numbers that are already decided, whoever decided them.

Every kind reads the fields it has a use for and refuses one it needs that is missing. Lengths are tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from radixbench.errors import UsageError
from radixbench.units import Tokens

History: TypeAlias = Literal["live", "recorded", "retokenized"]
"""What later turns repeat of earlier answers: the server's own ids, answers made up or recorded beforehand,
or the server's text encoded anew."""

Distribution: TypeAlias = Literal["uniform", "zipf"]
DocumentOrder: TypeAlias = Literal["ordered", "scrambled"]


@dataclass(frozen=True, slots=True)
class Sizes:
    """One cell: ``groups`` x ``prompts_per_group`` prompts or conversations, and what they are made of.

    ``None`` is a size the kind has no use for, or for ``turns`` and ``temperature`` the plain case: one turn,
    greedy.
    """

    shared: Tokens
    groups: int
    prompts_per_group: int
    question_len: Tokens
    output_len: Tokens
    turns: int | None = None
    distribution: Distribution = "uniform"
    zipf_exponent: float = 1.0
    history: History = "live"
    think_time_s: float = 0.0
    temperature: float | None = None
    examples: int | None = None
    example_len: Tokens | None = None
    documents: int | None = None
    documents_per_prompt: int | None = None
    document_len: Tokens | None = None
    document_order: DocumentOrder | None = None
    tools_len: Tokens | None = None
    tool_result_len: Tokens | None = None
    depth: int | None = None
    fanout: int | None = None

    def __post_init__(self) -> None:
        if self.shared < 0:
            raise UsageError(f"a prompt can't share {self.shared} tokens", remedy="give 0 or more")
        for name in ("groups", "prompts_per_group", "question_len", "output_len"):
            self.needed(name)
        if not self.think_time_s >= 0 or (self.temperature is not None and not self.temperature >= 0):
            raise UsageError(
                f"a think time of {self.think_time_s} s and a temperature of {self.temperature} can't be kept",
                remedy="give 0 or more",
            )

    def needed(self, name: str, *, least: int = 1) -> int:
        """The size called ``name``; refused where it is missing or below ``least``."""
        value: int | None = getattr(self, name)
        if value is None or value < least:
            words = name.replace("_", " ").replace(" len", " length")
            raise UsageError(
                f"{words} of {'nothing' if value is None else value} make no workload",
                remedy=f"give {least} or more",
            )
        return value

    @property
    def total(self) -> int:
        """How many prompts or conversations the cell has."""
        return self.groups * self.prompts_per_group
