"""Which requests one prefill step takes on, and how many of their tokens.

Rules and order of the checks are those of SGLang's PrefillAdder (0.5.22). Free and evictable slots
count as available; against them stands what running requests are expected to generate. A request
without any company is taken on whatever is expected of it: nothing it waits for would come.
"""

from __future__ import annotations

from collections.abc import Sequence

from radixbench.engine.cache import PrefixCache
from radixbench.engine.config import EngineConfig
from radixbench.engine.request import Req
from radixbench.engine.supply import SlotSupply


class Admission:
    """Lives for one prefill step. Slots are taken at once, so what is available is always current.

    ``requests`` take part with their next ``chunks`` tokens each. ``full`` says that it was slots or the
    number of requests that ended it, so that only a departure can change the answer.
    """

    def __init__(
        self,
        config: EngineConfig,
        supply: SlotSupply,
        cache: PrefixCache,
        *,
        running: Sequence[Req],
        new_token_ratio: float,
    ) -> None:
        self.requests: list[Req] = []
        self.chunks: list[int] = []
        self.full = False
        self._config = config
        self._supply = supply
        self._cache = cache
        self._running = running
        self._reserved = sum(self._expected(req, new_token_ratio) for req in running)
        self._input_left = config.max_prefill_tokens
        self._chunk_left = config.chunked_prefill_size
        self._partial = False

    def resume(self, req: Req) -> None:
        """Continue a prompt begun in an earlier step, before anything else.

        There are slots for it: when it was admitted all of it fitted, and nothing was admitted since.
        """
        self._take(req, self._chunk_of(req.extend_len))

    def admit(self, req: Req) -> bool:
        """Take on a waiting request, its cached prefix matched now; false ends the step's admissions."""
        if self._partial or self._exhausted:
            return False
        if len(self._running) + len(self.requests) >= self._config.max_running_requests:
            self.full = True
            return False
        req.open(self._config.page_size)
        self._cache.attach(req)
        if not self._affordable(req):
            self._cache.release(req)
            return False
        self._take(req, self._chunk_of(req.extend_len))
        return True

    @property
    def _exhausted(self) -> bool:
        no_chunk = self._chunk_left is not None and self._chunk_left < self._config.page_size
        return no_chunk or self._input_left <= 0

    def _affordable(self, req: Req) -> bool:
        """Whether ``req``, its prefix already locked, may join those taken on so far."""
        if not self.requests and not self._running:
            return True
        page = self._config.page_size
        if req.extend_len + self._expected(req, 1.0) + page >= self._supply.available - self._reserved:
            self.full = True
            return False
        return not self.requests or self._paged(self._chunk_of(req.extend_len)) < self._input_left

    def _expected(self, req: Req, ratio: float) -> float:
        """Output tokens set aside for ``req``; all of them when it can't end early."""
        clipped = min(req.remaining_len, self._config.clip_max_new_tokens)
        return clipped if req.sampling.ignore_eos else clipped * ratio

    def _chunk_of(self, extend_len: int) -> int:
        """How many tokens of a prompt this step computes: all, or the whole pages left of the chunk."""
        if self._chunk_left is None or extend_len <= self._chunk_left:
            return extend_len
        return self._floored(self._chunk_left)

    def _take(self, req: Req, chunk: int) -> None:
        paged = self._paged(chunk)
        self._input_left -= paged
        if self._chunk_left is not None:
            self._chunk_left -= paged
        self._partial = chunk < req.extend_len
        if not self._partial:
            self._reserved += self._expected(req, 1.0) + self._config.page_size
        self._supply.extend(req, chunk)
        self.requests.append(req)
        self.chunks.append(chunk)

    def _paged(self, tokens: int) -> int:
        page = self._config.page_size
        return -(-tokens // page) * page

    def _floored(self, tokens: int) -> int:
        return tokens - tokens % self._config.page_size
