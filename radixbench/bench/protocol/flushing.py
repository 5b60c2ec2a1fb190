"""An empty cache, as far as it can be proved: the server is asked, and a probe it knew must find nothing.

What a server says of its flush is kept, never believed: older ones answer 200 while they refuse, and a
flush of the device leaves tiers behind it full, where a probe still finds what it looks for. The
probe goes into the cache anew, so a last flush drops it. llama.cpp moves a prompt to its host's memory only when
another takes its slot, so there the probe tells of the slots alone, and what was sent before stays suspect.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from radixbench.bench.protocol.probing import Probed
from radixbench.bench.protocol.sender import Sender
from radixbench.capture.model import Check
from radixbench.client.flush import FlushOutcome
from radixbench.client.http import ServerClient
from radixbench.errors import IncompleteError, UsageError
from radixbench.scenario.model import Engine
from radixbench.units import Nanoseconds, Tokens

_TRIES = 2
_BRIEF_S = 1.0
"""How long a flush is asked for that nothing depends on."""

_NO_SUCH_CALL = frozenset({404, 405, 501})
_REFUSED = frozenset({200, 400, 409})


@dataclass(frozen=True, slots=True)
class Flushed:
    """How emptying went; ``found`` are the probe's cached tokens afterwards, ``None`` where nobody says.

    ``offered`` is ``False`` for a server that has no such call; ``beyond`` names what its call leaves full. ``blind``: this
    server never finds a repeat, though it does find extensions, so that the probe would find nothing anyhow.
    """

    attempts: int
    status: int | None
    body: str
    waited_ns: Nanoseconds
    tiers: tuple[str, ...]
    found: Tokens | None
    offered: bool = True
    beyond: str | None = None
    blind: bool = False

    @property
    def check(self) -> Check:
        """One line of the protocol."""
        if not self.offered:
            what = "has no call to empty" if self.status in _NO_SUCH_CALL else "didn't empty"
            return Check("flush", None, f"the server {what} its cache (HTTP {self.status}, {self.body!r})")
        tries = f"{self.attempts} calls"
        if self.found is None:
            why = "never finds a repeat that could prove it" if self.blind else "doesn't report cached tokens"
            return Check("flush", None, f"the server says so ({tries}) and {why}")
        beyond = "" if self.beyond is None else f"; {self.beyond}"
        return Check(
            "flush", self.found == 0, f"after {tries} a probe it knew found {self.found} cached{beyond}"
        )


async def empty(sender: Sender, probed: Probed, engine: Engine, *, must: bool) -> Flushed:
    """Empty the cache and prove it with the probe that it has just been shown to know.

    Raises ``IncompleteError`` when it ``must`` be empty and a server refuses that was seen to do it before, or when the
    probe is still found afterwards, and ``UsageError`` where it has no such call or never did anything but refuse. One of
    engine ``other`` may have no call; then nothing is proved. Where it needn't be empty, a refusal isn't waited out.
    """
    outcomes: list[FlushOutcome] = []
    for _ in range(_TRIES):
        outcomes.append(await (sender.client.flush() if must else ask_briefly(sender.client)))
        if not must and not outcomes[-1].ok:
            return _sum(outcomes, None, offered=False)
        if engine == "other" and outcomes[-1].status in _NO_SUCH_CALL:
            return _sum(outcomes, None, offered=False)
        accept(outcomes[-1], engine, ever=sender.ledger.ever_flushed)
        sender.ledger.complied()
        found = probed.read(await sender.cached(probed.probe.ids, "probe"))
        if not found:
            break
    if found and must:
        raise IncompleteError(
            f"cache not flushed: the server says it is ({outcomes[-1].body[:100]!r}), yet a probe of"
            f" {len(probed.probe.ids)} tokens still found {found} cached",
            remedy="restart the server, or turn off its host or external cache tiers",
        )
    outcomes.append(await (sender.client.flush() if must else ask_briefly(sender.client)))
    if must:
        accept(outcomes[-1], engine)
    beyond = _BEYOND.get(engine)
    if found == 0 and probed.repeat and beyond is None:
        sender.ledger.flushed()
    if probed.blind and not found:
        return replace(_sum(outcomes, None, beyond=beyond), blind=True)
    return _sum(outcomes, found, beyond=beyond)


async def ask_briefly(client: ServerClient) -> FlushOutcome:
    """Ask for a flush that nothing depends on: a server that is willing does it at once, or a moment after an answer."""
    return await client.flush(limit_s=_BRIEF_S)


async def drop_all(client: ServerClient, engine: Engine) -> None:
    """Empty the cache without a proof; one that won't makes what follows unknown."""
    accept(await client.flush(), engine)


def accept(outcome: FlushOutcome, engine: Engine, *, ever: bool = True) -> None:
    """Raise ``IncompleteError`` for a flush that the server itself doesn't call done.

    Raises ``UsageError`` where it has no such call, and where it refuses and wasn't ``ever`` seen to do it: no
    other run of the sweep would fare better.
    """
    if outcome.ok:
        return
    answer = f"{outcome.body[:200]!r}"
    if outcome.status in _NO_SUCH_CALL:
        raise UsageError(
            f"the server has no call to empty its cache: HTTP {outcome.status}, {answer}",
            remedy=_HOW.get(engine, "check --engine: each server empties its cache by another call"),
        )
    message = f"cache not flushed after {outcome.attempts} tries: status {outcome.status}, {answer}"
    remedy = "see whether a request is stuck in the server's queue"
    if outcome.status in _REFUSED and not ever:
        raise UsageError(message, remedy=remedy)
    raise IncompleteError(message, remedy=remedy)


_BEYOND = {
    "llamacpp": "its host prompt cache, where prompts go that lose their slot, stays (--cache-ram 0 leaves it out)",
}
_HOW = {
    "vllm": "start vLLM with VLLM_SERVER_DEV_MODE=1, or use --engine other",
    "llamacpp": "start llama-server with --slot-save-path DIR, without which it erases no slot",
}


def _sum(
    outcomes: list[FlushOutcome], found: Tokens | None, *, offered: bool = True, beyond: str | None = None
) -> Flushed:
    last = outcomes[-1]
    return Flushed(
        attempts=sum(outcome.attempts for outcome in outcomes),
        status=last.status,
        body=last.body[:200],
        waited_ns=sum(outcome.waited_ns for outcome in outcomes),
        tiers=last.tiers,
        found=found,
        offered=offered,
        beyond=beyond,
    )
