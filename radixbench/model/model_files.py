"""A model directory, looked at before transformers is: what is missing or damaged, in one clear line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from radixbench.errors import ModelError

_REMEDY = "fetch or copy the model again"


def read_config(directory: Path) -> dict[str, Any]:
    """``config.json`` as an object. Raises ``ModelError``."""
    if not directory.is_dir():
        raise ModelError(f"no model directory at {directory}", remedy="check the path")
    return _object(directory / "config.json")


def weight_files(directory: Path) -> list[Path]:
    """The files that hold the weights, complete as far as their headers tell. Raises ``ModelError``."""
    index = directory / "model.safetensors.index.json"
    if index.is_file():
        files = [directory / name for name in sorted(set(_object(index).get("weight_map", {}).values()))]
    else:
        files = sorted(directory.glob("*.safetensors")) or sorted(directory.glob("pytorch_model*.bin"))
    if not files:
        raise ModelError(f"no weights (*.safetensors) in {directory}", remedy=_REMEDY)
    for file in files:
        if file.suffix == ".safetensors":
            _check_safetensors(file)
    return files


def _object(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise ModelError(f"no {path.name} in {path.parent}", remedy="is it a model directory?") from None
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} can't be read as JSON: {error}", remedy=_REMEDY) from error
    if not isinstance(found, dict):
        raise ModelError(f"{path} doesn't hold a JSON object", remedy=_REMEDY)
    return found


def _check_safetensors(path: Path) -> None:
    """The header (its length in 8 bytes, then JSON) says how long the file must be."""
    if not path.is_file():
        raise ModelError(f"weights file {path} is missing", remedy=_REMEDY)
    size = path.stat().st_size
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if size < 8 or length > size - 8:
            raise ModelError(f"{path} is damaged: {size} bytes can't hold its header", remedy=_REMEDY)
        try:
            header = json.loads(stream.read(length))
            ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        except (ValueError, TypeError, AttributeError, LookupError) as error:
            raise ModelError(
                f"{path} is damaged: its header isn't one of safetensors", remedy=_REMEDY
            ) from error
    expected = 8 + length + max(ends, default=0)
    if size != expected:
        raise ModelError(f"{path} is damaged: {size} bytes where {expected} belong", remedy=_REMEDY)
