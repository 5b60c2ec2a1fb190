"""Captures of earlier schema versions, brought up to the present one step by step.

History of the format. A version never changes its meaning once it was released; what changes gets a
new number, a function here that turns the old shape into the new, and a golden file in the tests.

    1   2026-10   scenario, environment and runs; requests, steps, finishes and GPU samples as lists of
                  objects; prompts as a prefix tree
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from radixbench import __version__
from radixbench.capture.model import SCHEMA
from radixbench.errors import CaptureError

Document: TypeAlias = dict[str, Any]
Upgrade: TypeAlias = Callable[[Document], Document]

CURRENT = int(SCHEMA.rpartition("/")[2])

# UPGRADES[n] turns a document of version n into one of version n + 1.
UPGRADES: Mapping[int, Upgrade] = {}

_REMEDY = "give a capture that `radixbench sweep` or `radixbench run` wrote"
_FAMILY = SCHEMA.rpartition("/")[0]


def upgrade(document: object, label: str, upgrades: Mapping[int, Upgrade] = UPGRADES) -> Document:
    """The document in the present schema; raises ``CaptureError`` for what is no capture or a newer one.

    ``label`` is what messages call the file.
    """
    version, plain = _identify(document, label)
    if version > CURRENT:
        raise CaptureError(
            f"{label}: schema {_FAMILY}/{version} is newer than radixbench {__version__} reads (up to {CURRENT})",
            remedy="update radixbench",
        )
    for step in range(version, CURRENT):
        plain = upgrades[step](plain)
    return plain


def _identify(document: object, label: str) -> tuple[int, Document]:
    if not isinstance(document, dict):
        kind = "a list" if isinstance(document, list) else "a single value"
        raise CaptureError(f"{label}: is not a radixbench capture but {kind}", remedy=_REMEDY)
    schema = document.get("schema")
    if schema is None:
        keys = ", ".join(str(key) for key in list(document)[:4]) or "none"
        raise CaptureError(
            f"{label}: is not a radixbench capture: it has no schema (its keys: {keys[:120]})", remedy=_REMEDY
        )
    match = (
        re.fullmatch(rf"{re.escape(_FAMILY)}/([1-9][0-9]{{0,5}})", schema)
        if isinstance(schema, str)
        else None
    )
    if match is None:
        raise CaptureError(
            f"{label}: is not a radixbench capture: its schema is {str(schema)[:60]!r}", remedy=_REMEDY
        )
    return int(match[1]), document
