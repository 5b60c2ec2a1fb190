"""Decoding without a kernel for runs: the same answers, in a number of calls that rows don't change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from radixbench.engine.batch import Batch
from radixbench.model.loaded import LoadedModel
from radixbench.model.padded_rows import _alike
from radixbench.model.plan import plan_step
from radixbench.model.runner import TorchRunner
from tests.model.builders import entry

_VIEWS = {"view", "transpose", "slice", "select", "unsqueeze", "expand", "alias", "t", "detach"}


class _Calls(TorchDispatchMode):
    """Counts the operators that compute something."""

    def __init__(self) -> None:
        super().__init__()
        self.count: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count[func.overloadpacket.__name__] += 1
        return func(*args, **(kwargs or {}))

    def total(self) -> int:
        """All of them, views left out."""
        return sum(count for name, count in self.count.items() if name not in _VIEWS)


def _decode(lengths: Sequence[int]) -> Batch:
    rng = np.random.default_rng(5)
    slots = rng.permutation(8192)
    ends = np.cumsum(lengths)
    return Batch(
        "decode",
        tuple(
            entry(
                rng.integers(0, 8192, length).tolist(), slots[end - length : end].tolist(), cached=length - 1
            )
            for length, end in zip(lengths, ends, strict=True)
        ),
    )


def _calls(model: LoadedModel, batch: Batch) -> int:
    runner = TorchRunner(model, pool_slots=8192, in_place=False)
    runner.pool.keys.zero_()
    runner.pool.values.zero_()
    with _Calls() as calls:
        runner.run(batch)
    return calls.total()


def test_calls_of_a_decode_step(tiny: LoadedModel) -> None:
    """Eight rows of similar length cost as many calls as two."""
    two, eight = _calls(tiny, _decode([500, 490])), _calls(tiny, _decode([500 - 7 * i for i in range(8)]))
    assert eight == two


@pytest.mark.parametrize(
    ("lengths", "starts"),
    [
        ([5], [0]),
        ([100, 60, 50], [0]),
        ([100, 50, 49, 25, 24, 1], [0, 2, 4, 5]),
        ([4000, 3, 2, 1], [0, 1, 3]),
    ],
)
def test_rows_of_similar_length_go_together(lengths: list[int], starts: list[int]) -> None:
    """No row is padded to more than twice its length, and every row is in one group."""
    groups = list(_alike([np.arange(length, dtype=np.int32) for length in lengths]))
    assert [group.start for group in groups] == starts
    assert [group.stop for group in groups] == [*starts[1:], len(lengths)]


@pytest.mark.parametrize("in_place", [True, False], ids=["runs", "gathered"])
def test_rows_of_any_length(tiny: LoadedModel, in_place: bool) -> None:
    """Each row answers as if it were alone, whatever the lengths and the order of the others."""
    lengths = [3, 700, 64, 65, 300, 1, 129]
    batch = _decode(lengths)
    runner = TorchRunner(tiny, pool_slots=8192, in_place=in_place)
    runner.pool.keys.fill_(torch.nan)
    runner.pool.values.fill_(torch.nan)
    generator = torch.Generator().manual_seed(0)
    written = torch.from_numpy(np.concatenate([item.slots for item in batch.entries]).astype(np.int64))
    for store in (runner.pool.keys, runner.pool.values):
        store[:, :, written] = torch.randn(store[:, :, written].shape, generator=generator)
    together = runner.logits(batch)
    for row, item in zip(together, batch.entries, strict=True):
        (alone,) = runner.logits(Batch("decode", (item,)))
        assert torch.allclose(row, alone, atol=1e-3)


def test_the_longest_row_first() -> None:
    """What is padded is planned by falling length, so that similar lengths are neighbours."""
    plan = plan_step(_decode([3, 700, 64]), in_place=False)
    assert plan.rows is not None
    assert plan.order == (1, 2, 0)
    assert [len(slots) for slots in plan.rows.loose] == [700, 64, 3]


def test_a_step_asks_no_tensor_for_its_value(tiny: LoadedModel) -> None:
    """Between upload and answer nothing is read back: on a GPU each such question would wait for it."""
    runner = TorchRunner(tiny, pool_slots=8192, in_place=False)
    with _Calls() as calls:
        runner.logits(_decode([500, 490]))
    assert not calls.count.keys() & {"is_nonzero", "item", "_local_scalar_dense", "nonzero"}
