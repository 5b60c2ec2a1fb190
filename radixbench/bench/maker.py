"""Whose server answers, by its own word: that decides how it is flushed and salted, and what a capture calls it.

Our own says so on ``/server_info`` (``engine``), SGLang, vLLM and llama.cpp as the owner of their first model on
``/v1/models``. Where neither is known, the prefix of its metrics is a hint, which a mimic has too. A server of
ours that runs already is no other than one that a sweep starts, so both are ``bundled``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from radixbench.errors import UsageError
from radixbench.scenario.model import Engine


@dataclass(frozen=True, slots=True)
class Maker:
    """``name`` as people say it; not ``firm`` where only a hint tells. ``where`` is the endpoint that says so."""

    engine: Engine
    name: str
    where: str
    firm: bool = True


class Settled(NamedTuple):
    """How a server is to be treated, and what a reader should know of the choice."""

    engine: Engine
    note: str | None = None


_OWNERS: Mapping[str, tuple[Engine, str]] = {
    "radixbench": ("bundled", "radixbench"),
    "sglang": ("sglang", "SGLang"),
    "vllm": ("vllm", "vLLM"),
    "llamacpp": ("llamacpp", "llama.cpp"),
}
_OWN_WORD = "radixbench"


def maker(info: Mapping[str, Any], listed: Mapping[str, Any], metrics: Iterable[str]) -> Maker | None:
    """From ``/server_info``, the first entry of ``/v1/models`` and the names of all metrics; ``None`` if none tells."""
    engine, owner = info.get("engine"), listed.get("owned_by")
    if engine == _OWN_WORD:
        return Maker("bundled", _OWN_WORD, "/server_info")
    if isinstance(owner, str) and owner in _OWNERS and owner != _OWN_WORD:
        return Maker(*_OWNERS[owner], "/v1/models")
    prefixes = {name.partition(":")[0] for name in metrics if ":" in name}
    hints = [known for prefix, known in _OWNERS.items() if prefix in prefixes]
    return Maker(*hints[0], "/metrics", firm=False) if len(hints) == 1 else None


def settle(base_url: str, given: Engine, found: Maker | None, version: str | None = None) -> Settled:
    """The engine to go by, where ``bundled`` leaves the choice to the server and ``other`` is never contradicted.

    Raises ``UsageError`` for another one than the server firmly says it is.
    """
    if given == "bundled":
        return _by_its_word(base_url, found, version)
    if found is None or given in {"other", found.engine}:
        return Settled(given)
    name = _NAMES.get(given, given)
    if found.firm:
        raise UsageError(
            f"{base_url} says on {found.where} that it is {found.name}, and --engine says {name}",
            remedy="leave --engine out, or take --engine other",
        )
    return Settled(
        given, f"{base_url} has the {found.where} of {found.name}: treated as {name}, as --engine says"
    )


def _by_its_word(base_url: str, found: Maker | None, version: str | None) -> Settled:
    if found is None:
        return Settled("other", f"{base_url} doesn't say whose server it is: treated as engine other")
    known = f"{found.name} {version}" if version else found.name
    says = "says that it is" if found.firm else "looks like"
    return Settled(
        found.engine, f"{base_url} {says} {known} ({found.where}): treated as engine {found.engine}"
    )


_NAMES: Mapping[str, str] = dict(_OWNERS.values())
