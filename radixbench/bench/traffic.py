"""What the runs of a sweep ask: one workload for each cell and seed, the same for both arms.

Files are read once. A workload is made when its first arm runs and kept for the other, and no longer: a trace's or a
corpus' is large.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from radixbench.bench.identity import ServerFacts
from radixbench.bench.schedule import RunPlan
from radixbench.bench.sizes import sizes_at
from radixbench.corpus.conversations import Conversations, load_conversations
from radixbench.corpus.traces import Trace, load_trace
from radixbench.errors import UsageError
from radixbench.model.load_tokenizer import chat_render
from radixbench.model.tokenizer import Tokenizer
from radixbench.records import CorpusRecord
from radixbench.scenario.model import Scenario, WorkloadSpec
from radixbench.scenario.resolve import at_cell, cells
from radixbench.units import Tokens
from radixbench.workloads import chats as recorded_chats
from radixbench.workloads import replay as recorded_trace
from radixbench.workloads.build import build, families
from radixbench.workloads.conversation import Conversation, Render, Workload
from radixbench.workloads.distinct import refuse_duplicates
from radixbench.workloads.tokens import TokenSource


@dataclass(frozen=True, slots=True)
class Asked:
    """One run's requests, and where the tokens around them come from.

    ``render`` is there where turns are messages. ``longest`` is the most tokens a prompt and its answer take, as
    far as that is known beforehand. ``corpus`` says where recorded traffic came from.
    """

    workload: Workload
    tokens: TokenSource
    longest: Tokens
    render: Render | None = None
    corpus: CorpusRecord | None = None


def read_corpus(spec: WorkloadSpec) -> Conversations | Trace | None:
    """The file or data set that a workload is recorded in; ``None`` for one that is made up.

    Raises ``CorpusError`` for what can't be read.
    """
    path = None if spec.file is None else Path(spec.file)
    if spec.kind == "conversations":
        return load_conversations(
            path, dataset=spec.dataset, split=spec.split, format=spec.format, limit=spec.limit
        )
    if spec.kind == "trace" and path is not None:
        return load_trace(path, format=spec.format, block_size=spec.block_size, limit=spec.limit)
    return None


class Traffic:
    """The workloads of a resolved ``scenario``; ``tokenizer`` is needed for chats.

    ``corpus`` is what ``read_corpus`` gave, where that was read before. Recorded requests longer than ``room``
    tokens, prompt and answer, are left out and counted.
    """

    def __init__(
        self,
        scenario: Scenario,
        tokenizer: Tokenizer | None,
        room: Tokens | None = None,
        corpus: Conversations | Trace | None = None,
    ) -> None:
        self._scenario = scenario
        self._tokenizer = tokenizer
        self._room = room
        source = corpus or read_corpus(scenario.workload)
        self._chats = source if isinstance(source, Conversations) else None
        self._trace = _fitting(source, room) if isinstance(source, Trace) else None
        self._last: tuple[tuple[int, int], Asked] | None = None
        self._families = self._most_families()

    def asked(self, plan: RunPlan, facts: ServerFacts) -> Asked:
        """What ``plan`` asks a server with these facts.

        Raises ``UsageError`` where a cold set has duplicates, and for chats without a tokenizer.
        """
        key = (plan.cell_index, plan.seed)
        if self._last is None or self._last[0] != key:
            asked = self._make(plan, facts)
            if self._scenario.cache_state == "cold":
                refuse_duplicates(asked.workload)
            self._last = (key, asked)
        return self._last[1]

    def _make(self, plan: RunPlan, facts: ServerFacts) -> Asked:
        tokens = TokenSource.of(
            facts.vocab_size,
            excluded=facts.special_token_ids,
            cell=plan.cell_index,
            families=self._families,
            scenario="" if self._scenario.workload.same_prefix else self._scenario.name,
        )
        here = at_cell(self._scenario, plan.cell)
        if self._chats is not None:
            return self._chat(self._chats, here.workload, plan.seed, tokens)
        if self._trace is not None:
            requests, record, block_size = self._trace
            workload = recorded_trace.replay(
                requests,
                block_size=block_size,
                tokens=tokens,
                seed=plan.seed,
                temperature=here.workload.temperature or 0.0,
            )
            return Asked(workload, tokens, longest_of(workload), corpus=record)
        workload = build(here.workload.kind, sizes_at(here, plan.cell), seed=plan.seed, tokens=tokens)
        return Asked(workload, tokens, longest_of(workload))

    def _chat(self, source: Conversations, spec: WorkloadSpec, seed: int, tokens: TokenSource) -> Asked:
        if self._tokenizer is None:
            raise UsageError(
                "recorded chats are text, and nothing is known that makes token ids of it",
                remedy="name the model's tokenizer: --tokenizer MODEL",
            )
        render = chat_render(self._tokenizer)
        # Nothing of ours can stand in front of messages: there a proved flush alone keeps runs apart.
        salt = () if self._scenario.target.endpoint == "chat" else tokens.opening(0, seed)
        whole = recorded_chats.chats(
            source.chats,
            history=spec.history,
            render=render,
            output_len=spec.output_len,
            seed=seed,
            salt_ids=salt,
            think_time_s=spec.think_time_s,
            temperature=spec.temperature or 0.0,
        )
        workload = only_fitting(whole, self._room)
        dropped = len(whole.conversations) - len(workload.conversations)
        return Asked(
            workload,
            tokens,
            longest_of(workload),
            recorded_chats.salted(render, salt) if spec.history == "retokenized" else None,
            _less(source.record, dropped),
        )

    def _most_families(self) -> int:
        """The same number for every cell, so that no cell's prompts begin like another's."""
        if self._chats is not None:
            return recorded_chats.FAMILIES
        if self._trace is not None:
            return recorded_trace.families(self._trace.requests)
        every = cells(self._scenario)
        return max(
            families(self._scenario.workload.kind, sizes_at(at_cell(self._scenario, cell), cell))
            for cell in every
        )


def longest_of(workload: Workload) -> Tokens:
    """Prompt and answer of the longest request whose ids are known by now."""
    return max((_longest(conversation) for conversation in workload.conversations), default=0)


def _longest(conversation: Conversation) -> Tokens:
    """The same of one conversation."""
    longest = history = 0
    for turn in conversation.turns:
        prompt = history + len(turn.user_ids) if turn.whole_ids is None else len(turn.whole_ids)
        history = prompt + turn.output_len
        longest = max(longest, history)
    return longest


def only_fitting(workload: Workload, room: Tokens | None) -> Workload:
    """The conversations whose requests all fit into ``room`` tokens, numbered anew.

    Raises ``UsageError`` when none does.
    """
    if room is None or longest_of(workload) <= room:
        return workload
    conversations: list[Conversation] = []
    prompt = 0
    for conversation in workload.conversations:
        if _longest(conversation) <= room:
            turns = tuple(
                replace(turn, prompt=prompt + place) for place, turn in enumerate(conversation.turns)
            )
            place = len(conversations)
            conversations.append(replace(conversation, index=place, group=place, turns=turns))
            prompt += len(turns)
    if not conversations:
        raise _nothing_fits(room)
    return replace(workload, conversations=tuple(conversations))


def _fitting(trace: Trace, room: Tokens | None) -> Trace:
    """A trace without the requests that no server of this size could answer."""
    if room is None:
        return trace
    requests = tuple(one for one in trace.requests if one.input_len + one.output_len <= room)
    if not requests:
        raise _nothing_fits(room)
    return trace._replace(requests=requests, record=_less(trace.record, len(trace.requests) - len(requests)))


def _less(record: CorpusRecord, too_long: int) -> CorpusRecord:
    """The account with what the server has no room for."""
    if not too_long:
        return record
    dropped = {**record.dropped, "longer than the server's context or pool": too_long}
    return replace(record, dropped=dropped, items_used=record.items_used - too_long)


def _nothing_fits(room: Tokens) -> UsageError:
    return UsageError(
        f"every recorded request is longer than the {room:,} tokens the server has room for",
        remedy="choose a model with a longer context, or raise --max-total-tokens",
    )
