"""The engine's front door: requests in, one step at a time, tokens out.

Not safe for use from several threads at once: whoever owns the engine calls one method after the
other. A runner that raises leaves every request where it was; the same step is planned again.
"""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.clock import Clock
from radixbench.engine.audit import Holding, check_ownership
from radixbench.engine.batch import SamplingParams
from radixbench.engine.cache import NoCache, PrefixCache, RadixCache
from radixbench.engine.config import EngineConfig
from radixbench.engine.request import Req
from radixbench.engine.runner import Runner
from radixbench.engine.scheduler import Given, Plan, Scheduler
from radixbench.engine.slots import SlotPool
from radixbench.engine.tally import Tally
from radixbench.errors import RequestError
from radixbench.records import FinishRecord, StepRecord


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """A request as it enters the engine. ``namespace`` keeps prefixes apart (SGLang's ``extra_key``)."""

    rid: str
    token_ids: tuple[int, ...]
    sampling: SamplingParams
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class TokenEvent:
    """One generated token. ``finish_reason`` is set on a request's last: ``length`` or ``stop``.

    ``cached_tokens`` is what the request's first admission found in the cache.
    """

    rid: str
    token_id: int
    output_index: int
    cached_tokens: int
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True)
class StepResult:
    """What one step brought: its record, its tokens, and the requests it retired."""

    record: StepRecord
    tokens: tuple[TokenEvent, ...]
    finished: tuple[FinishRecord, ...]


@dataclass(frozen=True, slots=True)
class EngineStats:
    """A snapshot; tokens unless said. ``*_total`` count since start and survive a flush.

    ``requests_total`` counts what was accepted; prompt and cached tokens are counted together, at a
    request's first admission, so that their ratio is a hit rate at any moment.
    """

    running_req: int
    queue_req: int
    used_slots: int
    evictable_slots: int
    free_slots: int
    pool_slots: int
    new_token_ratio: float
    prompt_tokens_total: int
    cached_tokens_total: int
    generation_tokens_total: int
    requests_total: int
    aborted_total: int
    evicted_tokens_total: int
    retracted_total: int
    host_ns_total: int
    step_ns_total: int


class Engine:
    """Serves requests through a runner, reusing what the cache holds.

    A request is out of the engine when its last ``TokenEvent`` is returned: a flush succeeds from then on.
    """

    def __init__(self, config: EngineConfig, runner: Runner, clock: Clock) -> None:
        self.config = config
        self._runner = runner
        self._clock = clock
        self._pool = SlotPool(config.max_total_tokens, config.page_size)
        self._cache: PrefixCache = RadixCache(self._pool) if config.radix_cache else NoCache(self._pool)
        self._scheduler = Scheduler(config, self._pool, self._cache)
        self._requests: dict[str, Req] = {}
        self._tally = Tally()

    @property
    def has_work(self) -> bool:
        """Whether ``step`` has something to do."""
        return self._scheduler.has_work

    def add(self, request: GenerationRequest) -> None:
        """Queue a request; raises ``RequestError`` for one that could never be served."""
        self._refuse_unservable(request)
        try:
            req = Req(
                self._tally.requests,
                request.rid,
                request.token_ids,
                request.sampling,
                namespace=request.namespace.encode(),
                entry_ns=self._clock.now_ns(),
            )
        except (OverflowError, TypeError) as error:
            raise RequestError(
                f"request {request.rid} has token ids that are no 32-bit integers: {error}",
                remedy="send ids of the model's vocabulary",
            ) from error
        self._tally.requests += 1
        self._requests[request.rid] = req
        self._scheduler.enqueue(req)

    def abort(self, rid: str) -> bool:
        """Drop a request and free its slots at once; false if there is no such request.

        Prompt chunks it has computed stay in the cache, nothing else of it does.
        """
        req = self._requests.pop(rid, None)
        if req is None:
            return False
        self._scheduler.withdraw(req)
        self._cache.release(req)
        self._tally.aborted += 1
        return True

    def finish(self, rid: str, reason: str = "stop") -> FinishRecord | None:
        """End a request as a success, by a rule the engine doesn't know (a stop string).

        What it computed enters the cache. ``None`` if there is no such request.
        """
        req = self._requests.pop(rid, None)
        if req is None:
            return None
        self._scheduler.withdraw(req)
        self._cache.retire(req)
        return _finish_record(req, reason, self._clock.now_ns())

    def step(self) -> StepResult | None:
        """Compute one batch; ``None`` when there is nothing to do."""
        start_ns = self._clock.now_ns()
        evicted = self._scheduler.supply.evicted_tokens
        plan = self._scheduler.schedule()
        if plan is None:
            return None
        run_ns = self._clock.now_ns()
        try:
            token_ids = self._runner.run(plan.batch)
        except BaseException:
            self._scheduler.revoke(plan)
            raise
        ran_ns = self._clock.now_ns()
        self._tally.admit(plan.admitted, run_ns)
        given = self._scheduler.commit(plan, token_ids, ran_ns)
        tokens = tuple([_token_event(token) for token in given])
        finished = tuple([self._retire(token, ran_ns) for token in given if token.finish_reason])
        evicted = self._scheduler.supply.evicted_tokens - evicted
        record = self._record(plan, start_ns, ran_ns - run_ns, evicted)
        self._tally.count(record, len(tokens))
        return StepResult(record, tokens, finished)

    def flush(self) -> bool:
        """Empty the cache; false while requests are unfinished."""
        if self.has_work:
            return False
        self._pool.reset()
        self._cache.reset()
        return True

    def stats(self) -> EngineStats:
        """How full the engine is and what it has done."""
        scheduler, tally = self._scheduler, self._tally
        return EngineStats(
            running_req=len(scheduler.holders),
            queue_req=len(scheduler.waiting),
            used_slots=scheduler.supply.used,
            evictable_slots=self._cache.evictable,
            free_slots=self._pool.free,
            pool_slots=self._pool.size,
            new_token_ratio=scheduler.ratio.value,
            prompt_tokens_total=tally.prompt_tokens,
            cached_tokens_total=tally.cached_tokens,
            generation_tokens_total=tally.generation_tokens,
            requests_total=tally.requests,
            aborted_total=tally.aborted,
            evicted_tokens_total=scheduler.supply.evicted_tokens,
            retracted_total=tally.retracted,
            host_ns_total=tally.host_ns,
            step_ns_total=tally.step_ns,
        )

    def audit(self) -> None:
        """Check every invariant between two steps; raises ``AuditError`` naming slot and owners."""
        holders = self._scheduler.holders
        holdings = [Holding("the free list", self._pool.free_slots())]
        holdings += self._cache.holdings()
        holdings += [Holding(f"request {req.rid}", req.own_slots) for req in holders]
        check_ownership(self._pool.size, holdings)
        self._cache.check(holders)
        self._pool.check()

    def _refuse_unservable(self, request: GenerationRequest) -> None:
        prompt, output = len(request.token_ids), request.sampling.max_tokens
        where = f"request {request.rid}"
        if request.rid in self._requests:
            raise RequestError(f"{where} is already being served", remedy="give each request its own id")
        if not prompt:
            raise RequestError(f"{where} has an empty prompt", remedy="send at least one token")
        if output < 1:
            raise RequestError(f"{where} asks for {output} output tokens", remedy="ask for at least 1")
        for limit, name in (
            (self.config.context_len, "the model's context"),
            (self._pool.size, "the KV pool"),
        ):
            if prompt + output > limit:
                raise RequestError(
                    f"{where} has {prompt} prompt tokens and asks for {output} more: {prompt + output}"
                    f" tokens don't fit {name} of {limit}",
                    remedy="shorten the prompt or lower max_tokens",
                )

    def _retire(self, token: Given, now_ns: int) -> FinishRecord:
        del self._requests[token.req.rid]
        assert token.finish_reason is not None
        return _finish_record(token.req, token.finish_reason, now_ns)

    def _record(self, plan: Plan, start_ns: int, runner_ns: int, evicted_tokens: int) -> StepRecord:
        end_ns = self._clock.now_ns()
        return StepRecord(
            phase=plan.batch.phase,
            step=self._tally.steps,
            start_ns=start_ns,
            end_ns=end_ns,
            host_ns=end_ns - start_ns - runner_ns,
            new_seq=plan.new_seq,
            new_tokens=plan.batch.extend_tokens,
            cached_tokens=plan.cached_tokens,
            running_req=plan.running_req,
            queue_req=plan.queue_req,
            pending_tokens=plan.pending_tokens,
            held_tokens=plan.held_tokens,
            used_slots=plan.used_slots,
            pool_slots=self._pool.size,
            evicted_tokens=evicted_tokens,
            retracted_req=plan.retracted_req,
        )


def _token_event(token: Given) -> TokenEvent:
    req = token.req
    assert req.first_cached_len is not None
    return TokenEvent(req.rid, token.token_id, req.output_len - 1, req.first_cached_len, token.finish_reason)


def _finish_record(req: Req, reason: str, now_ns: int) -> FinishRecord:
    admitted_ns = now_ns if req.admitted_ns is None else req.admitted_ns
    return FinishRecord(
        rid=req.rid,
        input_len=req.prompt_len,
        cached_input_len=0 if req.first_cached_len is None else req.first_cached_len,
        output_len=req.output_len,
        attempts=1 + req.retractions,
        queue_ns=admitted_ns - req.entry_ns,
        forward_ns=now_ns - admitted_ns,
        entry_ns=req.entry_ns,
        ttft_ns=None if req.first_token_ns is None else req.first_token_ns - req.entry_ns,
        e2e_ns=now_ns - req.entry_ns,
        finish_reason=reason,
    )
