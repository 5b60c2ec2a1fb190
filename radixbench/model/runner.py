"""The engine's ``Runner`` with a real model behind it."""

from __future__ import annotations

import inspect

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from radixbench.engine.batch import Batch
from radixbench.model.attention import attending
from radixbench.model.kernels import flash_kernel
from radixbench.model.kv_pool import KVPool
from radixbench.model.loaded import LoadedModel
from radixbench.model.plan import StepPlan, plan_step
from radixbench.model.pool_attention import PoolStep
from radixbench.model.sampling import Sampler
from radixbench.model.scratch import Scratch
from radixbench.units import Tokens


class TorchRunner:
    """Computes batches with ``model`` over a pool of ``pool_slots`` KV slots of its own.

    ``entropy`` seeds sampled requests without a seed; ``None`` takes it from the operating system.
    ``in_place=False`` gathers K and V instead of reading runs where they lie: what happens anyway
    on devices without a kernel for it.
    """

    def __init__(
        self, model: LoadedModel, *, pool_slots: Tokens, entropy: int | None = None, in_place: bool = True
    ) -> None:
        self.model = model
        self._device = torch.device(model.device)
        dtype = getattr(torch, model.dtype)
        self.pool = KVPool(model.geometry, slots=pool_slots, dtype=dtype, device=self._device)
        self._scratch = Scratch(self._device, dtype)
        self._flash = flash_kernel(self._device, model.geometry) if in_place else None
        self._sampler = Sampler(entropy)
        self._keeps_logits = "logits_to_keep" in inspect.signature(model.module.forward).parameters

    def run(self, batch: Batch) -> list[int | None]:
        """For each entry the next token, or ``None`` where none is wanted."""
        plan = plan_step(batch, in_place=self._flash is not None)
        logits = self._forward(plan)
        chosen: list[int | None] = [None] * len(batch.entries)
        answered = [batch.entries[index] for index in plan.answered]
        for index, token in zip(plan.answered, self._sampler.choose(logits, answered), strict=True):
            chosen[index] = token
        if not answered:
            self._await()
        return chosen

    def logits(self, batch: Batch) -> Tensor:
        """Compute a batch and return ``[entry, vocabulary]`` logits, in order, of entries that want a token."""
        plan = plan_step(batch, in_place=self._flash is not None)
        places = sorted(range(len(plan.answered)), key=plan.answered.__getitem__)
        return self._forward(plan)[places]

    @torch.inference_mode()
    def _forward(self, plan: StepPlan) -> Tensor:
        step = PoolStep(self.pool, plan, self._scratch, self._flash)
        wanted = self._upload(np.array(plan.wanted or (0,)))
        with attending(step):
            output = self.model.module(
                input_ids=self._upload(plan.token_ids)[None],
                position_ids=self._upload(plan.positions)[None],
                use_cache=False,
                **({"logits_to_keep": wanted} if self._keeps_logits else {}),
            )
        logits: Tensor = output.logits[0] if self._keeps_logits else output.logits[0, wanted]
        return logits[: len(plan.wanted)]

    def _upload(self, numbers: NDArray[np.generic]) -> Tensor:
        return self._scratch.upload(numbers.astype(np.int64))

    def _await(self) -> None:
        """A step ends when it is computed; one that answers nobody would end when a GPU had it queued."""
        if self._device.type == "cuda":
            torch.cuda.current_stream().synchronize()
