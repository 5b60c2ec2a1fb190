"""Whether the cache changes a single greedy token of a real model.

    OMP_NUM_THREADS=1 python benchmarks/output_equality.py [--prompts 64] [--output-len 24] [--threads 1]

64 mixed prompts (short and long questions, four shared system prompts, follow-ups that hold an earlier prompt
whole) go through the real engine twice, with the cache and without; float32, smollm2-135m, chat
template. Prints every answer that differs and where, and one JSON document last.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

import numpy as np
from side_by_side import Took, document, say, took

from radixbench.clock import MonotonicClock
from radixbench.engine.batch import SamplingParams
from radixbench.engine.config import EngineConfig
from radixbench.engine.engine import Engine, GenerationRequest
from radixbench.model.load import load_model
from radixbench.model.loaded import LoadedModel
from radixbench.model.runner import TorchRunner
from radixbench.scenario.model import ModelSpec

TOPICS = (
    "the capital of France",
    "how a radix tree works",
    "why the sky is blue",
    "the number after 41",
    "a rhyme on winter",
    "boiling an egg",
    "the moons of Jupiter",
    "a sorting algorithm",
)
SYSTEMS = (
    "You are brief.",
    "You are a patient teacher who explains step by step and always gives an example. " * 8,
    "You answer as a pirate would, with much salt and thunder, and you never break character. " * 16,
    "You are a librarian. " * 60,
)
POOL = 16_384


def mixed_prompts(model: LoadedModel, count: int) -> list[tuple[int, ...]]:
    """Chats over shared system prompts; every eighth is raw random tokens."""
    rng = np.random.default_rng(5)
    prompts: list[tuple[int, ...]] = []
    for index in range(count):
        if index % 8 == 7:
            length = int(rng.integers(1, 600))
            prompts.append(tuple(rng.integers(17, model.vocab_size, length).tolist()))
            continue
        chat = [
            {"role": "system", "content": SYSTEMS[int(rng.integers(4))]},
            {"role": "user", "content": f"Tell me about {TOPICS[int(rng.integers(8))]}."},
        ]
        if index % 3 == 2:
            chat += [
                {"role": "assistant", "content": "With pleasure. " * int(rng.integers(1, 20))},
                {"role": "user", "content": "Go on."},
            ]
        prompts.append(tuple(model.tokenizer.render_chat(chat)))
    return prompts


def answers(
    model: LoadedModel, prompts: list[tuple[int, ...]], output_len: int, *, cache: bool
) -> tuple[dict[int, list[int]], int]:
    """Greedy answers by prompt, and how many prompt tokens came from the cache."""
    config = EngineConfig(
        max_total_tokens=POOL, context_len=model.context_len, radix_cache=cache, max_running_requests=8
    )
    engine = Engine(config, TorchRunner(model, pool_slots=POOL), MonotonicClock())
    for index, prompt in enumerate(prompts):
        sampling = SamplingParams(max_tokens=output_len, ignore_eos=True)
        engine.add(GenerationRequest(str(index), prompt, sampling))
    found: dict[int, list[int]] = {}
    while (result := engine.step()) is not None:
        for token in result.tokens:
            found.setdefault(int(token.rid), []).append(token.token_id)
    return found, engine.stats().cached_tokens_total


def differences(on: dict[int, list[int]], off: dict[int, list[int]]) -> list[dict[str, int]]:
    """The prompts that were answered otherwise, and from which token on."""
    found = []
    for index in sorted(on):
        pairs = zip(on[index], off[index], strict=True)
        at = next((place for place, (a, b) in enumerate(pairs) if a != b), None)
        if at is not None:
            found.append({"prompt": index, "first_divergence": at})
            say(f"prompt {index} differs from token {at} on")
    return found


def main() -> int:
    """Compare and print; 1 if an answer differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prompts", type=int, default=64)
    parser.add_argument("--output-len", type=int, default=24)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--model", default="smollm2-135m")
    options = parser.parse_args()
    model = load_model(ModelSpec(options.model), threads=options.threads, on_note=say)
    prompts = mixed_prompts(model, options.prompts)
    arms: dict[str, tuple[Took, dict[int, list[int]], int]] = {}
    for arm in ("on", "off"):
        run = partial(answers, model, prompts, options.output_len, cache=arm == "on")
        time, (found, cached) = took(run)
        arms[arm] = (time, found, cached)
        say(f"cache {arm}: {cached} of {sum(map(len, prompts))} prompt tokens cached, {time.cpu:.1f} s CPU")
    differing = differences(arms["on"][1], arms["off"][1])
    say(f"{len(prompts) - len(differing)} of {len(prompts)} answers identical")
    document(
        "output_equality",
        model=model.name,
        threads=model.threads,
        device=model.device_name,
        prompts=len(prompts),
        prompt_tokens=sum(map(len, prompts)),
        cached_tokens=arms["on"][2],
        output_tokens=len(prompts) * options.output_len,
        identical=len(prompts) - len(differing),
        differing=differing,
        cpu_s={arm: round(arms[arm][0].cpu, 2) for arm in arms},
    )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
