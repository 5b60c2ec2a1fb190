"""From a name to a model, and every way in which that can fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers

from radixbench.errors import ModelError
from radixbench.model import tiny as built_in
from radixbench.model.device import settle_kernels
from radixbench.model.load import load_model
from radixbench.model.loaded import LoadedModel
from radixbench.model.packing import PackedLinear
from tests.model.builders import save, small_model, spec


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A small Llama as a user would have it."""
    return save(small_model("llama"), tmp_path / "llama")


def _refusal(name: str | Path, **changes: object) -> str:
    with pytest.raises(ModelError) as caught:
        load_model(spec(name, **changes), threads=1)
    text = str(caught.value)
    assert "\n" not in text
    assert caught.value.remedy
    return text


def test_a_directory(directory: Path) -> None:
    """A model directory loads with its facts."""
    model = load_model(spec(directory), threads=1)
    assert (model.context_len, model.vocab_size, model.random_weights) == (512, 300, False)
    assert model.kv_bytes_per_token == 3 * 2 * 2 * 16 * 4
    assert model.eos_token_ids == {1}
    assert {0, 1} <= model.special_token_ids
    assert len(model.weights_sha256) == len(model.tokenizer_sha256) == 64
    assert (model.device, model.dtype, model.threads) == ("cpu", "float32", 1)


def test_the_hash_follows_the_weights(directory: Path, tmp_path: Path) -> None:
    """Equal files have equal hashes, asked again too; other weights another one."""
    first = load_model(spec(directory), threads=1).weights_sha256
    assert load_model(spec(directory), threads=1).weights_sha256 == first
    same = load_model(spec(save(small_model("llama"), tmp_path / "same")), threads=1)
    other = load_model(spec(save(small_model("llama", seed=1), tmp_path / "other")), threads=1)
    assert same.weights_sha256 == first != other.weights_sha256
    assert same.tokenizer_sha256 == other.tokenizer_sha256


def test_packed_layers_answer_for_plain_ones() -> None:
    """A packed layer computes what the plain one does, bias included, and can show its weights."""
    plain = torch.nn.Linear(24, 40)
    packed = PackedLinear(plain)
    rows = torch.randn(2, 5, 24)
    assert torch.allclose(packed(rows), plain(rows), atol=1e-5)
    assert torch.equal(packed.weight, plain.weight)
    assert packed(rows[:, :0]).shape == (2, 0, 40)


def test_parameters_count_packed_weights(tiny: LoadedModel) -> None:
    """Weights that were packed are still counted."""
    assert tiny.parameters == sum(parameter.numel() for parameter in built_in.build("sdpa").parameters())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tny", "did you mean tiny"),
        ("smollm2", "did you mean smollm2-135m"),
        ("gpt2", "known: tiny, smollm2-135m"),
        ("/no/such/dir", "/no/such/dir doesn't exist"),
        ("./no/such.gguf", "no file at"),
    ],
)
def test_names_that_are_nothing(name: str, words: str) -> None:
    """An unknown name names the nearest; a path that isn't there says so."""
    assert words in _refusal(name)


def test_the_hub_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a network a hub id says that the hub can't be reached, and what works offline."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    text = _refusal("some-org/some-model")
    assert "hub can't be reached" in text
    assert "smollm2-135m" in text


def test_no_config(directory: Path) -> None:
    """A directory without config.json isn't a model."""
    (directory / "config.json").unlink()
    assert "no config.json" in _refusal(directory)


@pytest.mark.parametrize("content", ["{", "[]", "\x00\x01", ""])
def test_garbage_for_a_config(directory: Path, content: str) -> None:
    """A config.json that isn't a JSON object is named."""
    (directory / "config.json").write_text(content)
    assert "config.json" in _refusal(directory)


@pytest.mark.parametrize("keep", [0, 5, 100, -1])
def test_truncated_weights(directory: Path, keep: int) -> None:
    """A weights file that ends too early is called damaged, wherever it was cut."""
    weights = directory / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:keep])
    assert "model.safetensors is damaged" in _refusal(directory)


def test_garbage_for_weights(directory: Path) -> None:
    """So is one whose header is noise."""
    (directory / "model.safetensors").write_bytes((64).to_bytes(8, "little") + b"\xff" * 100)
    assert "is damaged" in _refusal(directory)


def test_no_weights(directory: Path) -> None:
    """A directory without weights says what is missing."""
    (directory / "model.safetensors").unlink()
    assert "no weights" in _refusal(directory)


def test_a_missing_shard(directory: Path) -> None:
    """A shard that the index names and that isn't there is named."""
    index = {"weight_map": {"a": "model-00001-of-00002.safetensors"}}
    (directory / "model.safetensors.index.json").write_text(json.dumps(index))
    assert "model-00001-of-00002.safetensors is missing" in _refusal(directory)


def test_weights_of_another_model(directory: Path) -> None:
    """Weights that lack what the configuration asks for are refused, never made up."""
    config = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 4}))
    assert "lacks" in _refusal(directory)


def test_a_damaged_tokenizer(directory: Path) -> None:
    """A tokenizer that can't be read is named as what is wrong."""
    (directory / "tokenizer.json").write_text("{")
    assert "its tokenizer can't be loaded" in _refusal(directory)


def test_code_that_comes_with_a_model_needs_leave(directory: Path) -> None:
    """A model that needs its own code is refused unless that was asked for; nothing of it runs."""
    (directory / "config.json").write_text(
        json.dumps({"model_type": "own", "auto_map": {"AutoConfig": "own.Config"}})
    )
    (directory / "own.py").write_text("raise SystemExit('this ran')")
    assert "--trust-remote-code" in _refusal(directory)


def test_a_gpu_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking for CUDA without one is one clear line."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "no NVIDIA GPU" in _refusal("tiny", device="cuda")


def test_threads_must_be_positive() -> None:
    """Zero threads can't compute."""
    with pytest.raises(ModelError, match="0 threads"):
        load_model(spec("tiny"), threads=0)


SMALL = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2}
HEADS = {"num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 16}


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (transformers.MistralConfig(**SMALL, sliding_window=128), "sliding window of 128"),
        (
            transformers.Qwen2Config(**SMALL, use_sliding_window=True, max_window_layers=1),
            "sliding attention",
        ),
        (transformers.Gemma2Config(**SMALL, **HEADS), "sliding attention"),
        (
            transformers.Gemma2Config(**SMALL, **HEADS, layer_types=["full_attention"] * 2),
            "soft-capping",
        ),
        (transformers.MambaConfig(**SMALL), "recurrent state"),
        (transformers.T5Config(), "encoder-decoder"),
        (transformers.ViTConfig(), "no causal language model"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_models_the_engine_cannot_serve(config: object, reason: str, tmp_path: Path) -> None:
    """A model that forgets, recurs or encodes is refused with the reason, before weights are read."""
    config.save_pretrained(tmp_path)
    text = _refusal(tmp_path)
    assert "can't be served" in text
    assert reason in text


@pytest.mark.parametrize("kind", ["Bloom", "Falcon", "Mpt"])
def test_attention_that_cannot_be_replaced(kind: str, tmp_path: Path) -> None:
    """A model with attention code of its own is refused when it is loaded, not when it answers nonsense."""
    sizes = {"n_heads": 2} if kind == "Mpt" else {"num_attention_heads": 2}
    config = getattr(transformers, f"{kind}Config")(vocab_size=64, hidden_size=32, n_layers=1, **sizes)
    save(transformers.AutoModelForCausalLM.from_config(config), tmp_path)
    assert "can't be served: its attention can't be replaced" in _refusal(tmp_path)


def test_attention_with_sinks(tmp_path: Path) -> None:
    """A model that wants more of its attention than the engine does is refused, naming what."""
    config = transformers.GptOssConfig(
        **SMALL, **HEADS, num_local_experts=2, layer_types=["full_attention"] * 2
    )
    save(transformers.AutoModelForCausalLM.from_config(config), tmp_path)
    assert "s_aux" in _refusal(tmp_path)


def test_a_model_that_is_not_causal(tmp_path: Path) -> None:
    """What no configuration tells, the probe at load finds out: this one looks both ways."""
    config = transformers.BertConfig(
        vocab_size=64, hidden_size=32, num_hidden_layers=1, num_attention_heads=2
    )
    save(transformers.AutoModelForCausalLM.from_config(config), tmp_path)
    assert "bidirectional" in _refusal(tmp_path)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_kernels_of_a_gpu(device: str) -> None:
    """On a GPU cuDNN's attention, built anew for every length, is off; a CPU changes nothing."""
    try:
        settle_kernels(device)
        assert torch.backends.cuda.cudnn_sdp_enabled() == (device == "cpu")
    finally:
        torch.backends.cuda.enable_cudnn_sdp(True)
