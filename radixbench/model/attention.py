"""The seam between transformers' models and the KV pool.

transformers asks for attention by name. Under ``NAME`` it finds ``pool_attention``, which hands the layer's
q, k and v to the ``Step`` that the forward pass runs for. Masks of that name there are none, so transformers
makes none, nor asks a GPU in the middle of a step whether the row is packed: the step knows who may
see whom. So any decoder-only model with full attention runs on the pool without model code of ours.
The step is bound to the context of the call: not every model passes keywords on to its attention.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from torch import Tensor, nn
from transformers import AttentionInterface

NAME = "radixbench"


class Step(Protocol):
    """Attends for all sequences of one forward pass."""

    def attend(
        self,
        layer: int,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        scale: float,
        extras: Mapping[str, object],
    ) -> Tensor:
        """From q ``[1, query_head, n, dim]`` and k, v ``[1, kv_head, n, dim]`` of the n packed tokens
        (positions already applied) the outcome ``[1, n, query_head, value_dim]``.

        ``extras`` is whatever else the model asks of its attention.
        """
        ...


_step: ContextVar[Step] = ContextVar("step")


@contextmanager
def attending(step: Step) -> Iterator[None]:
    """Forward passes within attend through ``step``."""
    token = _step.set(step)
    try:
        yield
    finally:
        _step.reset(token)


def pool_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **extras: object,
) -> tuple[Tensor, None]:
    """What transformers calls in place of its own attention."""
    del dropout  # inference only
    if attention_mask is not None:
        extras["attention_mask"] = attention_mask
    if not getattr(module, "is_causal", True) or extras.pop("is_causal", True) is False:
        extras["bidirectional"] = True
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    layer: int = module.layer_idx  # type: ignore[assignment]  # torch types attributes of modules as tensors
    return _step.get().attend(layer, query, key, value, scale, extras), None


def register() -> None:
    """Make ``NAME`` known to transformers; idempotent."""
    AttentionInterface.register(NAME, pool_attention)
