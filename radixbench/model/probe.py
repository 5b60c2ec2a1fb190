"""A look at a loaded model at work: the shape of its K and V, and proof that it can be served.

Configurations don't tell everything. Two short sequences are run packed in one row and the second one alone,
by an attention that reads nothing but what it is given. If the packed one answers otherwise,
something beside attention connects tokens (a recurrent state, positions that ignore what they are told).
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from radixbench.errors import ModelError
from radixbench.model.attention import attending
from radixbench.model.kernels import masked
from radixbench.model.kv_pool import KVGeometry

_FIRST, _SECOND = (3, 5, 7, 11, 13), (17, 19, 23, 29)
_TOLERANCE = {torch.float32: 1e-3, torch.bfloat16: 0.15, torch.float16: 0.05}
"""Root mean square of what may differ, by the spread of the logits. The largest of 100,000 differences would
measure rounding: a GPU sums 4 rows and 9 rows in different orders, which alone comes to 0.02 of the spread in
bfloat16, to 0.1 at the worst token.
"""
_HARMLESS = frozenset({"position_ids", "use_cache", "cache", "past_key_values", "cache_position"})


def probe(name: str, module: nn.Module, *, device: torch.device, dtype: torch.dtype) -> KVGeometry:
    """The geometry of the model's KV. Raises ``ModelError`` with the reason if it can't be served."""
    packed = _Probe((len(_FIRST), len(_SECOND)))
    try:
        together = _logits(module, (_FIRST, _SECOND), packed, device)
        by_itself = _logits(module, (_SECOND,), _Probe((len(_SECOND),)), device)
        reason = packed.reason or _difference(together, by_itself, _TOLERANCE[dtype])
    except Exception as error:  # noqa: BLE001  a foreign model's code fails in its own ways
        reason = packed.reason or f"computing with it fails: {type(error).__name__}: {error}".splitlines()[0]
    if reason is not None:
        raise ModelError(f"model {name!r} can't be served: {reason}", remedy="try another model")
    return packed.geometry(dtype)


def _difference(together: Tensor, by_itself: Tensor, tolerance: float) -> str | None:
    spread = float(by_itself.float().std()) or 1.0
    apart = float((together.float() - by_itself.float()).square().mean().sqrt()) / spread
    if apart <= tolerance:
        return None
    return f"sequences computed together change each other's answers (by {apart:.2g} of the logits' spread)"


@torch.inference_mode()
def _logits(
    module: nn.Module, sequences: tuple[tuple[int, ...], ...], step: _Probe, device: torch.device
) -> Tensor:
    ids = torch.tensor([[token for sequence in sequences for token in sequence]], device=device)
    positions = torch.tensor([[i for sequence in sequences for i in range(len(sequence))]], device=device)
    with attending(step):
        output = module(input_ids=ids, position_ids=positions, use_cache=False)
    logits: Tensor = output.logits[0, -1]
    return logits


class _Probe:
    """A step that attends within each sequence and takes note of what it is asked."""

    def __init__(self, lengths: tuple[int, ...]) -> None:
        self._lengths = lengths
        self._layers: dict[int, tuple[int, int, int, int]] = {}
        self._odd: str | None = None

    def attend(
        self,
        layer: int,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        scale: float,
        extras: Mapping[str, object],
    ) -> Tensor:
        """See ``attention.Step``."""
        self._layers[layer] = (query.shape[1], key.shape[1], key.shape[3], value.shape[3])
        wishes = {word: wish for word, wish in extras.items() if wish is not None and wish is not False}
        asked = sorted(wishes.keys() - _HARMLESS)
        if asked:
            self._odd = f"its attention asks for {', '.join(asked)}"
        parts = [torch.split(tensor, list(self._lengths), dim=2) for tensor in (query, key, value)]
        outcomes = [masked(q, k, v, scale=scale) for q, k, v in zip(*parts, strict=True)]
        return torch.cat(outcomes).unsqueeze(0)

    @property
    def reason(self) -> str | None:
        """Why the model can't be served, as far as its attention tells."""
        if not self._layers:
            return "its attention can't be replaced"
        if sorted(self._layers) != list(range(len(self._layers))):
            return "only some of its layers attend"
        if len(set(self._layers.values())) > 1:
            return "its layers differ in heads or head width"
        return self._odd

    def geometry(self, dtype: torch.dtype) -> KVGeometry:
        """What the layers have in common."""
        heads, kv_heads, key_dim, value_dim = next(iter(self._layers.values()))
        return KVGeometry(len(self._layers), heads, kv_heads, key_dim, value_dim, dtype.itemsize)
