"""What a workload's open keys become: sizes people meet, and smaller ones for ``tiny`` on a CPU.

``tiny`` on a CPU asks shorter questions, so that a whole sweep takes minutes; every other model keeps
the lengths of the field's shared-prefix benchmark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from radixbench.scenario.model import WorkloadKind
from radixbench.units import Tokens

QUESTION_LEN: Tokens = 128
OUTPUT_LEN: Tokens = 64
TINY_CPU_QUESTION_LEN: Tokens = 32
TINY_CPU_OUTPUT_LEN: Tokens = 16
MAX_CONCURRENCY = 8
"""Conversations in flight in a closed loop."""

_MADE: Mapping[str, Any] = {"question_len": QUESTION_LEN, "output_len": OUTPUT_LEN, "temperature": 0.0}
_MADE_SMALL: Mapping[str, Any] = {
    "question_len": TINY_CPU_QUESTION_LEN,
    "output_len": TINY_CPU_OUTPUT_LEN,
    "temperature": 0.0,
}
_SIZES: Mapping[WorkloadKind, Mapping[str, Any]] = {
    "shared-prefix": {},
    "multi-turn": {"turns": (4,)},
    "few-shot": {"examples": 8, "example_len": 128},
    "sampling": {"temperature": 1.0},
    "rag": {
        "documents": 8,
        "documents_per_prompt": 3,
        "document_len": 512,
        "document_order": "ordered",
        "tools_len": 256,
    },
    "agent": {"turns": (6,), "tools_len": 512, "tool_result_len": 256},
    "tree": {"depth": 3, "fanout": 2},
    "unique": {},
}
_SMALL: Mapping[WorkloadKind, Mapping[str, Any]] = {
    "few-shot": {"example_len": 64},
    "rag": {"document_len": 256, "tools_len": 128},
    "agent": {"tools_len": 256, "tool_result_len": 64},
}


def open_keys(kind: WorkloadKind, *, small: bool) -> dict[str, Any]:
    """The keys of ``workload`` that have to have a value for this kind, with the one they get if left open.

    Where a file says what is asked, answers are as long as recorded and blocks as large as its format has them.
    """
    if kind not in _SIZES:
        return {"temperature": 0.0}
    made = _MADE_SMALL if small else _MADE
    return {**made, **_SIZES[kind], **(_SMALL.get(kind, {}) if small else {})}
