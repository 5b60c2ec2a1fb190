"""In which range each number of a scenario has to lie, one by one or in a list."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from radixbench.scenario.model import Scenario
from radixbench.scenario.problem import KeyPath, Problem, value_at

MAX_TOKENS = 10_000_000
MAX_COUNT = 1_000_000
_WEEK_S = 7 * 24 * 3600


@dataclass(frozen=True, slots=True)
class _Range:
    """From ``low`` to ``high``, both included unless ``above``: then more than ``low``."""

    low: float
    high: float
    above: bool = False

    def complaint(self, value: float) -> str | None:
        """What is wrong with a number; ``None`` for one that lies inside."""
        if not math.isfinite(value):
            return f"must be a finite number, not {value}"
        if self.above and value <= self.low:
            return f"must be more than {self.low:,}, not {value:,}"
        if value < self.low:
            return f"must be at least {self.low:,}, not {value:,}"
        return f"must be at most {self.high:,}, not {value:,}" if value > self.high else None


_LENGTH = _Range(1, MAX_TOKENS)
_COUNT = _Range(1, MAX_COUNT)
_SECTIONS: Mapping[str, Mapping[str, _Range]] = {
    "engine": {
        "threads": _Range(1, 4096),
        "max_total_tokens": _Range(1, MAX_TOKENS * 100),
        "chunked_prefill_size": _LENGTH,
        "page_size": _Range(1, 4096),
    },
    "workload": {
        "shared": _Range(0, MAX_TOKENS),
        "turns": _Range(1, 1000),
        "groups": _COUNT,
        "prompts_per_group": _COUNT,
        "question_len": _LENGTH,
        "output_len": _LENGTH,
        "zipf_exponent": _Range(0, 10),
        "think_time_s": _Range(0, 86_400),
        "temperature": _Range(0, 10),
        "examples": _Range(1, 10_000),
        "example_len": _LENGTH,
        "documents": _COUNT,
        "documents_per_prompt": _Range(1, 10_000),
        "document_len": _LENGTH,
        "tools_len": _Range(0, MAX_TOKENS),
        "tool_result_len": _LENGTH,
        "depth": _Range(1, 64),
        "fanout": _Range(1, 10_000),
        "limit": _Range(1, MAX_COUNT * 100),
        "block_size": _Range(1, 65_536),
    },
    "load": {
        "max_concurrency": _Range(1, 65_536),
        "request_rate": _Range(0, 1_000_000, above=True),
        "burstiness": _Range(0, 1_000_000, above=True),
        "speed": _Range(0, 1_000_000, above=True),
        "num_prompts": _Range(1, MAX_COUNT * 100),
        "duration_s": _Range(0, _WEEK_S, above=True),
        "stall_timeout_s": _Range(0, 86_400, above=True),
    },
    "telemetry": {"interval_ms": _Range(1, 60_000)},
    "goodput": dict.fromkeys(("ttft", "tpot", "e2el", "itl"), _Range(0, 86_400_000, above=True)),
}
_RANGES: Mapping[KeyPath, _Range] = {
    ("seeds",): _Range(1, 1000),
    **{(section, key): item for section, keys in _SECTIONS.items() for key, item in keys.items()},
    **{
        ("grid", key): _SECTIONS[section][key]
        for section, keys in {
            "load": ("max_concurrency", "request_rate"),
            "workload": ("question_len", "output_len", "groups"),
            "engine": ("page_size", "chunked_prefill_size", "max_total_tokens"),
        }.items()
        for key in keys
    },
}


def complaint_at(path: KeyPath, value: float) -> str | None:
    """What is wrong with a number at a key that has a range; ``None`` where nothing is."""
    return _RANGES[path].complaint(value)


def range_problems(scenario: Scenario) -> Iterator[Problem]:
    """Every number that lies outside its range."""
    for path, allowed in _RANGES.items():
        yield from _outside(path, value_at(scenario, path), allowed)


def _outside(path: KeyPath, value: object, allowed: _Range) -> Iterator[Problem]:
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _outside((*path, index), item, allowed)
    elif isinstance(value, (int, float)):
        complaint = allowed.complaint(value)
        if complaint is not None:
            yield Problem(path, complaint)
