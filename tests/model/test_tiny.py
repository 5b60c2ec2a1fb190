"""The built-in model: its answers depend on the whole context and on nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from radixbench.clock import MonotonicClock
from radixbench.engine.batch import Batch, SamplingParams
from radixbench.engine.config import EngineConfig
from radixbench.engine.engine import Engine, GenerationRequest
from radixbench.model.load import load_model
from radixbench.model.loaded import LoadedModel
from radixbench.model.runner import TorchRunner
from tests.model.builders import entry, spec


def _continued(
    runner: TorchRunner, prompt: list[int], slots: list[int], cached: int, count: int
) -> list[int]:
    """Greedy answer of ``count`` tokens to a prompt of which ``cached`` tokens are in the pool."""
    tokens, known = list(prompt), cached
    for _ in range(count):
        (token,) = runner.run(
            Batch("prefill" if known < len(prompt) else "decode", (entry(tokens, slots, cached=known),))
        )
        assert token is not None
        known = len(tokens)
        tokens.append(token)
    return tokens[len(prompt) :]


@pytest.mark.parametrize("length", [64, 700])
@pytest.mark.parametrize("place", [0.0, 0.3, 0.9])
def test_zeroing_one_cached_slot_changes_the_answer(tiny: LoadedModel, length: int, place: float) -> None:
    """Wherever the slot lies in the context, without it the greedy answer is another one."""
    runner = TorchRunner(tiny, pool_slots=1024)
    prompt = np.random.default_rng(3).integers(0, 8192, length).tolist()
    slots = list(range(100, 1000))
    right = _continued(runner, prompt, slots, 0, 32)
    assert _continued(runner, prompt, slots, length - 1, 32) == right
    runner.pool.clear(slots[int(place * length)])
    assert _continued(runner, prompt, slots, length - 1, 32) != right


def _mixed_prompts(count: int) -> list[tuple[int, ...]]:
    """Short and long, alone and sharing prefixes of three lengths."""
    rng = np.random.default_rng(11)
    prefixes = [tuple(rng.integers(0, 8192, length).tolist()) for length in (48, 200, 450)]
    prompts = []
    for index in range(count):
        own = tuple(rng.integers(0, 8192, int(rng.integers(1, 90))).tolist())
        prompts.append((prefixes[index % 4] + own) if index % 4 < 3 else own)
    return prompts


def _answers(model: LoadedModel, prompts: list[tuple[int, ...]], **settings: object) -> dict[str, list[int]]:
    config = EngineConfig(
        max_total_tokens=4096, context_len=2048, chunked_prefill_size=256, max_running_requests=12, **settings
    )
    runner = TorchRunner(model, pool_slots=4096)
    engine = Engine(config, runner, MonotonicClock())
    for index, prompt in enumerate(prompts):
        engine.add(GenerationRequest(f"r{index}", prompt, SamplingParams(max_tokens=12)))
    answers: dict[str, list[int]] = {}
    while (result := engine.step()) is not None:
        for token in result.tokens:
            answers.setdefault(token.rid, []).append(token.token_id)
    cached = engine.stats().cached_tokens_total
    assert (cached > 5_000) if settings.get("radix_cache", True) else (cached == 0)
    return answers


@pytest.fixture(scope="module")
def uncached(tiny: LoadedModel) -> dict[str, list[int]]:
    """What 64 mixed prompts are answered without a cache."""
    return _answers(tiny, _mixed_prompts(64), radix_cache=False)


@pytest.mark.parametrize("page_size", [1, 16])
@pytest.mark.parametrize("policy", ["fcfs", "lpm"])
def test_the_cache_changes_no_token(
    tiny: LoadedModel, uncached: dict[str, list[int]], page_size: int, policy: str
) -> None:
    """64 mixed prompts get the same greedy answers with the cache as without, in any order of service."""
    cached = _answers(tiny, _mixed_prompts(64), page_size=page_size, schedule_policy=policy)
    assert cached == uncached
    assert all(len(answer) == 12 for answer in cached.values())


def test_the_same_weights_everywhere(tiny: LoadedModel) -> None:
    """The weights are pinned bit by bit: captures of two machines are of one model."""
    assert load_model(spec("tiny"), threads=1).weights_sha256 == tiny.weights_sha256
    assert tiny.weights_sha256 == "fd0b9692eed0a6dd5c795a8a120cf12abb3042b32a1fa12dc02c1ab1d11da97a"


def test_facts(tiny: LoadedModel) -> None:
    """What a capture records of tiny."""
    assert (tiny.name, tiny.random_weights, tiny.context_len, tiny.vocab_size) == (
        "tiny",
        True,
        16_384,
        8_192,
    )
    assert tiny.kv_bytes_per_token == 2 * 2 * 2 * 32 * 4
    assert (tiny.special_token_ids, tiny.eos_token_ids) == (frozenset(), frozenset())
