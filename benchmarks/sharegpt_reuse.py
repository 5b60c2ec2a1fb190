"""What an unlimited cache would reuse of 500 ShareGPT conversations, and what finding it out costs.

    python benchmarks/sharegpt_reuse.py WHEEL_OR_JSON [--tokenizer smollm2-135m] [--conversations 500]

Conversations as the file has them, read by radixbench's own loader: those that begin with a question and have
two rounds or more, each round a question and its answer, up to the round that brings them over 8,192
tokens; marked in ChatML, piece by piece, so that every prompt is a token prefix of the next. They are played round
by round: each round matches its prompt but for the last token and then inserts prompt and answer. Four other trees,
given the same sequences, found 0.8834 of the tokens they were asked for at page size 1 and 0.8748 at 16: that is
``reuse_rate``; ``hit_rate`` is over whole prompts. One thread, several repetitions: wall time of each match and insert,
and CPU time of a replayed request, which a busy machine disturbs less. The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import json
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from side_by_side import took
from tree import Conversation, round_robin, spread, time_ours

from radixbench.corpus.conversations import ConversationReader
from radixbench.corpus.shapes import Shaped
from radixbench.corpus.turns import BEGAN_LATE
from radixbench.model.load_tokenizer import load_tokenizer
from radixbench.model.tokenizer import Tokenizer
from radixbench.simulation.hits import Ask, CacheSize, token_hits
from radixbench.workloads.conversation import Message

LONGEST = 8192
PAGES = (1, 16)


def rounds_of(shaped: Shaped) -> Iterator[tuple[Message, Message]]:
    """Questions with their answers, up to the first message out of turn."""
    messages = shaped.chat.messages
    if BEGAN_LATE in shaped.mended:
        return
    for question, answer in zip(messages[::2], messages[1::2], strict=False):
        if (question.role, answer.role) != ("user", "assistant"):
            return
        yield question, answer


def encoded(shaped: Shaped, tokenizer: Tokenizer) -> Conversation:
    """The conversation's ids and, for each round, how long its prompt is and how long with the answer."""
    ids, rounds = array("i"), []
    for question, answer in rounds_of(shaped):
        ids.extend(tokenizer.encode(f"<|im_start|>user\n{question.text}<|im_end|>\n<|im_start|>assistant\n"))
        prompt_len = len(ids)
        ids.extend(tokenizer.encode(f"{answer.text}<|im_end|>\n"))
        rounds.append((prompt_len, len(ids)))
        if len(ids) > LONGEST:
            break
    return ids, rounds


def selected(reader: ConversationReader, tokenizer: Tokenizer, count: int) -> list[Conversation]:
    """The first ``count`` conversations of two rounds or more."""
    found: list[Conversation] = []
    for shaped in reader:
        if len(shaped.chat.messages) < 4:
            continue
        conversation = encoded(shaped, tokenizer)
        if len(conversation[1]) > 1:
            found.append(conversation)
        if len(found) == count:
            break
    return found


def measured(conversations: Sequence[Conversation], page_size: int, repetitions: int) -> dict[str, object]:
    """The hit rate at one page size, and microseconds per operation and per request."""
    turns = round_robin(conversations)
    asks = [Ask(turn.ids.tobytes(), turn.prompt_len) for turn in turns]
    time_ours(turns, page_size)  # memory is touched for the first time here
    timings = [time_ours(turns, page_size) for _ in range(repetitions)]
    replays = [took(lambda: token_hits(asks, [CacheSize(page_size)])) for _ in range(repetitions)]
    (row,) = replays[0][1]
    cpu_us = sorted(1e6 * time.cpu / len(asks) for time, _ in replays)
    return {
        "page_size": page_size,
        "reuse_rate": row.reuse_rate,
        "hit_rate": row.hit_rate,
        "prompt_tokens": row.prompt_tokens,
        "cached_tokens": row.cached_tokens,
        "match_us": spread([ns for timing in timings for ns in timing.match]),
        "insert_us": spread([ns for timing in timings for ns in timing.insert]),
        "cpu_us_per_request": {
            name: round(statistics_of(cpu_us), 2)
            for name, statistics_of in (("median", median), ("least", min), ("greatest", max))
        },
    }


def main() -> None:
    """Read, select, replay and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--tokenizer", default="smollm2-135m")
    parser.add_argument("--conversations", type=int, default=500)
    parser.add_argument("--repetitions", type=int, default=5)
    arguments = parser.parse_args()
    reader = ConversationReader(arguments.file)
    tokenizer = load_tokenizer(arguments.tokenizer)
    conversations = selected(reader, tokenizer, arguments.conversations)
    tokens = sum(len(ids) for ids, _ in conversations)
    rounds = sum(len(lengths) for _, lengths in conversations)
    print(f"{len(conversations)} conversations, {tokens} tokens, {rounds} rounds")
    rows = [measured(conversations, page_size, arguments.repetitions) for page_size in PAGES]
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))
    document = {
        "benchmark": "sharegpt_reuse",
        "tokenizer": arguments.tokenizer,
        "conversations": len(conversations),
        "tokens": tokens,
        "rounds": rounds,
        "notes": reader.record().notes,
        "rows": rows,
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main()
