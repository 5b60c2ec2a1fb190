"""What the radix tree costs: match, insert and evict, beside a textbook radix tree.

    python benchmarks/tree.py [SEQUENCES.pkl]

Multi-turn conversations, played round-robin: each turn matches its prompt (all but the last token)
and then inserts prompt and answer. Without a file, 500 seeded synthetic conversations of about
800,000 tokens in all. A file is a pickled list of ``(ids, [(prompt_len, prompt_plus_answer_len), …])``.
Both trees see the same operations, one after the other in every repetition; the ratio is taken
within a repetition and given with its range. Single-threaded; the last line is one JSON document.
"""

from __future__ import annotations

import argparse
import gc
import heapq
import itertools
import json
import pickle
import random
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from radixbench.engine.radix import RadixTree

EVICT_TOKENS = 2000
EVICTIONS = 50
Conversation = tuple["array[int]", list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Turn:
    """One operation pair: ``ids`` holds prompt and answer, the prompt is the first ``prompt_len``."""

    ids: array[int]
    prompt_len: int


@dataclass(slots=True)
class Timing:
    """Nanoseconds of every operation of one tree in one repetition, and how much it found."""

    match: list[int] = field(default_factory=list)
    insert: list[int] = field(default_factory=list)
    evict: list[int] = field(default_factory=list)
    hit_tokens: int = 0

    @property
    def pair_us(self) -> float:
        """Mean cost of a match and its insert."""
        return (sum(self.match) + sum(self.insert)) / len(self.match) / 1e3


def synthetic(seed: int = 0, conversations: int = 500, vocabulary: int = 49152) -> list[Conversation]:
    """Conversations of 2 to 8 turns that share one of 8 system prompts, long-tailed in length."""
    rng = random.Random(seed)
    systems = [[rng.randrange(vocabulary) for _ in range(rng.randrange(20, 200))] for _ in range(8)]
    made: list[Conversation] = []
    for _ in range(conversations):
        ids = array("i", rng.choice(systems))
        rounds = []
        for _ in range(min(2 + int(rng.expovariate(0.42)), 12)):
            question, answer = (1 + min(int(rng.expovariate(1 / mean)), 2000) for mean in (90, 320))
            ids.extend(rng.randrange(vocabulary) for _ in range(question + answer))
            rounds.append((len(ids) - answer, len(ids)))
        made.append((ids, rounds))
    return made


def round_robin(conversations: Sequence[Conversation]) -> list[Turn]:
    """Every conversation's first turn, then every one's second, and so on."""
    by_round = itertools.zip_longest(*([(ids, turn) for turn in rounds] for ids, rounds in conversations))
    return [Turn(array("i", one[0][: one[1][1]]), one[1][0]) for row in by_round for one in row if one]


def time_ours(turns: Sequence[Turn], page_size: int) -> Timing:
    """Our tree as the engine uses it: keys converted once, the insert starts at the locked match."""
    tree, timing, clock = RadixTree(page_size), Timing(), time.perf_counter_ns
    pool = np.arange(3_000_000, dtype=np.int32).tobytes()
    used = 0
    for turn in turns:
        begin = clock()
        key = turn.ids.tobytes()
        match = tree.match_prefix(key, limit=turn.prompt_len - 1)
        tree.lock(match.node)
        timing.match.append(clock() - begin)
        timing.hit_tokens += match.length
        size = len(key) - 4 * match.length
        slots = pool[used : used + size]
        used += size
        begin = clock()
        inserted = tree.insert(key, slots, start=match.node)
        tree.unlock(match.node)
        timing.insert.append(clock() - begin)
        assert inserted.existing >= match.length
    timing.evict = timed(lambda: tree.evict(EVICT_TOKENS), EVICTIONS)
    return timing


def time_textbook(turns: Sequence[Turn], page_size: int) -> Timing:
    """The textbook tree on the same operations."""
    tree, timing, clock = TextbookTree(page_size), Timing(), time.perf_counter_ns
    used = 0
    for turn in turns:
        begin = clock()
        key = tuple(turn.ids)
        slots = tree.match_prefix(key[: turn.prompt_len - 1])
        timing.match.append(clock() - begin)
        timing.hit_tokens += len(slots)
        fresh = list(range(used, used + len(key) - len(slots)))
        used += len(fresh)
        begin = clock()
        tree.insert(key, slots + fresh)
        timing.insert.append(clock() - begin)
    timing.evict = timed(lambda: tree.evict(EVICT_TOKENS), EVICTIONS)
    return timing


def timed(action: Callable[[], object], times: int) -> list[int]:
    """Nanoseconds of each call."""
    durations = []
    for _ in range(times):
        begin = time.perf_counter_ns()
        action()
        durations.append(time.perf_counter_ns() - begin)
    return durations


class TextbookNode:
    """An edge of tokens and their slots, as most Python radix caches hold them."""

    def __init__(self, parent: TextbookNode | None, key: tuple[int, ...], slots: list[int]) -> None:
        self.parent = parent
        self.key = key
        self.slots = slots
        self.children: dict[tuple[int, ...], TextbookNode] = {}
        self.used_at = 0


class TextbookTree:
    """Tuples of ids compared token by token, leaves sorted by a heap at every eviction."""

    def __init__(self, page_size: int) -> None:
        self.page = page_size
        self.root = TextbookNode(None, (), [])
        self.now = 0

    def match_prefix(self, key: tuple[int, ...]) -> list[int]:
        """Slots of the longest cached prefix."""
        return self._walk(key[: len(key) // self.page * self.page])[1]

    def insert(self, key: tuple[int, ...], slots: list[int]) -> int:
        """Add what is missing; returns how much was there."""
        key = key[: len(key) // self.page * self.page]
        node, found = self._walk(key)
        rest = key[len(found) :]
        if rest:
            leaf = TextbookNode(node, rest, slots[len(found) : len(key)])
            leaf.used_at = self.now
            node.children[rest[: self.page]] = leaf
        return len(found)

    def evict(self, tokens: int) -> int:
        """Drop the oldest leaves until ``tokens`` slots are free."""
        order, freed = itertools.count(), 0
        stack, heap = [self.root], []
        while stack:
            node = stack.pop()
            stack.extend(node.children.values())
            if not node.children and node.parent:
                heap.append((node.used_at, next(order), node))
        heapq.heapify(heap)
        while heap and freed < tokens:
            _, _, node = heapq.heappop(heap)
            parent = node.parent
            freed += len(node.slots)
            del parent.children[node.key[: self.page]]
            if not parent.children and parent.parent:
                heapq.heappush(heap, (parent.used_at, next(order), parent))
        return freed

    def _walk(self, key: tuple[int, ...]) -> tuple[TextbookNode, list[int]]:
        node, found = self.root, []
        self.now += 1
        while key:
            child = node.children.get(key[: self.page])
            if child is None:
                break
            child.used_at = self.now
            same = 0
            for ours, theirs in zip(child.key, key, strict=False):
                if ours != theirs:
                    break
                same += 1
            same -= same % self.page
            if same < len(child.key):
                child = self._split(child, same)
            node = child
            found += child.slots
            key = key[same:]
            if not node.children:
                break
        return node, found

    def _split(self, child: TextbookNode, at: int) -> TextbookNode:
        upper = TextbookNode(child.parent, child.key[:at], child.slots[:at])
        upper.used_at = child.used_at
        child.parent.children[child.key[: self.page]] = upper
        child.key, child.slots, child.parent = child.key[at:], child.slots[at:], upper
        upper.children[child.key[: self.page]] = child
        return upper


def spread(values: Sequence[int]) -> dict[str, float]:
    """Mean, median and 99th percentile in microseconds."""
    p50, p99 = np.percentile(values, [50, 99]).tolist()
    figures = {"mean": float(np.mean(values)), "p50": p50, "p99": p99}
    return {name: round(ns / 1e3, 2) for name, ns in figures.items()}


def figures(timings: Sequence[Timing], prompt_tokens: int) -> dict[str, object]:
    """One tree's figures over all repetitions."""
    return {
        "match_us": spread([ns for timing in timings for ns in timing.match]),
        "insert_us": spread([ns for timing in timings for ns in timing.insert]),
        "evict_2000_us": spread([ns for timing in timings for ns in timing.evict]),
        "pair_us": [round(timing.pair_us, 2) for timing in timings],
        "hit_rate": round(timings[0].hit_tokens / prompt_tokens, 4),
    }


def measure(turns: Sequence[Turn], page_size: int, repetitions: int) -> dict[str, object]:
    """Both trees, alternating, at one page size."""
    prompt_tokens = sum(turn.prompt_len - 1 for turn in turns)
    ours, textbook = [], []
    for _ in range(repetitions):
        for sink, run in ((ours, time_ours), (textbook, time_textbook)):
            gc.collect()
            gc.freeze()
            sink.append(run(turns, page_size))
            gc.unfreeze()
    ratios = sorted(b.pair_us / a.pair_us for a, b in zip(ours, textbook, strict=True))
    return {
        "page_size": page_size,
        "radixbench": figures(ours, prompt_tokens),
        "textbook": figures(textbook, prompt_tokens),
        "ratio": {
            "median": round(float(np.median(ratios)), 2),
            "low": round(ratios[0], 2),
            "high": round(ratios[-1], 2),
        },
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "sequences", nargs="?", type=Path, help="pickled conversations instead of synthetic ones"
    )
    parser.add_argument("--repetitions", type=int, default=3)
    arguments = parser.parse_args()
    source = arguments.sequences
    conversations = pickle.loads(source.read_bytes()) if source else synthetic()
    turns = round_robin(conversations)
    tokens = sum(len(ids) for ids, _ in conversations)
    print(f"{len(conversations)} conversations, {tokens} tokens, {len(turns)} turns; microseconds")
    rows = [measure(turns, page_size, arguments.repetitions) for page_size in (1, 16)]
    for row in rows:
        for tree in ("radixbench", "textbook"):
            result = row[tree]
            print(
                f"page {row['page_size']:>2} {tree:<10} " + "  ".join(f"{k} {v}" for k, v in result.items())
            )
        print(f"page {row['page_size']:>2} textbook / radixbench {row['ratio']}")
    print(json.dumps({"benchmark": "tree", "tokens": tokens, "turns": len(turns), "rows": rows}))


if __name__ == "__main__":
    main()
