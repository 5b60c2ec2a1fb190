"""A sweep's requests laid out beforehand: each cell's workload of one seed, and what could be reused of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

from radixbench.bench.identity import ServerFacts
from radixbench.bench.schedule import RunPlan
from radixbench.bench.traffic import Traffic
from radixbench.bench.unlimited import Ask, reuse
from radixbench.errors import ModelError
from radixbench.model.load_tokenizer import load_tokenizer
from radixbench.model.tokenizer import Tokenizer
from radixbench.records import CorpusRecord
from radixbench.scenario.cells import at_cell, cells
from radixbench.scenario.longest import longest_request
from radixbench.scenario.model import Scenario
from radixbench.units import Seconds, Tokens
from radixbench.workloads.conversation import Conversation, Workload

MOST_TOKENS: Tokens = 20_000_000
"""Prompt tokens of a cell beyond which laying it out would take more memory than a plan is worth."""

_SOME_VOCABULARY = 32_768


@dataclass(frozen=True, slots=True)
class LaidOut:
    """One cell's requests, after which an unlimited cache holds ``kept`` tokens.

    Its ``conversations`` all start within ``starting_s``; think time adds up to ``idle_s``.
    """

    asks: tuple[Ask, ...]
    kept: Tokens
    conversations: int
    idle_s: Seconds
    starting_s: Seconds


@dataclass(frozen=True, slots=True)
class Layout:
    """One for each cell of the sweep, ``None`` where it wasn't laid out; ``notes`` say why."""

    cells: tuple[LaidOut | None, ...]
    notes: tuple[str, ...] = ()

    @property
    def longest(self) -> Tokens | None:
        """Prompt and answer of the longest request that was laid out."""
        ends = [ask.prompt + ask.output for laid in self.cells if laid for ask in laid.asks]
        return max(ends, default=None)


def lay_out(scenario: Scenario, *, vocab_size: int | None, room: Tokens | None = None) -> Layout:
    """Every cell of a resolved scenario as seed 0 has it, recorded requests beyond ``room`` tokens left out.

    What could be reused doesn't depend on which vocabulary it is, so any will do where it is unknown. Raises
    ``CorpusError`` for a file that can't be played.
    """
    nothing: tuple[LaidOut | None, ...] = (None,) * len(cells(scenario))
    if scenario.workload.dataset is not None:
        return Layout(nothing, ("a hub dataset isn't fetched for a plan: its requests are unknown",))
    notes = []
    tokenizer = None
    if scenario.workload.kind == "conversations":
        tokenizer = _tokenizer(scenario, known=vocab_size is not None)
        if tokenizer is None:
            return Layout(nothing, ("the model's tokenizer isn't on this machine: tokens can't be counted",))
        if scenario.workload.history != "recorded":
            scenario = replace(scenario, workload=replace(scenario.workload, history="recorded"))
            notes.append("answers are unknown yet: the file's are counted in their place")
    size = vocab_size or (tokenizer.vocab_size if tokenizer else _SOME_VOCABULARY)
    laid, corpus = _laid(scenario, Traffic(scenario, tokenizer, room), size)
    if corpus is not None:
        notes += [f"left out: {count:,} x {reason}" for reason, count in corpus.dropped.items()]
    if None in laid:
        notes.append(
            f"a cell of more than {MOST_TOKENS:,} prompt tokens isn't laid out: its counts are unknown"
        )
    return Layout(laid, tuple(notes))


def _tokenizer(scenario: Scenario, *, known: bool) -> Tokenizer | None:
    """The model's tokenizer, if it lies here: nothing is fetched for a plan."""
    name = scenario.target.tokenizer or scenario.model.name
    if not known and scenario.target.tokenizer is None:
        return None
    try:
        return load_tokenizer(name, trust_remote_code=scenario.model.trust_remote_code)
    except ModelError:
        return None


def _laid(
    scenario: Scenario, traffic: Traffic, vocab_size: int
) -> tuple[tuple[LaidOut | None, ...], CorpusRecord | None]:
    """Cells that differ in nothing that could be reused are laid out once: their ids differ, their shape doesn't."""
    facts = ServerFacts(
        model=scenario.model.name,
        vocab_size=vocab_size,
        special_token_ids=frozenset(),
        context_len=None,
        pool_tokens=None,
        page_size=None,
        device="",
        document={},
    )
    laid: list[LaidOut | None] = []
    known: dict[object, LaidOut] = {}
    corpus: CorpusRecord | None = None
    for index, cell in enumerate(cells(scenario)):
        here = at_cell(scenario, cell)
        if _most_tokens(here) > MOST_TOKENS:
            laid.append(None)
            continue
        alike = (here.workload, replace(here.load, max_concurrency=None), here.engine.page_size)
        if alike not in known:
            asked = traffic.asked(
                RunPlan(order=0, cell_index=index, cell=cell, seed=0, mode="on", arm="on"), facts
            )
            known[alike], corpus = _of(asked.workload, here), asked.corpus
        laid.append(known[alike])
    return tuple(laid), corpus


def _most_tokens(here: Scenario) -> Tokens:
    """A bound of one cell's prompt tokens, by its sizes alone; 0 for a file, which isn't that large."""
    workload = here.workload
    requests = workload.groups * workload.prompts_per_group * max(workload.turns or (1,))
    return requests * (longest_request(here) or 0)


def _of(workload: Workload, here: Scenario) -> LaidOut:
    """A workload's requests within the bounds of the load at one cell."""
    started = _started(workload.conversations, here)
    found = reuse(started, workload.prefixes, page_size=here.engine.page_size, state=here.cache_state)
    return LaidOut(
        asks=found.asks,
        kept=found.kept,
        conversations=len(started),
        idle_s=sum(turn.delay_s for conversation in started for turn in conversation.turns),
        starting_s=_starting_s(started, here),
    )


def _started(conversations: Sequence[Conversation], here: Scenario) -> Sequence[Conversation]:
    """Those that the load's bounds let start; how many a closed loop starts in a time only the run can tell."""
    load = here.load
    started = conversations[: load.num_prompts]
    if load.duration_s is None or load.arrival == "closed":
        return started
    if load.request_rate is not None:
        return started[: max(1, ceil(load.duration_s * load.request_rate))]
    return [item for item in started if (item.due_s or 0.0) / load.speed <= load.duration_s]


def _starting_s(started: Sequence[Conversation], here: Scenario) -> Seconds:
    """From the first conversation's start to the last one's, where the load fixes that beforehand."""
    load = here.load
    if load.arrival == "closed":
        return 0.0
    if load.request_rate is not None:
        return len(started) / load.request_rate
    return max((item.due_s or 0.0 for item in started), default=0.0) / load.speed
