"""From a quantised ``.gguf`` file to a plain model directory, once.

Loading GGUF takes half a minute; the directory it is turned into loads in a second and looks like any other.
transformers marks what it read from GGUF as quantised, though the weights are plain by then, and won't
save it: a fresh model of the same configuration takes over the tensors.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
from collections.abc import Iterator
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from radixbench.errors import ModelError
from radixbench.model.cache_dir import cache_dir, published


def converted(gguf: Path) -> Path:
    """Where ``gguf`` is kept as a model directory, named by the file's path, size and time."""
    stat = gguf.stat()
    key = f"{gguf.resolve()}\0{stat.st_size}\0{stat.st_mtime_ns}"
    return cache_dir() / "converted" / f"{gguf.stem}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def convert(gguf: Path, target: Path) -> None:
    """Write ``target`` (float32 safetensors and a tokenizer) unless it is there. Raises ``ModelError``."""
    if target.is_dir():
        return
    with gguf.open("rb") as stream:
        if stream.read(4) != b"GGUF":
            raise ModelError(f"{gguf} isn't a GGUF file", remedy="fetch or copy the file again")
    with published(target) as room:
        try:
            _save(gguf, room)
        except OSError:
            raise  # no room or no permission: told by who opened the directory
        except Exception as error:  # reading GGUF fails in as many ways as a file can be damaged
            first = next(iter(str(error).splitlines()), type(error).__name__)
            raise ModelError(
                f"{gguf} can't be read: {first}", remedy="fetch or copy the file again"
            ) from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without progress bars, of which some have no switch; who asked hears of the conversion otherwise."""
    with contextlib.redirect_stderr(io.StringIO()):
        yield


@_quiet()
def _save(gguf: Path, room: Path) -> None:
    read = AutoModelForCausalLM.from_pretrained(
        gguf.parent, gguf_file=gguf.name, dtype=torch.float32, local_files_only=True
    )
    config = copy.deepcopy(read.config)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    plain = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    plain.load_state_dict(read.state_dict())
    plain.generation_config = read.generation_config
    plain.save_pretrained(room)
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name, local_files_only=True)
    tokenizer.save_pretrained(room)
