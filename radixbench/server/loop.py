"""The engine on a thread of its own; the event loop hands requests over and gets tokens back.

Only the engine thread touches the engine. Commands reach it between two steps, in the order they were
given; with nothing to do it waits without spinning. A step's tokens cross over together, one wake-up
per step. The engine has retired a finished request, and the published statistics say so, before its
last token crosses: whoever has all answers can flush.
"""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from radixbench.engine.engine import Engine, EngineStats, GenerationRequest, TokenEvent
from radixbench.errors import RequestError
from radixbench.records import FinishRecord
from radixbench.server.latency import Latencies
from radixbench.server.outlet import Arrival, EngineDownError, Outlet
from radixbench.server.steplog import StepLog

T = TypeVar("T")

_LONGEST_STEP_S = 5.0


@dataclass(frozen=True, slots=True)
class Submission:
    """One request for the engine. ``reaches_stop`` sees each token and says when a stop string is complete."""

    request: GenerationRequest
    reaches_stop: Callable[[int], bool] | None = None


@dataclass(frozen=True, slots=True)
class FlushOutcome:
    """Whether the cache was emptied, and SGLang's words for it."""

    flushed: bool
    text: str


@dataclass(frozen=True, slots=True)
class _Flight:
    outlet: Outlet
    choice: int
    reaches_stop: Callable[[int], bool] | None


def _flush_text(flushed: bool, stats: EngineStats) -> str:
    if flushed:
        return "Cache flushed successfully!"
    return (
        "Cache not flushed because there are pending requests. "
        f"#queue-req: {stats.queue_req}, #running-req: {stats.running_req}"
    )


def _crash_error(error: BaseException) -> EngineDownError:
    return EngineDownError(f"the engine crashed: {type(error).__name__}: {error}", status=500)


def _settle(answer: asyncio.Future[Any], error: Exception | None, value: object = None) -> None:
    if answer.done():
        return
    if error is None:
        answer.set_result(value)
    else:
        answer.set_exception(error)


class EngineLoop:
    """Runs one engine. ``stats`` is the state after the latest step or command, for any thread."""

    def __init__(
        self, engine: Engine, log: StepLog, latencies: Latencies, event_loop: asyncio.AbstractEventLoop
    ) -> None:
        self.stats: EngineStats = engine.stats()
        self.failure: BaseException | None = None
        self.on_failure: Callable[[], None] = lambda: None
        self._engine = engine
        self._log = log
        self._latencies = latencies
        self._event_loop = event_loop
        self._commands: deque[Callable[[], None]] = deque()
        self._wake = threading.Event()
        self._leaving = False
        self._flights: dict[str, _Flight] = {}
        self._outlets: set[Outlet] = set()
        self._questions: set[asyncio.Future[Any]] = set()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    # ---- for the event loop's thread

    def start(self) -> None:
        """Start the engine thread."""
        self._thread.start()

    async def stop(self) -> None:
        """End the engine thread after its present step; whoever waits for it is told at once."""
        self._leaving = True
        self._wake.set()
        self._fail_all(EngineDownError("the server is shutting down", status=503))
        await asyncio.to_thread(self._thread.join, _LONGEST_STEP_S)

    def submit(self, submissions: Sequence[Submission], outlet: Outlet) -> None:
        """Hand requests over, all or none; a refusal fails the outlet with ``RequestError``."""
        self._check_up()
        self._outlets.add(outlet)
        self._post(lambda: self._add(submissions, outlet))

    def release(self, outlet: Outlet, unfinished: Iterable[str]) -> None:
        """Nobody reads ``outlet`` any more: its unfinished requests are aborted and their slots freed."""
        self._outlets.discard(outlet)
        rids = tuple(unfinished)
        if rids:
            self._post(lambda: self._abort(outlet, rids))

    async def flush(self) -> FlushOutcome:
        """Empty the cache, unless requests are waiting or running."""
        return await self.ask(self._flush)

    async def audit(self) -> None:
        """Check that every slot has exactly one owner; raises ``AssertionError`` otherwise."""
        await self.ask(self._engine.audit)

    async def ask(self, question: Callable[[], T]) -> T:
        """Call ``question`` on the engine thread between two steps."""
        self._check_up()
        answer: asyncio.Future[T] = self._event_loop.create_future()
        self._questions.add(answer)
        answer.add_done_callback(self._questions.discard)
        self._post(lambda: self._answer(question, answer))
        return await answer

    def _check_up(self) -> None:
        if self.failure is not None:
            raise _crash_error(self.failure)
        if self._leaving:
            raise EngineDownError("the server is shutting down", status=503)

    def _post(self, command: Callable[[], None]) -> None:
        self._commands.append(command)
        self._wake.set()

    def _deliver(self, arrivals: list[tuple[Outlet, Arrival]]) -> None:
        for outlet, arrival in arrivals:
            outlet.put(arrival)

    def _fail_all(self, error: EngineDownError) -> None:
        for outlet in self._outlets:
            outlet.fail(error)
        for question in self._questions:
            _settle(question, error)

    def _mourn(self, error: BaseException) -> None:
        self.failure = error
        self._fail_all(_crash_error(error))
        self.on_failure()
        self._log.message("".join(traceback.format_exception(error)).rstrip())
        self._log.message("The engine crashed; the server leaves.")

    # ---- for the engine thread

    def _run(self) -> None:
        try:
            while not self._leaving:
                if not self._engine.has_work:
                    self._wake.wait()
                self._wake.clear()
                self._obey()
                if self._engine.has_work and not self._leaving:
                    self._step()
        except BaseException as error:  # noqa: BLE001 - whatever ends this thread ends the server, loudly
            self._hand_over(self._mourn, error)

    def _obey(self) -> None:
        if not self._commands:
            return
        while self._commands:
            self._commands.popleft()()
        self.stats = self._engine.stats()

    def _step(self) -> None:
        result = self._engine.step()
        assert result is not None, "the engine has work but no step to make"
        finished = list(result.finished)
        arrivals = [self._route(event, finished) for event in result.tokens]
        self._latencies.observe(result, finished)
        self.stats = stats = self._engine.stats()
        self._hand_over(self._deliver, arrivals)
        self._log.step(result, finished, stats)

    def _route(self, event: TokenEvent, finished: list[FinishRecord]) -> tuple[Outlet, Arrival]:
        flight = self._flights[event.rid]
        reason = event.finish_reason
        if flight.reaches_stop is not None and flight.reaches_stop(event.token_id):
            self._end_at_stop(event, finished)
            reason = "stop"
        if reason is not None:
            del self._flights[event.rid]
        return flight.outlet, Arrival(flight.choice, event.token_id, event.cached_tokens, reason)

    def _end_at_stop(self, event: TokenEvent, finished: list[FinishRecord]) -> None:
        if event.finish_reason is None:
            record = self._engine.finish(event.rid, "stop")
            if record is not None:
                finished.append(record)
            return
        for place, record in enumerate(finished):
            if record.rid == event.rid:
                finished[place] = replace(record, finish_reason="stop")

    def _add(self, submissions: Sequence[Submission], outlet: Outlet) -> None:
        added: list[str] = []
        try:
            for choice, submission in enumerate(submissions):
                rid = submission.request.rid
                self._engine.add(submission.request)
                self._flights[rid] = _Flight(outlet, choice, submission.reaches_stop)
                added.append(rid)
        except RequestError as error:
            self._abort(outlet, added)
            self._hand_over(outlet.fail, error)

    def _answer(self, question: Callable[[], T], answer: asyncio.Future[T]) -> None:
        try:
            value = question()
        except Exception as error:  # noqa: BLE001 - handed to whoever asked
            self._hand_over(_settle, answer, error)
        else:
            self.stats = self._engine.stats()
            self._hand_over(_settle, answer, None, value)

    def _abort(self, outlet: Outlet, rids: Iterable[str]) -> None:
        for rid in rids:
            flight = self._flights.get(rid)
            if flight is not None and flight.outlet is outlet:  # else another client's request of that name
                del self._flights[rid]
                self._engine.abort(rid)
                self._latencies.forget(rid)

    def _flush(self) -> FlushOutcome:
        flushed = self._engine.flush()
        outcome = FlushOutcome(flushed, _flush_text(flushed, self._engine.stats()))
        self._log.message(outcome.text)
        return outcome

    def _hand_over(self, call: Callable[..., None], *arguments: object) -> None:
        try:
            self._event_loop.call_soon_threadsafe(call, *arguments)
        except RuntimeError:
            self._leaving = True  # the event loop is closed: nobody is left to answer
