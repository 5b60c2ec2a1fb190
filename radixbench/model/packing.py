"""Linear layers whose weights lie the way the processor's matrix kernels want them.

A plain linear layer in float32 has its weights re-ordered anew in every call; for the few rows of a decode
step that costs a quarter of the time. oneDNN keeps weights re-ordered once. torch offers that through
the operators its compiler uses; where they are missing the layers stay as they are.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

_ROWS_HINT = 128
"""How many rows the order is tuned for; measured as good from 3 rows to thousands."""


class PackedLinear(nn.Module):
    """``nn.Linear`` over packed weights, for inference on the CPU in float32."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.in_features = linear.in_features
        self.out_features = linear.out_features
        self.bias = None if linear.bias is None else linear.bias.detach()
        self._packed = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), _ROWS_HINT)

    @property
    def weight(self) -> Tensor:
        """The plain weights, unpacked at each call: for models that look at them."""
        plain: Tensor = self._packed.to_dense()
        return plain

    def forward(self, rows: Tensor) -> Tensor:
        """``[..., in_features]`` to ``[..., out_features]``."""
        product: Tensor = torch.ops.mkldnn._linear_pointwise(rows, self._packed, self.bias, "none", [], "")
        return product


def can_pack() -> bool:
    """Whether this torch and processor have packed linear layers."""
    return bool(torch.backends.mkldnn.enabled) and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def pack_linears(module: nn.Module) -> None:
    """Replace every plain float32 linear layer inside ``module``; subclasses of it stay."""
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is nn.Linear and child.weight.dtype == torch.float32:
                setattr(parent, name, PackedLinear(child))
