"""The bundled runner beside plain transformers: same weights, same threads, same tokens.

    OMP_NUM_THREADS=1 python benchmarks/against_transformers.py [--repetitions 5] [--threads 1]

Real weights (smollm2-135m), float32. Three things in turns, ratios ours / theirs (below 1: ours is faster):
- ``whole``: a prompt of 2,176 tokens;
- ``cached``: its last 128 tokens over a cached prefix of 2,048 (theirs: a ``DynamicCache`` cropped back);
- ``decode``: 8 sequences side by side, contexts of 512 and 2,048, without and with a shared prefix of seven
  eighths; ours step by step through the runner, slots as the engine hands them out (prompts in
  rows, each step's eight side by side); theirs by batched ``generate``.
"""

from __future__ import annotations

import argparse
import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from side_by_side import Took, document, in_turns, line, ratio, say, took
from transformers import AutoModelForCausalLM, DynamicCache
from transformers.utils import logging

from radixbench.engine.batch import Batch, Entry, SamplingParams
from radixbench.model import catalog
from radixbench.model.load import load_model
from radixbench.model.runner import TorchRunner
from radixbench.scenario.model import ModelSpec

PROMPT, CACHED, ROWS = 2176, 2048, 8
Ids = NDArray[np.int32]


class Sides:
    """One model twice: over the pool and as transformers has it."""

    def __init__(self, threads: int) -> None:
        name = "smollm2-135m"
        self.model = load_model(ModelSpec(name), threads=threads, on_note=say)
        self.runner = TorchRunner(self.model, pool_slots=ROWS * (PROMPT + 64))
        logging.disable_progress_bar()
        self.plain: Any = AutoModelForCausalLM.from_pretrained(
            catalog.fetch(name), dtype=torch.float32, attn_implementation="sdpa"
        ).eval()

    def prompt(self, seed: int, length: int) -> Ids:
        """Random tokens of the vocabulary, marks left out."""
        return np.random.default_rng(seed).integers(17, self.model.vocab_size, length, dtype=np.int32)

    def ours(self, *sequences: tuple[Ids, Ids, int]) -> torch.Tensor:
        """Logits after (tokens, slots, cached) of each sequence."""
        params = SamplingParams(max_tokens=1)
        entries = tuple(
            Entry(key, tokens[cached:], slots[: len(tokens)], cached, True, 0, params)
            for key, (tokens, slots, cached) in enumerate(sequences)
        )
        return self.runner.logits(Batch("prefill", entries))

    @torch.inference_mode()
    def theirs(self, tokens: Ids, cache: DynamicCache | None = None) -> Any:
        """transformers' output after ``tokens`` ``[row, n]``."""
        ids = torch.from_numpy(tokens.astype(np.int64))
        return self.plain(
            ids, cache=DynamicCache(config=self.plain.config) if cache is None else cache, logits_to_keep=1
        )

    def prefilled(self, tokens: Ids) -> DynamicCache:
        """transformers' cache after ``tokens`` ``[row, n]``."""
        cache = DynamicCache(config=self.plain.config)
        self.theirs(tokens, cache)
        return cache


def prefill(sides: Sides, repetitions: int) -> dict[str, Any]:
    """``whole`` and ``cached``."""
    prompt, slots = sides.prompt(0, PROMPT), np.arange(PROMPT, dtype=np.int32)
    prefix = sides.prefilled(prompt[None, :CACHED])

    def theirs_cached() -> Took:
        time, _ = took(lambda: sides.theirs(prompt[None, CACHED:], prefix))
        prefix.crop(CACHED - PROMPT)  # drops what this call added
        return time

    sides.ours((prompt, slots, 0))
    whole = ratio(
        *in_turns(
            lambda: took(lambda: sides.ours((prompt, slots, 0)))[0],
            lambda: took(lambda: sides.theirs(prompt[None]))[0],
            repetitions,
        )
    )
    line("whole prefill of 2,176, ours / theirs", whole)
    sides.ours((prompt, slots, CACHED))
    theirs_cached()
    cached = ratio(
        *in_turns(
            lambda: took(lambda: sides.ours((prompt, slots, CACHED)))[0], theirs_cached, 2 * repetitions
        )
    )
    line("128 over 2,048 cached, ours / theirs", cached)
    return {"whole": whole, "cached": cached}


def engine_slots(context: int, shared: int, steps: int) -> list[Ids]:
    """Slots of each row as the engine hands them out: a common run, a run of its own, then one per step."""
    own, tail = context - shared, shared + ROWS * (context - shared)
    return [
        np.concatenate(
            [
                np.arange(shared),
                np.arange(shared + row * own, shared + (row + 1) * own),
                np.arange(tail + row, tail + row + ROWS * steps, ROWS),
            ]
        ).astype(np.int32)
        for row in range(ROWS)
    ]


def ours_decoded(sides: Sides, starts: list[Ids], slots: list[Ids], steps: int) -> list[list[int]]:
    """The greedy tokens after ``starts``, all but whose last token are in the pool."""
    tokens = starts
    for _ in range(steps):
        rows = [(ids, places, len(ids) - 1) for ids, places in zip(tokens, slots, strict=True)]
        chosen = sides.ours(*rows).argmax(dim=-1).tolist()
        tokens = [np.append(ids, np.int32(token)) for ids, token in zip(tokens, chosen, strict=True)]
    return [ids[-steps:].tolist() for ids in tokens]


@torch.inference_mode()
def theirs_decoded(sides: Sides, starts: list[Ids], cache: DynamicCache, steps: int) -> list[list[int]]:
    """The same by batched ``generate`` over a cache of all but the last tokens."""
    ids = torch.from_numpy(np.stack(starts).astype(np.int64))
    said: list[list[int]] = sides.plain.generate(
        ids,
        cache=cache,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=steps,
        min_new_tokens=steps,
        do_sample=False,
    )[:, -steps:].tolist()
    return said


def decode(sides: Sides, context: int, shared: int, steps: int, repetitions: int) -> dict[str, Any]:
    """Batched decoding of ``steps`` tokens after ``context``, of which ``shared`` are common to all rows."""
    common = sides.prompt(1, shared)
    prompts = [np.concatenate([common, sides.prompt(2 + row, context - shared)]) for row in range(ROWS)]
    slots = engine_slots(context, shared, steps)
    starts = []
    for row, (prompt, places) in enumerate(zip(prompts, slots, strict=True)):
        first = sides.ours((prompt, places, shared if row else 0))[0].argmax()
        starts.append(np.append(prompt, np.int32(first)))
    prefix = sides.prefilled(np.stack(prompts))
    answers: dict[str, Any] = {}

    def measure_ours() -> Took:
        time, answers["ours"] = took(lambda: ours_decoded(sides, starts, slots, steps))
        return time

    def measure_theirs() -> Took:
        cache = copy.deepcopy(prefix)
        time, answers["theirs"] = took(lambda: theirs_decoded(sides, starts, cache, steps))
        return time

    measure_ours()
    found = ratio(*in_turns(measure_ours, measure_theirs, repetitions))
    line(f"decode at batch {ROWS}, context {context}, shared {shared}, ours / theirs", found)
    same = sum(a == b for a, b in zip(answers["ours"], answers["theirs"], strict=True))
    say(f"  {same} of {ROWS} answers are the same {steps} tokens")
    return {"context": context, "shared": shared, "steps": steps, "same_answers": same, **found}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--only", choices=("prefill", "decode"))
    options = parser.parse_args()
    sides = Sides(options.threads)
    content: dict[str, Any] = {}
    if options.only != "decode":
        content.update(prefill(sides, options.repetitions))
    if options.only != "prefill":
        cells = ((512, 0), (512, 448), (2048, 0), (2048, 1792))
        content["decode"] = [
            decode(sides, *cell, steps=options.steps, repetitions=options.repetitions) for cell in cells
        ]
    document(
        "against_transformers",
        model=sides.model.name,
        threads=sides.model.threads,
        device=sides.model.device_name,
        repetitions=options.repetitions,
        ratio="ours / theirs",
        **content,
    )


if __name__ == "__main__":
    main()
