"""Which models the engine can serve, told from their configuration before weights are loaded.

The engine keeps K and V of every token and nothing else, and hands a cached prefix to anyone who shares
it. That needs a decoder whose every layer attends to all earlier tokens. A sliding window would have
to forget, a recurrent state can't be cut at a prefix, an encoder has no prefix at all.
"""

from __future__ import annotations

from typing import Any

from transformers import MODEL_FOR_CAUSAL_LM_MAPPING

from radixbench.errors import ModelError

_REMEDY = "the bundled engine serves decoder-only models with full attention in every layer"


def refuse_unless_servable(name: str, config: Any) -> None:
    """Raise ``ModelError`` with the reason if the engine can't serve a model of this configuration."""
    reason = _reason(config)
    if reason is not None:
        raise ModelError(f"model {name!r} can't be served: {reason}", remedy=_REMEDY)


def _reason(config: Any) -> str | None:
    text = config.get_text_config(decoder=True)
    if getattr(config, "is_encoder_decoder", False):
        return "it is an encoder-decoder"
    model_class = MODEL_FOR_CAUSAL_LM_MAPPING.get(type(config), None)
    remote = "AutoModelForCausalLM" in (getattr(config, "auto_map", None) or {})
    if model_class is None and not remote:
        return f"its type {config.model_type!r} has no causal language model in transformers"
    if isinstance(model_class, (list, tuple)):
        model_class = model_class[0]
    if getattr(model_class, "_is_stateful", False):
        return "it keeps a recurrent state beside attention"
    return _attention_reason(text)


def _attention_reason(config: Any) -> str | None:
    other = sorted(set(getattr(config, "layer_types", None) or ()) - {"full_attention"})
    if other:
        return f"some of its layers are {', '.join(other).replace('_', ' ')}"
    window = getattr(config, "sliding_window", None)
    uses_window = getattr(config, "use_sliding_window", True) and not getattr(config, "layer_types", None)
    if window is not None and uses_window and window < config.max_position_embeddings:
        return f"it attends through a sliding window of {window} tokens"
    if getattr(config, "attn_logit_softcapping", None) is not None:
        return "it caps attention scores (soft-capping)"
    if not getattr(config, "is_causal", True):
        return "its attention isn't causal"
    return None
