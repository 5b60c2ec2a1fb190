"""The command line in this process: its exit code and what it prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from radixbench.cli.main import run


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Stdout as exactly one JSON document."""
        loaded: dict[str, Any] = json.loads(self.out)
        return loaded


Command = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's cache."""
    monkeypatch.setenv("RADIXBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs ``radixbench`` with these arguments."""

    def call(*arguments: str) -> Outcome:
        code = run(list(arguments))
        printed = capsys.readouterr()
        return Outcome(code, printed.out, printed.err)

    return call
