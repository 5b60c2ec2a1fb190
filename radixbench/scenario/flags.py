"""Which command-line flag sets which key, and how what is typed becomes its value.

A flag's name is its key's last word with hyphens, but for the few that people's hands know otherwise. Where
a key may be an axis of the sweep, one value sets the key and several make the axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from radixbench.errors import ScenarioError
from radixbench.scenario.cells import SECTION_OF_AXIS
from radixbench.scenario.goodput import parse_goodput
from radixbench.scenario.problem import KeyPath, Problem, key_text
from radixbench.scenario.typed import (
    parse_duration,
    parse_float,
    parse_float_list,
    parse_int,
    parse_int_list,
    parse_words,
)

FlagValue = int | float | bool | str | Sequence[int] | Sequence[float] | Sequence[str] | Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Flag:
    """``key`` is what the flag sets; ``read`` makes its value of text and the flag's own name (``None``: as it is)."""

    key: tuple[str, ...]
    read: Callable[[str, str], FlagValue] | None = None

    @property
    def axis(self) -> bool:
        """Whether several values make an axis of the grid."""
        return len(self.key) == 2 and SECTION_OF_AXIS.get(self.key[1]) == self.key[0]

    def value_of(self, given: FlagValue, name: str) -> FlagValue:
        """What was typed behind the flag ``name`` as its key's value; what isn't text stays as it is."""
        text = given if isinstance(given, str) else None
        return given if text is None or self.read is None else self.read(text, flag_text(name))


def _int(text: str, flag: str) -> FlagValue:
    return parse_int(text, flag=flag)


def _float(text: str, flag: str) -> FlagValue:
    return parse_float(text, flag=flag)


def _ints(example: str) -> Callable[[str, str], FlagValue]:
    """Lists of whole numbers, refused with an example that the flag would take."""
    return lambda text, flag: parse_int_list(text, flag=flag, example=example)


def _floats(text: str, flag: str) -> FlagValue:
    return parse_float_list(text, flag=flag)


def _words(text: str, flag: str) -> FlagValue:
    return parse_words(text, flag=flag)


def _seconds(text: str, flag: str) -> FlagValue:
    return parse_duration(text, flag=flag)


def _targets(text: str, flag: str) -> FlagValue:
    return parse_goodput(text, flag=flag).targets


def _keys(section: str, *names: str, read: Callable[[str, str], FlagValue] | None = None) -> dict[str, Flag]:
    return {name: Flag((section, name), read) for name in names}


FLAGS: Mapping[str, Flag] = {
    "model": Flag(("model", "name")),
    **_keys("model", "device", "dtype", "trust_remote_code"),
    **_keys("engine", "threads", read=_int),
    "max_total_tokens": Flag(("engine", "max_total_tokens"), _ints("16384,65536")),
    "chunked_prefill_size": Flag(("engine", "chunked_prefill_size"), _ints("512,4096")),
    "page_size": Flag(("engine", "page_size"), _ints("1,16")),
    "schedule_policy": Flag(("engine", "schedule_policy"), _words),
    "workload": Flag(("workload", "kind")),
    "shared": Flag(("workload", "shared"), _ints("0,1024,4096")),
    "turns": Flag(("workload", "turns"), _ints("1,4")),
    "groups": Flag(("workload", "groups"), _ints("4,16")),
    "question_len": Flag(("workload", "question_len"), _ints("32,128")),
    "output_len": Flag(("workload", "output_len"), _ints("16,64")),
    "think_time": Flag(("workload", "think_time_s"), _seconds),
    **_keys(
        "workload",
        *(
            "prompts_per_group",
            "examples",
            "example_len",
            "documents",
            "documents_per_prompt",
            "document_len",
        ),
        *("tools_len", "tool_result_len", "depth", "fanout", "limit", "block_size"),
        read=_int,
    ),
    **_keys("workload", "zipf_exponent", "temperature", read=_float),
    **_keys("workload", "distribution", "history", "document_order", "file", "dataset", "split", "format"),
    **_keys("workload", "same_prefix"),
    "max_concurrency": Flag(("load", "max_concurrency"), _ints("1,8")),
    "request_rate": Flag(("load", "request_rate"), _floats),
    "duration": Flag(("load", "duration_s"), _seconds),
    "stall_timeout": Flag(("load", "stall_timeout_s"), _seconds),
    **_keys("load", "arrival"),
    **_keys("load", "burstiness", "speed", read=_float),
    **_keys("load", "num_prompts", read=_int),
    **_keys("target", "engine", "base_url", "off_base_url", "endpoint", "tokenizer", "server_log"),
    "goodput": Flag(("goodput",), _targets),
    "cache_state": Flag(("cache_state",)),
    "off_mode": Flag(("off_mode",)),
    "mode": Flag(("modes",), _words),
    "seeds": Flag(("seeds",), _int),
}
"""Every flag that overrides a key, by its name with underscores."""

KEY_OF_FLAG: Mapping[str, tuple[str, ...]] = {name: flag.key for name, flag in FLAGS.items()}


def flag_text(name: str) -> str:
    """``prompts_per_group`` → ``--prompts-per-group``."""
    return "--" + name.replace("_", "-")


def flag_of(path: KeyPath) -> str | None:
    """The flag that sets this key, makes this axis, or holds this item of a list; ``None`` if no flag does."""
    words = tuple(part for part in path if isinstance(part, str))
    if words[:1] == ("grid",) and len(words) == 2:
        words = (SECTION_OF_AXIS[words[1]], words[1])
    return next((flag_text(name) for name, key in KEY_OF_FLAG.items() if key == words), None)


def refusal(problem: Problem) -> ScenarioError:
    """A problem as the error of whoever typed flags: it begins with the flag, or with the key that has none."""
    return ScenarioError(
        f"{flag_of(problem.path) or key_text(problem.path)}: {problem.text}", remedy=problem.remedy
    )
