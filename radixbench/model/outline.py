"""The size of a model from its configuration alone: what a token costs, before any weight is loaded.

Only what lies on this machine is read; a hub id that was never downloaded has no outline.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig

from radixbench.clock import Clock
from radixbench.model import catalog, tiny
from radixbench.units import NS_PER_S, Bytes, Tokens

_PRODUCTS = 24
_ROWS, _WIDTH = 256, 512


@dataclass(frozen=True, slots=True)
class Outline:
    """Shapes of a Llama-like decoder, and its context (``None``: not said). FLOPs count multiply and add as two."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    vocab: int
    context: Tokens | None = None

    @property
    def block_weights(self) -> int:
        """Weights of all layers: attention projections and a gated MLP."""
        attention = self.hidden * self.head_dim * 2 * (self.heads + self.kv_heads)
        return self.layers * (attention + 3 * self.hidden * self.intermediate)

    @property
    def weights(self) -> int:
        """All weights, embedding and head counted once each."""
        return self.block_weights + 2 * self.vocab * self.hidden

    def kv_values(self) -> int:
        """Numbers one token keeps in the KV pool."""
        return 2 * self.layers * self.kv_heads * self.head_dim

    def flops(self, cached: Tokens, new: Tokens) -> float:
        """What computing ``new`` tokens after ``cached`` ones takes, the head for the last one only."""
        pairs = new * cached + new * (new + 1) / 2
        attention = 4.0 * self.layers * self.heads * self.head_dim * pairs
        return 2.0 * self.block_weights * new + attention + 2.0 * self.vocab * self.hidden


def outline(name: str) -> Outline | None:
    """The outline of ``tiny``, of a fetched or local model; ``None`` where no configuration is at hand."""
    if name == "tiny":
        return _of(tiny.config())
    directory = next((e.where for e in catalog.list_models() if e.name == name), None) or Path(name)
    if not (directory / "config.json").is_file():
        return None
    try:
        return _of(AutoConfig.from_pretrained(directory, local_files_only=True))
    except (OSError, ValueError, KeyError, AttributeError):
        return None


def _of(config: Any) -> Outline:
    text = config.get_text_config(decoder=True)
    heads = text.num_attention_heads
    return Outline(
        layers=text.num_hidden_layers,
        hidden=text.hidden_size,
        heads=heads,
        kv_heads=getattr(text, "num_key_value_heads", None) or heads,
        head_dim=getattr(text, "head_dim", None) or text.hidden_size // heads,
        intermediate=text.intermediate_size,
        vocab=text.vocab_size,
        context=getattr(text, "max_position_embeddings", None),
    )


def cpu_flops_per_s(threads: int, clock: Clock) -> float:
    """What this machine's cores reach now in float32 matrix products of a small model's size."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        left, right = torch.ones(_ROWS, _WIDTH), torch.ones(_WIDTH, _WIDTH)
        torch.mm(left, right)
        start = clock.now_ns()
        for _ in range(_PRODUCTS):
            torch.mm(left, right)
        took = clock.now_ns() - start
    finally:
        torch.set_num_threads(before)
    return 2.0 * _ROWS * _WIDTH * _WIDTH * _PRODUCTS * NS_PER_S / max(took, 1)


def kv_bytes(outline: Outline, tokens: Tokens, bytes_per_value: int) -> Bytes:
    """What a pool of ``tokens`` takes."""
    return outline.kv_values() * tokens * bytes_per_value
