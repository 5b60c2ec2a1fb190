"""The pool runner against plain transformers, on several architectures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from radixbench.engine.batch import Batch
from radixbench.model.load import load_model
from radixbench.model.runner import TorchRunner
from tests.model.builders import ARCHITECTURES, VOCAB, entry, plain_logits, save, small_model, spec

IN_PLACE = pytest.mark.parametrize("in_place", [True, False], ids=["runs", "gathered"])


def _prepared(runner: TorchRunner) -> TorchRunner:
    """What no one wrote must never be read: it is NaN."""
    runner.pool.keys.fill_(torch.nan)
    runner.pool.values.fill_(torch.nan)
    return runner


@IN_PLACE
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_agrees_with_transformers(architecture: str, in_place: bool, tmp_path: Path) -> None:
    """Packed, chunked, cached, with shared and scattered slots, the logits are those of plain transformers."""
    plain = small_model(architecture)
    model = load_model(spec(save(plain, tmp_path)), threads=1)
    runner = _prepared(TorchRunner(model, pool_slots=2048, in_place=in_place))
    rng = np.random.default_rng(1)
    scattered = rng.permutation(np.arange(1000, 2048)).tolist()
    first, second = rng.integers(2, VOCAB, 300).tolist(), rng.integers(2, VOCAB, 120).tolist()
    third = first[:280] + rng.integers(2, VOCAB, 9).tolist()
    first_slots, second_slots = list(range(10, 400)), scattered[:200]
    third_slots = first_slots[:280] + scattered[200:240]

    chunk = Batch(
        "prefill",
        (
            entry(first[:150], first_slots, wants_token=False),
            entry(second, second_slots),
            entry(first[:1], scattered[300:]),
        ),
    )
    logits = runner.logits(chunk)
    assert torch.allclose(logits[0], plain_logits(plain, second), atol=1e-4)
    assert torch.allclose(logits[1], plain_logits(plain, first[:1]), atol=1e-4)

    rest = Batch("prefill", (entry(first, first_slots, cached=150), entry(second, second_slots, cached=119)))
    for row, sequence in zip(runner.logits(rest), (first, second), strict=True):
        assert torch.allclose(row, plain_logits(plain, sequence), atol=1e-4)

    assert torch.allclose(
        runner.logits(Batch("prefill", (entry(third, third_slots, cached=280),)))[0],
        plain_logits(plain, third),
        atol=1e-4,
    )
    sequences = [[*first, 7], [*second, 8], [*third, 9]]
    decode = Batch(
        "decode",
        tuple(
            entry(sequence, slots, cached=len(sequence) - 1)
            for sequence, slots in zip(sequences, (first_slots, second_slots, third_slots), strict=True)
        ),
    )
    for row, sequence in zip(runner.logits(decode), sequences, strict=True):
        assert torch.allclose(row, plain_logits(plain, sequence), atol=1e-4)


def test_answers_only_who_asks(tiny) -> None:
    """An entry that wants no token gets ``None``, the others their token in the batch's order."""
    runner = TorchRunner(tiny, pool_slots=256)
    alone = [runner.run(Batch("prefill", (entry([5, 6, n], range(3)),)))[0] for n in (1, 2)]
    batch = Batch(
        "prefill",
        (
            entry([5, 6, 1], range(10, 13)),
            entry([9, 9], range(20, 22), wants_token=False),
            entry([5, 6, 2], range(30, 33)),
        ),
    )
    assert runner.run(batch) == [alone[0], None, alone[1]]


def test_a_batch_in_which_nobody_asks(tiny) -> None:
    """A chunk in the middle of a prompt is computed and answers nothing."""
    runner = TorchRunner(tiny, pool_slots=64)
    assert runner.run(Batch("prefill", (entry([1, 2, 3], range(3), wants_token=False),))) == [None]


@IN_PLACE
def test_runs_in_half_precision(in_place: bool) -> None:
    """bfloat16, the GPU's default, computes through the same code and stays near float32."""
    half = load_model(spec("tiny", dtype="bfloat16"), threads=1)
    full = load_model(spec("tiny"), threads=1)
    prompt = np.random.default_rng(0).integers(0, 8192, 200).tolist()
    logits = []
    for model, place in ((full, True), (half, in_place)):
        runner = TorchRunner(model, pool_slots=256, in_place=place)
        runner.run(Batch("prefill", (entry(prompt[:150], range(256)),)))
        batch = Batch("prefill", (entry(prompt, range(256), cached=150),))
        logits.append(runner.logits(batch)[0].float())
    apart = (logits[0] - logits[1]).std() / logits[0].std()
    assert apart < 0.3
    assert torch.isfinite(logits[1]).all()
