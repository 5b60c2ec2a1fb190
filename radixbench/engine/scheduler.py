"""What the next step computes, and what its result means.

``schedule`` → run → ``commit``. Prefill goes first; with nothing to prefill, all running requests decode
together (continuous batching). A prompt longer than a chunk is computed over several steps, one
such request at a time. Every request is in exactly one place: ``waiting``, ``chunked``, ``running``, or in
the plan between ``schedule`` and ``commit``. Semantics are SGLang's (0.5.22), except that a retracted
request keeps its place by arrival.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from radixbench.engine.admission import Admission
from radixbench.engine.batch import Batch
from radixbench.engine.cache import PrefixCache
from radixbench.engine.config import EngineConfig
from radixbench.engine.new_token_ratio import NewTokenRatio
from radixbench.engine.policy import policy_of
from radixbench.engine.request import Req
from radixbench.engine.retraction import retraction_order
from radixbench.engine.slots import SlotPool
from radixbench.engine.supply import SlotSupply


@dataclass(frozen=True, slots=True)
class Plan:
    """A batch, whose it is, and the state of the engine it was made in (words of ``StepRecord``)."""

    batch: Batch
    requests: tuple[Req, ...]
    admitted: tuple[Req, ...]
    new_seq: int
    cached_tokens: int
    running_req: int
    queue_req: int
    pending_tokens: int
    held_tokens: int
    used_slots: int
    retracted_req: int


class Given(NamedTuple):
    """A token that a request was given; ``finish_reason`` is set on its last."""

    req: Req
    token_id: int
    finish_reason: str | None


class Scheduler:
    """Decides; computes nothing and reads no clock."""

    def __init__(self, config: EngineConfig, pool: SlotPool, cache: PrefixCache) -> None:
        self.ratio = NewTokenRatio(config.schedule_conservativeness)
        self.supply = SlotSupply(pool, cache)
        self.waiting: dict[int, Req] = {}
        self.running: list[Req] = []
        self.chunked: Req | None = None
        self._config = config
        self._cache = cache
        self._policy = policy_of(config, cache)
        self._waiting_tokens = 0
        self._full = False

    @property
    def has_work(self) -> bool:
        """Whether any request is unfinished."""
        return bool(self.waiting or self.running or self.chunked)

    @property
    def holders(self) -> list[Req]:
        """The requests that hold slots between two steps."""
        return [*self.running, self.chunked] if self.chunked else list(self.running)

    def enqueue(self, req: Req) -> None:
        """A new request arrives."""
        self.waiting[req.key] = req
        self._waiting_tokens += req.length

    def withdraw(self, req: Req) -> None:
        """``req`` leaves, wherever it is; the slots it holds are the caller's to take."""
        if req.key in self.waiting:
            self._dequeue(req)
        elif req is self.chunked:
            self.chunked = None
        else:
            self.running.remove(req)
        self._departed()

    def schedule(self) -> Plan | None:
        """The next step, its slots allocated; ``None`` when there is nothing to do.

        Follow it with ``commit``, or with ``revoke`` if it couldn't be computed.
        """
        plan = self._plan_prefill() or self._plan_decode()
        assert plan is not None or not self.has_work, "requests wait and none can be served"
        return plan

    def commit(self, plan: Plan, token_ids: Sequence[int | None], now_ns: int) -> list[Given]:
        """Take a step's result: computed prompts enter the cache, tokens go to their requests."""
        prefill = plan.batch.phase == "prefill"
        given: list[Given] = []
        if prefill:
            self.chunked = None
        for req, entry, token_id in zip(plan.requests, plan.batch.entries, token_ids, strict=True):
            req.cached_len += len(entry.token_ids)
            if prefill:
                self._cache.checkpoint(req)
            assert (token_id is not None) == entry.wants_token, f"request {req.rid} was given {token_id}"
            if token_id is None:
                self.chunked = req
                continue
            reason = req.append(token_id, now_ns)
            given.append(Given(req, token_id, reason))
        self._settle(prefill, given)
        return given

    def revoke(self, plan: Plan) -> None:
        """The step failed: nothing was computed, and the next ``schedule`` plans it again."""
        self._requeue(plan.admitted)

    def _plan_prefill(self) -> Plan | None:
        if self.chunked is None and (self._full or not self.waiting):
            return None
        admission = Admission(
            self._config, self.supply, self._cache, running=self.running, new_token_ratio=self.ratio.value
        )
        if self.chunked is not None:
            admission.resume(self.chunked)
        resumed = len(admission.requests)
        for req in self._policy(self.waiting.values()):
            if not admission.admit(req):
                break
        self._full = admission.full
        if not admission.requests:
            return None
        admitted = admission.requests[resumed:]
        for req in admitted:
            self._dequeue(req)
        return self._prefill_plan(admission, admitted)

    def _prefill_plan(self, admission: Admission, admitted: list[Req]) -> Plan:
        requests, chunks = admission.requests, admission.chunks
        partial = sum(req.extend_len - chunk for req, chunk in zip(requests, chunks, strict=True))
        in_step = sum(req.cached_len + chunk for req, chunk in zip(requests, chunks, strict=True))
        return Plan(
            batch=Batch(
                "prefill",
                tuple(req.entry(chunk) for req, chunk in zip(requests, chunks, strict=True)),
            ),
            requests=tuple(requests),
            admitted=tuple(admitted),
            new_seq=len(requests),
            cached_tokens=sum(req.cached_len for req in admitted),
            running_req=len(self.running),
            queue_req=len(self.waiting),
            pending_tokens=self._waiting_tokens + partial,
            held_tokens=in_step + sum(req.cached_len for req in self.running),
            used_slots=self.supply.used,
            retracted_req=0,
        )

    def _plan_decode(self) -> Plan | None:
        if not self.running:
            return None
        retracted = self._retract()
        self.supply.extend_decoding(self.running)
        entries = tuple([req.entry(1) for req in self.running])
        return Plan(
            batch=Batch("decode", entries),
            requests=tuple(self.running),
            admitted=(),
            new_seq=0,
            cached_tokens=0,
            running_req=len(entries),
            queue_req=len(self.waiting),
            pending_tokens=self._waiting_tokens,
            held_tokens=sum([req.cached_len for req in self.running]) + len(entries),
            used_slots=self.supply.used,
            retracted_req=retracted,
        )

    def _retract(self) -> int:
        """Send running requests back to the queue until the rest can decode; returns how many went.

        One always stays. No prompt is in the middle of its chunks: those are computed first.
        """
        supply = self.supply
        if supply.decode_need(self.running) <= supply.available:
            self.ratio.decay()
            return 0
        before = len(self.running)
        for req in retraction_order(self.running)[:-1]:
            self.running.remove(req)
            req.retractions += 1
            self._requeue([req])
            if supply.decode_need(self.running) <= supply.available:
                break
        self.ratio.relearn(self.running)
        self._full = False
        return before - len(self.running)

    def _settle(self, prefill: bool, given: list[Given]) -> None:
        """Move requests to where they belong after a step; retire those that ended."""
        if prefill:
            self.running.extend([req for req, _, reason in given if reason is None])
        ended = [req for req, _, reason in given if reason is not None]
        if ended:
            if not prefill:
                self.running = [req for req, _, reason in given if reason is None]
            for req in ended:
                self._cache.retire(req)
            self._departed()

    def _requeue(self, requests: Sequence[Req]) -> None:
        """Back to the queue without slots, each at its place by arrival."""
        for req in requests:
            self._cache.release(req)
            self.enqueue(req)
        if requests:
            self.waiting = dict(sorted(self.waiting.items()))

    def _dequeue(self, req: Req) -> None:
        del self.waiting[req.key]
        self._waiting_tokens -= req.length

    def _departed(self) -> None:
        """A request left: there may be space for another, and an idle engine forgets what it learned."""
        self._full = False
        if not self.has_work:
            self.ratio.reset()
