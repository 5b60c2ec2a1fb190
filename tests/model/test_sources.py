"""A hub id becomes a directory: from the local hub cache, and step by step where it isn't cached yet."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

import pytest

from radixbench.errors import ModelError
from radixbench.model import sources
from radixbench.model.load import load_model
from radixbench.model.sources import locate, with_weights
from tests.model.builders import save, small_model, spec

NAME = "some-org/some-model"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The snapshot of a small Llama in a hub cache, with no hub to reach."""
    repository = tmp_path / "hub" / "models--some-org--some-model"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    return save(small_model("llama"), repository / "snapshots" / COMMIT)


class Hub:
    """Stands in for the hub: copies what a download asks for, and remembers what that was."""

    def __init__(self, shelf: Path, local: Path) -> None:
        self.shelf = shelf
        self.local = local
        self.asked: list[tuple[str, Sequence[str]]] = []

    def download(self, name: str, *, allow_patterns: Sequence[str]) -> str:
        """The hub library's ``snapshot_download``, as far as it is used."""
        self.asked.append((name, allow_patterns))
        self.local.mkdir(exist_ok=True)
        for file in self.shelf.iterdir():
            if any(fnmatch(file.name, pattern) for pattern in allow_patterns):
                shutil.copy(file, self.local)
        return str(self.local)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """A hub with a small Llama, nothing of it cached."""
    found = Hub(save(small_model("llama"), tmp_path / "shelf"), tmp_path / "snapshot")
    monkeypatch.setattr(sources, "snapshot_download", found.download)
    return found


def test_a_cached_hub_model_loads_without_the_hub(cached: Path) -> None:
    """Its id is enough: directory, weights and tokenizer come from the cache, and are those of a local copy."""
    notes: list[str] = []
    assert locate(NAME, notes.append) == cached
    model = load_model(spec(NAME), threads=1, on_note=notes.append)
    assert notes == [f"fetching the weights of {NAME} from the hub, unless they are cached"]
    local = load_model(spec(cached), threads=1)
    assert (model.name, model.random_weights, model.context_len) == (NAME, False, 512)
    assert model.weights_sha256 == local.weights_sha256
    assert model.tokenizer_sha256 == local.tokenizer_sha256


def test_small_files_come_before_the_weights(hub: Hub) -> None:
    """Configuration and tokenizer are fetched first, weights when they are asked for."""
    directory = locate(NAME, lambda _text: None)
    assert (directory / "config.json").is_file()
    assert (directory / "tokenizer.json").is_file()
    assert not list(directory.glob("*.safetensors"))
    assert with_weights(NAME, directory, lambda _text: None) == directory
    assert (directory / "model.safetensors").is_file()
    assert {name for name, _ in hub.asked} == {NAME}


def test_weights_of_what_can_not_be_served_stay_on_the_hub(hub: Hub) -> None:
    """A model that is refused costs a few small files, whatever its weights weigh."""
    config = json.loads((hub.shelf / "config.json").read_text())
    (hub.shelf / "config.json").write_text(
        json.dumps(config | {"model_type": "mistral", "sliding_window": 64})
    )
    with pytest.raises(ModelError, match="sliding window of 64"):
        load_model(spec(NAME), threads=1)
    assert len(hub.asked) == 1
    assert not list(hub.local.glob("*.safetensors"))


def test_older_weights_are_taken_where_there_are_no_newer(hub: Hub) -> None:
    """Pickled weights are fetched only from a model that has no others."""
    (hub.shelf / "pytorch_model.bin").write_bytes(b"")
    directory = locate(NAME, lambda _text: None)
    with_weights(NAME, directory, lambda _text: None)
    assert not (directory / "pytorch_model.bin").exists()
    for place in (hub.shelf, hub.local):
        (place / "model.safetensors").unlink()
    with_weights(NAME, directory, lambda _text: None)
    assert (directory / "pytorch_model.bin").is_file()
