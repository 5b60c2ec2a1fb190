"""How a command ends that fails for a reason of ours."""

from __future__ import annotations

import errno
from collections.abc import Callable

import pytest

from tests.cli.conftest import Command


def raising(error: Exception) -> Callable[[], None]:
    """A function with a fault in it."""

    def fail() -> None:
        raise error

    return fail


@pytest.mark.parametrize("error", [RuntimeError("a slot has two owners"), OSError(errno.EMFILE, "too many")])
def test_our_own_fault_is_70_with_the_lines_to_report(
    command: Command, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """What nobody foresaw leaves its traceback, a last line that asks for a report, and nothing on stdout."""
    monkeypatch.setattr("radixbench.model.catalog.list_models", raising(error))
    outcome = command("model", "list")
    assert (outcome.code, outcome.out) == (70, "")
    first, *_, cause, last = outcome.err.splitlines()
    assert first == "Traceback (most recent call last):"
    assert cause == f"{type(error).__name__}: {error}"
    assert last == "radixbench: this is a fault of radixbench itself; please report the lines above"
