"""The look at a loaded model tells rounding from sequences that reach into each other."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from radixbench.errors import ModelError
from radixbench.model.loaded import LoadedModel
from radixbench.model.probe import _difference, probe

CPU = torch.device("cpu")


def test_rounding_over_a_large_vocabulary() -> None:
    """The worst of 150,000 tokens may be off by what half precision rounds; all of them together are near."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(150_000, generator=generator)
    rounded = logits + 0.04 * torch.randn(150_000, generator=generator)
    assert (rounded - logits).abs().max() > 0.15
    assert _difference(rounded, logits, 0.15) is None


@pytest.mark.parametrize("apart", [0.2, torch.nan])
def test_what_is_no_rounding(apart: float) -> None:
    """Answers that are plainly others, or no numbers, are told apart."""
    logits = torch.randn(1000, generator=torch.Generator().manual_seed(0))
    assert "change each other's answers" in str(_difference(logits + apart, logits, 0.15))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_state_beside_attention(tiny: LoadedModel, dtype: torch.dtype) -> None:
    """A layer that mixes in what came before in the packed row connects sequences: refused."""

    def mix(_layer: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (inputs[0] + 0.5 * inputs[0].cumsum(dim=1), *inputs[1:])

    module = tiny.module
    hook = module.model.layers[0].mlp.register_forward_pre_hook(mix)
    try:
        with pytest.raises(ModelError, match="change each other's answers"):
            probe("mixing", module, device=CPU, dtype=dtype)
    finally:
        hook.remove()
    assert probe("tiny", module, device=CPU, dtype=dtype).layers == 2
