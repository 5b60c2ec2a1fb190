"""What keeps two sides from being surely the same: facts that nobody told, and histories that went apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from radixbench.compare.arm import Arm
from radixbench.compare.change import Difference
from radixbench.compare.eligible import LIVE_HISTORY, cards
from radixbench.compare.unlike import identities
from radixbench.findings.model import Finding

_WORDS = {"weights_sha256": "weights", "tokenizer_sha256": "tokenizer", "dtype": "precision"}


def identity_findings(a: Arm, b: Arm) -> Iterator[Finding]:
    """Unknown is not the same: names each fact that a side doesn't tell and that would forbid a verdict."""
    if not (a.runs and b.runs):
        return
    silent = {arm.side: _unknown(arm) for arm in (a, b)}
    if not any(silent.values()):
        return
    told = (
        f"{a.side} and {b.side}: {', '.join(silent[a.side])}"
        if silent[a.side] == silent[b.side]
        else "; ".join(f"{side}: {', '.join(facts)}" for side, facts in silent.items() if facts)
    )
    yield Finding(
        "identity-unknown",
        "info",
        f"unknown and therefore not compared: {told}",
        "make sure by hand that both sides had the same; a server that states hashes of them needs no such care",
    )


def parted_findings(found: Iterable[Difference]) -> Iterator[Finding]:
    """Later turns hold what each server answered: with other answers they are other prompts."""
    for one in found:
        if one.field == LIVE_HISTORY:
            yield Finding(
                "prompts-parted",
                "warning",
                f"of {one.a} that both sides sent, {one.b} ({one.where}): the answers of either server are part of its"
                " history",
                "--history recorded sends both sides the same tokens",
            )


def _unknown(arm: Arm) -> list[str]:
    facts = [word for name, word in _WORDS.items() if not identities(arm, name)]
    on_cpu = any(str(name).startswith("cpu") for name in identities(arm, "device"))
    device = identities(arm, "device_name") or (
        {arm.capture.environment.cpu} - {None} if on_cpu else cards(arm)
    )
    return facts if device else [*facts, "device"]
