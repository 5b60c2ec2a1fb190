"""Small engines on a manual clock, with the scripted runner whose tokens depend on every slot read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from radixbench.clock import ManualClock
from radixbench.engine.batch import Batch, SamplingParams
from radixbench.engine.config import EngineConfig
from radixbench.engine.engine import Engine, GenerationRequest, StepResult
from radixbench.engine.runner import ScriptedRunner
from radixbench.records import FinishRecord, StepRecord

VOCABULARY = 1000


class WatchedRunner(ScriptedRunner):
    """The scripted runner, keeping what it was asked to compute: (key, computed ids, slots)."""

    def __init__(self, clock: ManualClock, pool_slots: int) -> None:
        super().__init__(clock=clock, pool_slots=pool_slots, vocab_size=VOCABULARY)
        self.entries: list[list[tuple[int, list[int], list[int]]]] = []

    def run(self, batch: Batch) -> list[int | None]:
        """As the scripted runner."""
        self.entries.append([(e.key, e.token_ids.tolist(), e.slots.tolist()) for e in batch.entries])
        return super().run(batch)


class Drive:
    """An engine, its clock and everything it has said."""

    def __init__(self, pool: int = 256, **config: Any) -> None:
        self.clock = ManualClock()
        self.runner = WatchedRunner(self.clock, pool)
        self.engine = Engine(
            EngineConfig(max_total_tokens=pool, **{"context_len": 10_000, **config}), self.runner, self.clock
        )
        self.outputs: dict[str, list[int]] = {}
        self.cached: dict[str, int] = {}
        self.records: list[StepRecord] = []
        self.finished: dict[str, FinishRecord] = {}

    def add(
        self, rid: str, ids: Iterable[int], max_tokens: int = 4, namespace: str = "", **sampling: Any
    ) -> None:
        """Queue one request."""
        params = SamplingParams(max_tokens=max_tokens, **sampling)
        self.engine.add(GenerationRequest(rid, tuple(ids), params, namespace))

    def step(self) -> StepResult | None:
        """One step, audited."""
        result = self.engine.step()
        self.engine.audit()
        if result is not None:
            self.records.append(result.record)
            for event in result.tokens:
                self.outputs.setdefault(event.rid, []).append(event.token_id)
                self.cached[event.rid] = event.cached_tokens
                assert event.output_index == len(self.outputs[event.rid]) - 1
            self.finished.update({record.rid: record for record in result.finished})
        return result

    def run(self) -> None:
        """Step until there is nothing to do."""
        while self.step() is not None:
            pass

    def ask(self, rid: str, ids: Iterable[int], max_tokens: int = 4, **options: Any) -> list[int]:
        """Queue one request and run it to its end."""
        self.add(rid, ids, max_tokens, **options)
        self.run()
        return self.outputs[rid]
