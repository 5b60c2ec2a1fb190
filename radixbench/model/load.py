"""A model's name becomes a model that computes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol, cast

import torch
import transformers
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from radixbench.errors import ModelError
from radixbench.model import attention, fingerprint, tiny
from radixbench.model.catalog import OnNote
from radixbench.model.device import device_name, pick_device, pick_dtype, pick_threads, settle_kernels
from radixbench.model.hub_tokenizer import HubTokenizer
from radixbench.model.loaded import Device, Dtype, LoadedModel
from radixbench.model.model_files import read_config, weight_files
from radixbench.model.packing import can_pack, pack_linears
from radixbench.model.probe import probe
from radixbench.model.servable import refuse_unless_servable
from radixbench.model.sources import locate, with_weights
from radixbench.model.tiny_tokenizer import TinyTokenizer


class ModelRequest(Protocol):
    """Which model, where and in which precision; ``scenario.model.ModelSpec`` is one."""

    @property
    def name(self) -> str:
        """``tiny``, a catalogued name, a directory, a ``.gguf`` file or a hub id."""
        ...

    @property
    def device(self) -> str:
        """``auto``, ``cpu`` or ``cuda``."""
        ...

    @property
    def dtype(self) -> str:
        """``auto``, ``float32``, ``bfloat16`` or ``float16``."""
        ...

    @property
    def trust_remote_code(self) -> bool:
        """Whether code that comes with the model may run."""
        ...


def load_model(
    spec: ModelRequest, *, threads: int | None = None, on_note: OnNote | None = None
) -> LoadedModel:
    """Load a model onto its device, ready for a ``TorchRunner``. Raises ``ModelError``.

    ``threads`` defaults to all cores but one; torch keeps it for the whole process. ``on_note`` hears of
    what takes long (downloads, conversions). Code that comes with a model runs only on request.
    """
    device = pick_device(spec.device)
    dtype = pick_dtype(spec.dtype, device)
    torch.set_num_threads(pick_threads(threads))
    settle_kernels(device)
    attention.register()
    with _quiet():
        if spec.name == "tiny":
            return _load_tiny(device, dtype)
        return _load_files(spec, device, dtype, on_note or (lambda _text: None))


def _load_tiny(device: Device, dtype: Dtype) -> LoadedModel:
    tokenizer = TinyTokenizer()
    module = tiny.build(attention.NAME)
    weights, parameters = tiny.weights_sha256(module), _parameters(module)
    module = _readied(module.to(getattr(torch, dtype)), device)
    return LoadedModel(
        name="tiny",
        module=module,
        tokenizer=tokenizer,
        geometry=probe("tiny", module, device=torch.device(device), dtype=getattr(torch, dtype)),
        context_len=tiny.CONTEXT_LEN,
        vocab_size=tokenizer.vocab_size,
        special_token_ids=tokenizer.special_token_ids,
        eos_token_ids=tokenizer.eos_token_ids,
        device=device,
        device_name=device_name(device),
        dtype=dtype,
        threads=torch.get_num_threads(),
        random_weights=True,
        weights_sha256=weights,
        tokenizer_sha256=tokenizer.sha256,
        parameters=parameters,
    )


def _load_files(spec: ModelRequest, device: Device, dtype: Dtype, on_note: OnNote) -> LoadedModel:
    directory = locate(spec.name, on_note)
    config = _config(spec, directory)
    refuse_unless_servable(spec.name, config)
    directory = with_weights(spec.name, directory, on_note)
    files = weight_files(directory)
    module = _module(spec, directory, config, device, dtype)
    parameters = _parameters(module)
    tokenizer = _tokenizer(spec, directory, module)
    module = _readied(module, device)
    text = config.get_text_config(decoder=True)
    return LoadedModel(
        name=spec.name,
        module=module,
        tokenizer=tokenizer,
        geometry=probe(spec.name, module, device=torch.device(device), dtype=getattr(torch, dtype)),
        context_len=text.max_position_embeddings,
        vocab_size=text.vocab_size,
        special_token_ids=tokenizer.special_token_ids,
        eos_token_ids=tokenizer.eos_token_ids,
        device=device,
        device_name=device_name(device),
        dtype=dtype,
        threads=torch.get_num_threads(),
        random_weights=False,
        weights_sha256=fingerprint.weights_sha256(files),
        tokenizer_sha256=fingerprint.tokenizer_sha256(directory),
        parameters=parameters,
    )


def _readied(module: nn.Module, device: Device) -> nn.Module:
    """On its device, for inference, with what makes it faster there."""
    module = module.to(device).eval()
    if device == "cpu" and can_pack():
        pack_linears(module)
    return module


def _config(spec: ModelRequest, directory: Path) -> Any:
    raw = read_config(directory)
    if "auto_map" in raw and not spec.trust_remote_code and raw.get("model_type") not in _known_types():
        raise ModelError(
            f"model {spec.name!r} needs code that comes with it",
            remedy="add --trust-remote-code if you trust it",
        )
    with _as_model_error(spec.name, "its configuration"):
        return AutoConfig.from_pretrained(
            directory, trust_remote_code=spec.trust_remote_code, local_files_only=True
        )


def _module(spec: ModelRequest, directory: Path, config: Any, device: Device, dtype: Dtype) -> nn.Module:
    with _as_model_error(spec.name, "its weights"):
        module, report = AutoModelForCausalLM.from_pretrained(
            directory,
            config=config,
            dtype=getattr(torch, dtype),
            attn_implementation=attention.NAME,
            trust_remote_code=spec.trust_remote_code,
            local_files_only=True,
            output_loading_info=True,
            **({} if device == "cpu" else {"device_map": {"": device}}),
        )
    missing = sorted(report["missing_keys"])
    if missing:
        raise ModelError(
            f"{directory} lacks {len(missing)} of the model's weights, {missing[0]} among them",
            remedy="fetch or copy the model again",
        )
    return cast(nn.Module, module)


def _tokenizer(spec: ModelRequest, directory: Path, module: nn.Module) -> HubTokenizer:
    with _as_model_error(spec.name, "its tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(
            directory, trust_remote_code=spec.trust_remote_code, local_files_only=True
        )
        generation = getattr(module, "generation_config", None)
        return HubTokenizer(tokenizer, _eos_token_ids(module.config, generation, tokenizer))


def _eos_token_ids(*sources: object) -> frozenset[int]:
    """The end marks that configuration, generation settings and tokenizer name, one or several each."""
    found: set[int] = set()
    for settings in sources:
        named = getattr(settings, "eos_token_id", None)
        if named is not None:
            found.update(named if isinstance(named, list) else [named])
    return frozenset(found)


def _known_types() -> frozenset[str]:
    return frozenset(transformers.CONFIG_MAPPING)


def _parameters(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


@contextlib.contextmanager
def _as_model_error(name: str, what: str) -> Iterator[None]:
    """Whatever a damaged or foreign file leads to inside transformers, as one line."""
    try:
        yield
    except KeyError as error:
        if error.args != (attention.NAME,):
            raise ModelError(f"model {name!r}: {what} lacks {error}", remedy="check the files") from error
        raise ModelError(
            f"model {name!r} can't be served: its attention can't be replaced", remedy="try another model"
        ) from error
    except Exception as error:  # transformers lets through whatever json, safetensors and torch raise
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ModelError(
            f"model {name!r}: {what} can't be loaded: {first}", remedy="check the files"
        ) from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without transformers' progress bars and advice; notes go through ``on_note``."""
    logging = transformers.utils.logging
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        logging.enable_progress_bar()
