"""The options that override a scenario's keys, each in one line that teaches.

``sweep`` and ``run`` take the same ones: they are listed here once and put on a command by a decorator. An
option is named as its flag in ``scenario.flags``; what it may say is checked there, as in a file.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

_TRAFFIC = "Traffic: what is asked"
_KINDS = "Traffic of one workload only"
_FILES = "Recorded traffic"
_LOAD = "Load: when it is asked"
_PROTOCOL = "Cache protocol"
_TARGET = "A server that runs already"
_SERVER = "Model and bundled server"


@dataclass(frozen=True, slots=True)
class _Override:
    """One option, taken as typed or a switch; ``metavar`` is what its help calls it."""

    name: str
    help: str
    panel: str
    switch: bool = False
    metavar: str | None = None

    @property
    def parameter(self) -> inspect.Parameter:
        """The option as a parameter of a command; not given, it is ``None``, a switch ``False``."""
        option = typer.Option(
            "--" + self.name.replace("_", "-"),
            help=self.help,
            rich_help_panel=self.panel,
            metavar=self.metavar,
            show_default=False,
        )
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if self.switch else None,
            annotation=Annotated[bool if self.switch else str | None, option],
        )


_INT = "<int>"
_FLOAT = "<float>"
_LIST = "N,N,…"
_TIME = "TIME"

OVERRIDES = (
    _Override(
        "workload",
        "shared-prefix, multi-turn, few-shot, sampling, rag, agent, tree, unique, conversations, trace.",
        _TRAFFIC,
    ),
    _Override("shared", "Shared prefix lengths in tokens: 0,1024,4096.", _TRAFFIC, metavar=_LIST),
    _Override("groups", "Groups, each with a prefix of its own: 4.", _TRAFFIC, metavar=_LIST),
    _Override("prompts_per_group", "Prompts or conversations of each group: 16.", _TRAFFIC, metavar=_INT),
    _Override("question_len", "Tokens of each question: 128 (tiny on a CPU: 32).", _TRAFFIC, metavar=_LIST),
    _Override("output_len", "Tokens of each answer: 64 (tiny on a CPU: 16).", _TRAFFIC, metavar=_LIST),
    _Override("distribution", "Prompts fall on groups: uniform, or zipf (few get most).", _TRAFFIC),
    _Override("zipf_exponent", "How unequal zipf is: 1; larger is more so.", _TRAFFIC, metavar=_FLOAT),
    _Override("temperature", "Sampling temperature: 0 is greedy (sampling: 1).", _TRAFFIC, metavar=_FLOAT),
    _Override("same_prefix", "Begin prompts as other scenarios with this flag do.", _TRAFFIC, switch=True),
    _Override("seeds", "How many seeds: 0 … N-1; three are needed for a verdict.", _TRAFFIC, metavar=_INT),
    _Override("turns", "multi-turn, agent: turns per conversation: 1,4.", _KINDS, metavar=_LIST),
    _Override("history", "Later turns repeat live, recorded or retokenized answers.", _KINDS),
    _Override("think_time", "multi-turn, agent: from an answer to the next turn: 2s.", _KINDS, metavar=_TIME),
    _Override("examples", "few-shot: examples in each prompt.", _KINDS, metavar=_INT),
    _Override("example_len", "few-shot: tokens of each example.", _KINDS, metavar=_INT),
    _Override("documents", "rag: documents in each group's store.", _KINDS, metavar=_INT),
    _Override("documents_per_prompt", "rag: how many of them a prompt quotes.", _KINDS, metavar=_INT),
    _Override("document_len", "rag: tokens of each document.", _KINDS, metavar=_INT),
    _Override("document_order", "rag: ordered, or scrambled, which ends reuse early.", _KINDS),
    _Override("tools_len", "rag, agent: tokens of tool definitions.", _KINDS, metavar=_INT),
    _Override("tool_result_len", "agent: tokens that a tool call brings.", _KINDS, metavar=_INT),
    _Override("depth", "tree: levels that the shared tokens lie on.", _KINDS, metavar=_INT),
    _Override("fanout", "tree: branches at each level.", _KINDS, metavar=_INT),
    _Override("file", "conversations, trace: what to play (also .gz, .zst, .whl).", _FILES, metavar="FILE"),
    _Override("dataset", "conversations: a hub dataset instead of a file.", _FILES),
    _Override("split", "Which split of the dataset.", _FILES),
    _Override("format", "auto, sharegpt, openai, custom, mooncake or bailian.", _FILES),
    _Override("limit", "At most so many conversations or requests of it.", _FILES, metavar=_INT),
    _Override("block_size", "trace: tokens of a block: 512 (bailian: 16).", _FILES, metavar=_INT),
    _Override("max_concurrency", "Conversations in flight at most: 8.", _LOAD, metavar=_LIST),
    _Override("arrival", "closed (next when one ends), constant, poisson, gamma, trace.", _LOAD),
    _Override("request_rate", "Open loop: conversations started per second.", _LOAD, metavar=_LIST),
    _Override("burstiness", "gamma: 1 is Poisson, below it burstier.", _LOAD, metavar=_FLOAT),
    _Override("speed", "trace: times as fast as it was recorded.", _LOAD, metavar=_FLOAT),
    _Override("num_prompts", "Start at most so many conversations in a run.", _LOAD, metavar=_INT),
    _Override("duration", "Start conversations for so long in a run: 90s.", _LOAD, metavar=_TIME),
    _Override("stall_timeout", "Give a stream up that is silent for so long: 300s.", _LOAD, metavar=_TIME),
    _Override(
        "goodput",
        "Targets of each request, in ms: ttft:500 tpot:50 (also e2el, itl).",
        _LOAD,
        metavar="TARGETS",
    ),
    _Override("cache_state", "At the start: cold, primed (with the prefixes) or warm.", _PROTOCOL),
    _Override("off_mode", "The off arm goes without by flag, by salt or by flush.", _PROTOCOL),
    _Override("model", "tiny, smollm2-135m, a hub id, a directory or a .gguf file.", _SERVER),
    _Override("device", "auto, cpu or cuda.", _SERVER),
    _Override("dtype", "auto (CPU: float32, CUDA: bfloat16), float32, bfloat16, float16.", _SERVER),
    _Override("threads", "CPU threads of the server: all cores but one.", _SERVER, metavar=_INT),
    _Override("max_total_tokens", "KV slots of the pool.", _SERVER, metavar=_LIST),
    _Override("chunked_prefill_size", "Tokens a prefill step computes at most.", _SERVER, metavar=_LIST),
    _Override("page_size", "Tokens of a cache page: 1.", _SERVER, metavar=_LIST),
    _Override("schedule_policy", "fcfs, lpm (longest match first), or fcfs,lpm as an axis.", _SERVER),
    _Override("trust_remote_code", "Let a hub model run code of its repository.", _SERVER, switch=True),
    _Override("base_url", "Measure the server at this address; none is started.", _TARGET, metavar="URL"),
    _Override("off_base_url", "One of the same model without its cache.", _TARGET, metavar="URL"),
    _Override("engine", "Whose it is: bundled, sglang, vllm, llamacpp or other.", _TARGET),
    _Override("endpoint", "completions (token ids) or chat (messages).", _TARGET),
    _Override("tokenizer", "Its vocabulary, where it doesn't say: as for --model.", _TARGET),
    _Override("server_log", "The file it logs to, read along.", _TARGET, metavar="FILE"),
)
"""In the order of the help page."""


def overridable(command: Callable[..., int]) -> Callable[..., int]:
    """``command`` with all overrides as options; those that were given arrive in its parameter ``flags``."""
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in inspect.signature(command, eval_str=True).parameters.values()
        if parameter.name != "flags"
    ]

    @functools.wraps(command)
    def with_flags(**given: Any) -> int:
        flags = {override.name: given.pop(override.name) for override in OVERRIDES}
        present = {name: value for name, value in flags.items() if value is not None and value is not False}
        return command(**given, flags=present)

    vars(with_flags)["__signature__"] = inspect.Signature(
        [*own[:1], *(override.parameter for override in OVERRIDES), *own[1:]]
    )
    return with_flags
