"""Salts: what keeps a request from finding anything, on a server whose cache is on.

A salt is ``radixbench-<random>-<n>``. The fixed word in front keeps it from ever equalling a model's or an
adapter's name, which share a name space with salts on some servers; the random part is new for every run, since
a salt that was used before would find what was sent under it. llama.cpp knows no salts and is
told not to look into its cache instead.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from itertools import count
from typing import Any

from radixbench.scenario.model import Engine

PREFIX = "radixbench-"


class Salts:
    """An endless supply for one run."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._stem = f"{PREFIX}{secrets.token_hex(8)}"
        self._numbers = count()

    def body(self, _turn: object = None) -> Mapping[str, Any]:
        """What the next request carries besides its prompt."""
        if self._engine == "llamacpp":
            return {"cache_prompt": False}
        return {"cache_salt": f"{self._stem}-{next(self._numbers)}"}


def unsalted(_turn: object = None) -> Mapping[str, Any] | None:
    """Nothing: the request may find whatever others left."""
    return None
