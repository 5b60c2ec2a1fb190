from __future__ import annotations

import pytest

from radixbench.model.load import load_model
from radixbench.model.loaded import LoadedModel
from tests.model.builders import spec


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's cache."""
    monkeypatch.setenv("RADIXBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("RADIXBENCH_WHEEL_DIR", raising=False)


@pytest.fixture(scope="session")
def tiny() -> LoadedModel:
    """The built-in model on one thread."""
    return load_model(spec("tiny"), threads=1)
