"""Which command-line flag sets which key, and how a list is written in one.

A flag's name is its key's last word with hyphens, but for the few that people's hands know otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from radixbench.errors import ScenarioError
from radixbench.scenario.check import KeyPath

FlagValue = int | bool | str | Sequence[int]

KEY_OF_FLAG: dict[str, tuple[str, ...]] = {
    "model": ("model", "name"),
    "device": ("model", "device"),
    "dtype": ("model", "dtype"),
    "trust_remote_code": ("model", "trust_remote_code"),
    "threads": ("engine", "threads"),
    "max_total_tokens": ("engine", "max_total_tokens"),
    "chunked_prefill_size": ("engine", "chunked_prefill_size"),
    "page_size": ("engine", "page_size"),
    "schedule_policy": ("engine", "schedule_policy"),
    "workload": ("workload", "kind"),
    "shared": ("workload", "shared"),
    "turns": ("workload", "turns"),
    "groups": ("workload", "groups"),
    "prompts_per_group": ("workload", "prompts_per_group"),
    "question_len": ("workload", "question_len"),
    "output_len": ("workload", "output_len"),
    "max_concurrency": ("load", "max_concurrency"),
    "cache_state": ("cache_state",),
    "seeds": ("seeds",),
}
LIST_FLAGS = frozenset({"shared", "turns"})


def flag_text(name: str) -> str:
    """``prompts_per_group`` → ``--prompts-per-group``."""
    return "--" + name.replace("_", "-")


def flag_of(path: KeyPath) -> str | None:
    """The flag that sets this key or holds this item of a list; ``None`` if no flag does."""
    words = tuple(part for part in path if isinstance(part, str))
    return next((flag_text(name) for name, key in KEY_OF_FLAG.items() if key == words), None)


def parse_int_list(text: str, *, flag: str) -> tuple[int, ...]:
    """``0,1024,4096`` as numbers; text, negatives, gaps and repeated values are refused by the flag's name."""
    remedy = f"write whole numbers with commas between them, such as {flag} 0,1024,4096"
    values: list[int] = []
    for part in text.split(","):
        word = part.strip()
        if not word:
            raise ScenarioError(f"{flag}: {_gap(text)}", remedy=remedy)
        if not re.fullmatch(r"[+-]?[0-9]+", word):
            raise ScenarioError(f"{flag}: {word!r} is not a whole number", remedy=remedy)
        if len(word) > 18:
            raise ScenarioError(f"{flag}: {word[:18]}… is far too large", remedy=remedy)
        value = int(word)
        if value < 0:
            raise ScenarioError(f"{flag}: {value} is negative", remedy="give lengths of 0 or more")
        if value in values:
            raise ScenarioError(f"{flag}: {value} stands there twice", remedy="give each value once")
        values.append(value)
    return tuple(values)


def _gap(text: str) -> str:
    return "the list is empty" if not text.strip() else f"a value is missing in {text!r}"
