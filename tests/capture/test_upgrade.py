"""A document climbs version by version to the present schema, or is refused as what it is."""

from __future__ import annotations

from typing import Any

import pytest

from radixbench.capture import upgrade as module
from radixbench.capture.model import SCHEMA
from radixbench.capture.upgrade import CURRENT, UPGRADES, upgrade
from radixbench.errors import CaptureError


def test_a_step_for_every_earlier_version() -> None:
    """Each version but the present one has its upgrade, and the present one is the model's."""
    assert sorted(UPGRADES) == list(range(1, CURRENT))
    assert f"radixbench.capture/{CURRENT}" == SCHEMA


def test_present_documents_pass_unchanged() -> None:
    """Nothing is done to a document of the present version."""
    document = {"schema": SCHEMA, "anything": 1}
    assert upgrade(document, "c.json") is document


def test_steps_are_taken_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document two versions old takes both steps, one after the other."""
    monkeypatch.setattr(module, "CURRENT", 3)

    def step(name: str) -> Any:
        return lambda document: document | {"path": [*document.get("path", []), name]}

    old = {"schema": "radixbench.capture/1"}
    assert upgrade(old, "c.json", {1: step("1→2"), 2: step("2→3")})["path"] == ["1→2", "2→3"]
    assert old == {"schema": "radixbench.capture/1"}


@pytest.mark.parametrize(
    "schema", ["radixbench.capture/0", "radixbench.capture/", "radixbench.capture/1x", None, []]
)
def test_odd_schemas_are_refused(schema: object) -> None:
    """A version that was never released is no capture."""
    with pytest.raises(CaptureError, match=r"c\.json: is not a radixbench capture"):
        upgrade({"schema": schema}, "c.json")
