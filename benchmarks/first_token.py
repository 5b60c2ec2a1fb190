"""How much sooner the first token comes when 2,048 of 2,176 prompt tokens are cached.

    OMP_NUM_THREADS=1 python benchmarks/first_token.py [--repetitions 5] [--threads 1]

Real weights (smollm2-135m), float32, one sequence. The prompt is computed whole, then its last 128 tokens over
the 2,048 cached ones, in turns. Also said: whether both give the same first token, and by how
much their logits differ at most.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from side_by_side import Took, document, in_turns, line, ratio, say, took

from radixbench.engine.batch import Batch, Entry, SamplingParams
from radixbench.model.load import load_model
from radixbench.model.runner import TorchRunner
from radixbench.scenario.model import ModelSpec

PROMPT, CACHED = 2176, 2048


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--model", default="smollm2-135m")
    options = parser.parse_args()

    model = load_model(ModelSpec(options.model), threads=options.threads, on_note=say)
    runner = TorchRunner(model, pool_slots=PROMPT)
    prompt = np.random.default_rng(0).integers(17, model.vocab_size, PROMPT, dtype=np.int32)
    slots = np.arange(PROMPT, dtype=np.int32)

    def batch(cached: int) -> Batch:
        entry = Entry(0, prompt[cached:], slots, cached, True, 0, SamplingParams(max_tokens=1))
        return Batch("prefill", (entry,))

    logits: dict[int, torch.Tensor] = {}

    def measure(cached: int) -> Took:
        time, logits[cached] = took(lambda: runner.logits(batch(cached))[0])
        return time

    measure(0)
    measure(CACHED)
    whole, cached = in_turns(lambda: measure(0), lambda: measure(CACHED), options.repetitions)
    found = ratio(whole, cached)
    line("whole / cached", found)
    apart = float((logits[0] - logits[CACHED]).abs().max())
    same = int(logits[0].argmax()) == int(logits[CACHED].argmax())
    say(f"same first token: {same}; largest logit difference {apart:.2e}")
    document(
        "first_token",
        model=model.name,
        threads=model.threads,
        device=model.device_name,
        prompt_tokens=PROMPT,
        cached_tokens=CACHED,
        repetitions=options.repetitions,
        whole_over_cached=found,
        same_first_token=same,
        largest_logit_difference=apart,
    )


if __name__ == "__main__":
    main()
