"""What one mock knows and does, apart from sockets: it numbers requests, decides their answers, keeps its books."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from radixbench.clock import Clock, anchor
from radixbench.errors import RequestError
from radixbench.mock.agenda import Agenda
from radixbench.mock.answer import Answer, decide
from radixbench.mock.asked import Kind, read_asked
from radixbench.mock.cache import CacheModel, Lease
from radixbench.mock.frames import Frames
from radixbench.mock.packets import Packet
from radixbench.mock.playing import Stakes
from radixbench.mock.script import refusal, script
from radixbench.mock.settings import MockSettings
from radixbench.mock.tally import Exposition, Tally
from radixbench.mock.writes import RequestWrites, WriteLog
from radixbench.units import NS_PER_S

ANSWERING: dict[str, Kind] = {"/v1/completions": "completion", "/v1/chat/completions": "chat"}
"""The paths that answer a prompt."""


class Part(NamedTuple):
    """A response to be played: its packets, where its writes are noted, and who must know of its course."""

    packets: Iterator[Packet]
    writes: RequestWrites
    stakes: Stakes


class Closable(Protocol):
    """A connection, as far as its end is concerned."""

    async def drop(self) -> None:
        """End now; returns when it has ended."""
        ...


class Service:
    """One mock. ``agenda`` makes its writes; ``flushes`` counts the flushes it was asked for."""

    def __init__(self, settings: MockSettings, log: WriteLog, agenda: Agenda, clock: Clock) -> None:
        self.settings = settings
        self.log = log
        self.agenda = agenda
        self.clock = clock
        self.cache = CacheModel(settings.cache)
        self.tally = Tally()
        self.exposition = Exposition(self.tally, self.cache, settings)
        self.flushes = 0
        self.started_s = anchor().wall_ns // NS_PER_S
        self.connections: set[Closable] = set()
        self._numbered = 0

    async def drop_connections(self) -> None:
        """End every connection."""
        for connection in list(self.connections):
            await connection.drop()

    def answer(self, path: str, body: bytes, received_ns: int) -> Part:
        """The response to a request for an answer that came in complete at ``received_ns``."""
        self._numbered += 1
        number, settings = self._numbered, self.settings
        writes = self.log.open(number, path, received_ns)
        for failure in settings.faults.failures:
            if failure.which.holds(number, seed=settings.seed, what=f"fail {failure.status}"):
                return self._refuse(writes, failure.status, f"the mock was told to answer {failure.status}")
        try:
            asked = read_asked(
                ANSWERING[path], body, vocab_size=settings.vocab_size, context_len=settings.context_len
            )
        except RequestError as error:
            return self._refuse(writes, 400, str(error))
        lease = self.cache.admit(asked.prompt, asked.namespace, reuse=asked.reuse)
        answer = decide(asked, lease.found, number, settings)
        writes.id, writes.prompt_tokens, writes.cached_tokens = (
            answer.id,
            asked.prompt_tokens,
            lease.found.total,
        )
        frames = Frames(answer, settings, self.started_s)
        return Part(script(answer, settings, frames), writes, _Course(self, lease, answer, writes))

    def _refuse(self, writes: RequestWrites, status: int, message: str) -> Part:
        return Part(refusal(status, message, self.settings), writes, _Refusal(self, writes))


class _Course:
    """Keeps cache and counters in step with an answer's course."""

    def __init__(self, service: Service, lease: Lease, answer: Answer, writes: RequestWrites) -> None:
        self._service = service
        self._lease = lease
        self._answer = answer
        self._writes = writes
        service.tally.running += 1

    def first_token(self) -> None:
        self._lease.prefilled()

    def complete(self) -> None:
        self._lease.finish(self._answer.key)
        self._service.tally.answered(self._answer)

    def ended(self, outcome: str) -> None:
        self._lease.end()
        tally = self._service.tally
        tally.running -= 1
        tally.aborted += outcome != "answered"
        self._service.log.close(self._writes, outcome)


class _Refusal:
    """A request that got an error instead."""

    def __init__(self, service: Service, writes: RequestWrites) -> None:
        self._service = service
        self._writes = writes

    def first_token(self) -> None:
        raise AssertionError("a refusal has no tokens")

    def complete(self) -> None:
        self._service.tally.refused += 1

    def ended(self, outcome: str) -> None:
        self._service.log.close(self._writes, "refused" if outcome == "answered" else outcome)
