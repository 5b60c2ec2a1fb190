"""What only a GPU can show: its kernels are the fused ones, its answers the CPU's, and nothing waits midway."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from radixbench.engine.batch import Batch, Entry
from radixbench.model.load import load_model
from radixbench.model.plan import plan_step
from radixbench.model.runner import TorchRunner
from tests.model.builders import ARCHITECTURES, VOCAB, entry, plain_logits, save, small_model, spec

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no NVIDIA GPU"),
]

POOL = 12_288
PREFIX = 6000


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two layers with the heads of Qwen3-8B: 32 over 8, each 128 wide."""
    config = transformers.Qwen3Config(
        vocab_size=VOCAB,
        hidden_size=512,
        intermediate_size=512,
        num_hidden_layers=2,
        num_attention_heads=32,
        num_key_value_heads=8,
        head_dim=128,
        max_position_embeddings=POOL,
        use_sliding_window=False,
    )
    torch.manual_seed(0)
    return save(transformers.AutoModelForCausalLM.from_config(config), tmp_path_factory.mktemp("qwen3"))


@pytest.fixture
def runner(directory: Path, request: pytest.FixtureRequest) -> TorchRunner:
    """On the GPU, in bfloat16 unless a test says otherwise."""
    dtype = getattr(request, "param", "bfloat16")
    return TorchRunner(load_model(spec(directory, device="cuda", dtype=dtype)), pool_slots=POOL)


@pytest.fixture
def only_fused() -> Iterator[None]:
    """Attention fails where it would fall back on writing all scores to memory."""
    torch.backends.cuda.enable_math_sdp(False)
    try:
        yield
    finally:
        torch.backends.cuda.enable_math_sdp(True)


def _prompt(length: int, seed: int = 0) -> list[int]:
    return np.random.default_rng(seed).integers(2, VOCAB, length).tolist()


def _over_a_prefix(new: int, *, wants_token: bool = True) -> Entry:
    slots = [*range(PREFIX), *range(PREFIX + 100, PREFIX + 100 + new)]
    return entry(_prompt(PREFIX + new), slots, cached=PREFIX, wants_token=wants_token)


def _decode(lengths: tuple[int, ...]) -> Batch:
    """Rows that share the start of the prefix, each with one slot of its own."""
    return Batch(
        "decode",
        tuple(
            entry(_prompt(length), [*range(length - 1), PREFIX + place], cached=length - 1)
            for place, length in enumerate(lengths)
        ),
    )


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_agrees_with_the_cpu(architecture: str, tmp_path: Path) -> None:
    """Whole, chunked, over a prefix and decoded beside others, in float32."""
    plain = small_model(architecture)
    model = load_model(spec(save(plain, tmp_path), device="cuda"))
    runner = TorchRunner(model, pool_slots=1024)
    runner.pool.keys.fill_(torch.nan)
    runner.pool.values.fill_(torch.nan)
    first, second = _prompt(300), _prompt(120, seed=1)
    slots = np.random.default_rng(2).permutation(1024).tolist()
    steps = (
        Batch("prefill", (entry(first[:150], slots), entry(second, slots[500:]))),
        Batch("prefill", (entry(first, slots, cached=150),)),
        Batch(
            "decode",
            (entry([*second, 7], slots[500:], cached=120), entry([*first, 7], slots, cached=300)),
        ),
    )
    sequences = ((first[:150], second), (first,), ([*second, 7], [*first, 7]))
    for batch, expected in zip(steps, sequences, strict=True):
        for row, sequence in zip(runner.logits(batch).cpu(), expected, strict=True):
            assert torch.allclose(row, plain_logits(plain, sequence), atol=1e-3)


@pytest.mark.parametrize("runner", ["bfloat16", "float16", "float32"], indirect=True)
@pytest.mark.usefixtures("only_fused")
def test_fused_kernels_take_every_step(runner: TorchRunner) -> None:
    """A prompt, a span over a prefix, and rows of several lengths: none needs the scores in memory."""
    runner.run(Batch("prefill", (entry(_prompt(PREFIX), range(PREFIX)),)))
    for batch in (Batch("prefill", (_over_a_prefix(129),)), _decode((5999, 5000, 1000, 65, 1))):
        assert torch.isfinite(runner.logits(batch)).all()


def test_memory_of_a_long_prefix(runner: TorchRunner) -> None:
    """2,000 tokens over 6,000 take the gathered K and V, not a score for every pair and head."""
    runner.run(Batch("prefill", (entry(_prompt(PREFIX), range(PREFIX)),)))
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    runner.run(Batch("prefill", (_over_a_prefix(2000),)))
    scores = 32 * 2000 * (PREFIX + 2000) * 2
    assert torch.cuda.max_memory_allocated() - before < scores / 3


def test_nothing_waits_in_the_middle_of_a_step(runner: TorchRunner) -> None:
    """From upload to logits the host never waits for the GPU."""
    batches = (Batch("prefill", (_over_a_prefix(100), _over_a_prefix(1))), _decode((3000, 2900, 40)))
    runner.run(Batch("prefill", (entry(_prompt(PREFIX), range(PREFIX)),)))
    for batch in batches:
        runner.run(batch)
    torch.cuda.set_sync_debug_mode("error")
    try:
        for batch in batches:
            runner._forward(plan_step(batch, in_place=False))
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_a_step_without_answers_is_over_when_it_returns(runner: TorchRunner) -> None:
    """A chunk in the middle of a prompt is computed, not merely queued."""
    assert runner.run(Batch("prefill", (entry(_prompt(PREFIX), range(PREFIX), wants_token=False),))) == [None]
    assert torch.cuda.current_stream().query()


def test_weights_go_straight_to_the_gpu(runner: TorchRunner) -> None:
    """No parameter or buffer stays behind on the host."""
    module = runner.model.module
    assert {tensor.device.type for tensor in (*module.parameters(), *module.buffers())} == {"cuda"}
