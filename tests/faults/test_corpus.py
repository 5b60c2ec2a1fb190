"""Field faults of recorded traffic: heads with a clock in them, turns nobody read, rates without a definition."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from radixbench.cli.main import run
from radixbench.corpus.clock_text import HeadWatch
from radixbench.corpus.conversations import load_conversations
from radixbench.corpus.traces import load_trace
from radixbench.model.load_tokenizer import chat_render
from radixbench.model.tiny_tokenizer import TinyTokenizer
from radixbench.simulation.hits import CacheSize
from radixbench.simulation.trace_hits import trace_hits
from radixbench.workloads.chats import asked_at
from tests.corpus.files import array, lines, messages, row, said


def test_fault_95_clock_text_in_the_prompt_head(tmp_path: Path) -> None:
    """A template with ``{now}``, and the prompts it makes, name the character where sharing ends."""
    template = "You are a helpful assistant at {now}. Answer briefly."
    watch = HeadWatch()
    watch.see(template)
    (line,) = watch.findings()
    assert line.startswith("prompt head changes over time at char 31")
    filled = [
        messages(("system", template.replace("{now}", f"09:{minute:02}")), ("user", "a"), ("assistant", "b"))
        for minute in range(3)
    ]
    _, record = load_conversations(lines(tmp_path / "a.jsonl", filled))
    (line,) = [note for note in record.notes if note.startswith("prompt head")]
    assert line.startswith("prompt head changes over time at char 31 (3 conversations)")


def test_fault_133_all_turns_of_sharegpt_are_read(tmp_path: Path) -> None:
    """Six turns are three requests, each a token prefix of the next, not one request of the first two."""
    (chat,), _ = load_conversations(
        array(tmp_path / "a.json", [said("a b", "c d", "e f", "g h", "i j", "k l")])
    )
    render = chat_render(TinyTokenizer())
    prompts = [render(chat.messages[:place]) for place in asked_at(chat)]
    assert len(prompts) == 3
    for before, after in pairwise(prompts):
        assert after[: len(before)] == before
        assert len(after) > len(before)


def test_fault_134_a_trace_rate_comes_with_its_definition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever prints a rate of a trace says of what: tokens and blocks differ, and the last token counts."""
    rows = [row(0, 655, [1, 2]), row(0, 1200, [1, 3, 4]), row(3000, 1200, [1, 3, 4]), row(3000, 100, [5])]
    path = lines(tmp_path / "trace.jsonl", rows)
    trace = load_trace(path)
    (found,) = trace_hits(trace.requests, block_size=trace.block_size, sizes=[CacheSize(1)])
    assert (found.cached_tokens, found.prompt_tokens) == (512 + 1199, 3155)
    assert (found.cached_blocks, found.blocks) == (1 + 3, 9)
    assert run(["simulate", "hits", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "definition: hit rate = cached tokens / prompt tokens, summed over all requests" in printed
    assert "block hit rate is leading known blocks / blocks" in printed
    assert "hit rate 54.23 %" in printed
    assert "block hit rate 44.44 %" in printed
    assert run(["simulate", "hits", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["definition"].startswith("hit rate = cached tokens / prompt tokens")
