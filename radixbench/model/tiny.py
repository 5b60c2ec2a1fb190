"""``tiny``: a built-in Llama with seeded random weights, nothing to download.

Random weights of the usual size would answer from the last token alone. Here the projections are scaled
so that what attention gathers over the whole context outweighs the residual stream: zero one cached
slot and the greedy output changes, while float32 noise stays orders of magnitude below the
gaps between logits, so that the same tokens come out however a prompt is cut into chunks.
Weights come from numpy's PCG64, so they are the same bits on every machine.
"""

from __future__ import annotations

import hashlib

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from radixbench.model.tiny_tokenizer import VOCAB_SIZE

CONTEXT_LEN = 16_384

_SEED = 7
_GAINS = {
    "q_proj": 0.3,  # with k: nearly uniform attention, so that no slot is out of sight
    "k_proj": 0.3,
    "0.self_attn.o_proj": 100.0,  # a mean over n tokens has shrunk by the root of n
    "1.self_attn.o_proj": 10.0,
    "gate_proj": 4.0,  # a hard gate: small differences grow
    "down_proj": 100.0,
}
"""Part of a parameter's name, and what its matrix is multiplied by; everything else has gain 1."""


def config() -> LlamaConfig:
    """Two layers of width 128, 4 query heads over 2 KV heads: 1 KiB of KV per token in float32."""
    return LlamaConfig(
        vocab_size=VOCAB_SIZE,
        hidden_size=128,
        intermediate_size=512,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=CONTEXT_LEN,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
    )


def fill(model: torch.nn.Module) -> None:
    """Give every parameter its seeded value: norms 1, matrices normal with gain / sqrt(columns), embeddings 1."""
    rng = np.random.Generator(np.random.PCG64(_SEED))
    for name, parameter in sorted(model.named_parameters()):
        if parameter.dim() == 1:
            parameter.data.fill_(1.0)
            continue
        gain = next((gain for part, gain in _GAINS.items() if part in name), 1.0)
        fan_in = 1 if "embed_tokens" in name else parameter.shape[1]
        draw = rng.standard_normal(tuple(parameter.shape), dtype=np.float32)
        parameter.data.copy_(torch.from_numpy(draw * np.float32(gain / fan_in**0.5)))


def build(attention: str) -> LlamaForCausalLM:
    """The model in float32 on the CPU, its attention the registered one of that name."""
    model = LlamaForCausalLM._from_config(config(), attn_implementation=attention)
    fill(model)
    return model


def weights_sha256(model: torch.nn.Module) -> str:
    """SHA-256 over names and float32 bytes of all parameters, in hex."""
    sha = hashlib.sha256()
    for name, parameter in sorted(model.named_parameters()):
        sha.update(name.encode())
        sha.update(parameter.detach().float().cpu().numpy().tobytes())
    return sha.hexdigest()
