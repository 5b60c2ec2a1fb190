"""Small real models and hand-made batches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from radixbench.engine.batch import Entry, SamplingParams
from radixbench.scenario.model import ModelSpec

VOCAB = 300
_SMALL: dict[str, Any] = {
    "vocab_size": VOCAB,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": None,
}
ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", {}),
    "llama-one-kv-head": ("LlamaConfig", {"num_key_value_heads": 1, "tie_word_embeddings": True}),
    "qwen2": ("Qwen2Config", {"sliding_window": 16, "use_sliding_window": False}),
    "qwen3": ("Qwen3Config", {"head_dim": 24}),
    "mistral": ("MistralConfig", {"sliding_window": None}),
    "gemma": ("GemmaConfig", {"head_dim": 32}),
    "phi": ("PhiConfig", {"num_key_value_heads": 4}),
    "gpt-neox": ("GPTNeoXConfig", {}),
    "mixtral": ("MixtralConfig", {"num_local_experts": 4, "sliding_window": None}),
    "nemotron": ("NemotronConfig", {}),  # passes no keywords on to its attention
    "deepseek-v3": (  # values narrower than keys
        "DeepseekV3Config",
        {
            "num_key_value_heads": 4,
            "q_lora_rank": 16,
            "kv_lora_rank": 16,
            "qk_rope_head_dim": 8,
            "qk_nope_head_dim": 8,
            "v_head_dim": 12,
            "n_routed_experts": 4,
            "n_group": 1,
            "topk_group": 1,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 16,
            "first_k_dense_replace": 1,
        },
    ),
    "opt": ("OPTConfig", {"ffn_dim": 96, "word_embed_proj_dim": 64, "do_layer_norm_before": True}),
    "gpt2": ("GPT2Config", {"n_embd": 64, "n_layer": 3, "n_head": 4, "n_positions": 512}),
}


def small_model(architecture: str, seed: int = 0) -> Any:
    """A random model of the architecture, with plain transformers attention."""
    config_name, changes = ARCHITECTURES[architecture]
    config = getattr(transformers, config_name)(**{**_SMALL, **changes})
    torch.manual_seed(seed)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    with torch.no_grad():
        for parameter in model.parameters():  # the usual 0.02 would hide what attention does
            parameter.mul_(4.0 if parameter.dim() > 1 else 1.0)
    return model.eval()


def small_tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE without merges: one token per byte, two marks before them."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {"<s>": 0, "</s>": 1, **{letter: index + 2 for index, letter in enumerate(alphabet)}}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")


def save(model: Any, directory: Path) -> Path:
    """A model directory as a user would have it."""
    model.save_pretrained(directory)
    small_tokenizer().save_pretrained(directory)
    return directory


def spec(name: str | Path, **changes: Any) -> ModelSpec:
    """A request for a model on the CPU."""
    return ModelSpec(name=str(name), **{"device": "cpu", "dtype": "float32", **changes})


def entry(
    token_ids: Sequence[int],
    slots: Sequence[int],
    *,
    cached: int = 0,
    wants_token: bool = True,
    key: int = 0,
    output_index: int = 0,
    sampling: SamplingParams | None = None,
) -> Entry:
    """One sequence's part: all its tokens and slots so far, of which ``cached`` are computed."""
    ids, places = np.asarray(token_ids, dtype=np.int32), np.asarray(slots, dtype=np.int32)
    params = sampling or SamplingParams(max_tokens=1)
    return Entry(key, ids[cached:], places[: len(ids)], cached, wants_token, output_index, params)


def plain_logits(model: Any, token_ids: Sequence[int]) -> torch.Tensor:
    """What plain transformers says after the last token, computed whole."""
    with torch.inference_mode():
        logits: torch.Tensor = model(torch.tensor([list(token_ids)])).logits[0, -1]
    return logits
