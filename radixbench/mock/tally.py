"""The mock's counters, and ``/metrics`` under the names of the server it plays.

Counters move when an answer is complete, as real ones do. llama.cpp counts only computed prompt tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from radixbench.mock.answer import Answer
from radixbench.mock.cache import CacheModel
from radixbench.mock.settings import MockSettings


@dataclass(slots=True)
class Tally:
    """What the mock has done so far. ``running`` are requests under way, ``refused`` those that got an error."""

    prompt_tokens: int = 0
    device_cached_tokens: int = 0
    outer_cached_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0
    refused: int = 0
    aborted: int = 0
    running: int = 0
    last_hit_rate: float = 0.0

    def answered(self, answer: Answer) -> None:
        """One more complete answer."""
        prompt = answer.asked.prompt_tokens
        self.requests += 1
        self.prompt_tokens += prompt
        self.device_cached_tokens += answer.found.device
        self.outer_cached_tokens += answer.found.outer
        self.output_tokens += len(answer.token_ids)
        self.last_hit_rate = answer.found.total / prompt


class Exposition:
    """The counters in Prometheus' text format, with the lies that were asked for."""

    def __init__(self, tally: Tally, cache: CacheModel, settings: MockSettings) -> None:
        self._tally = tally
        self._cache = cache
        self._settings = settings
        self._frozen = replace(tally)

    def text(self) -> str:
        """The present values."""
        lies = self._settings.lies
        tally = self._frozen if lies.metrics == "frozen" else self._tally
        factor = lies.metrics_cached_factor
        device, outer = round(tally.device_cached_tokens * factor), round(tally.outer_cached_tokens * factor)
        lines = {"sglang": self._sglang, "vllm": self._vllm, "llamacpp": self._llamacpp}
        return "\n".join(lines[self._settings.dialect](tally, device, outer)) + "\n"

    def _sglang(self, tally: Tally, device: int, outer: int) -> list[str]:
        labels = f'{{model_name="{self._settings.model}"}}'
        cache = self._settings.cache
        lines = self._lines(
            "sglang:",
            labels,
            prompt_tokens_total=tally.prompt_tokens,
            generation_tokens_total=tally.output_tokens,
            num_requests_total=tally.requests,
            num_aborted_requests_total=tally.aborted,
            evicted_tokens_total=self._cache.evicted_tokens,
            num_retracted_requests_total=0,
            num_running_reqs=tally.running,
            num_queue_reqs=0,
            cache_hit_rate=tally.last_hit_rate,
            max_total_num_tokens=cache.capacity_tokens,
            page_size=cache.page_size,
        )
        lines.append("# TYPE sglang:cached_tokens_total counter")
        for source, value in (("device", device), ("storage", outer)):
            if source == "device" or cache.outer_tier:
                lines.append(
                    f'sglang:cached_tokens_total{{model_name="{self._settings.model}",cache_source="{source}"}} {value}'
                )
        return lines

    def _vllm(self, tally: Tally, device: int, outer: int) -> list[str]:
        labels = f'{{engine="0",model_name="{self._settings.model}"}}'
        external = {
            "external_prefix_cache_queries_total": tally.prompt_tokens - tally.device_cached_tokens,
            "external_prefix_cache_hits_total": outer,
        }
        return self._lines(
            "vllm:",
            labels,
            prompt_tokens_total=tally.prompt_tokens,
            generation_tokens_total=tally.output_tokens,
            prefix_cache_queries_total=tally.prompt_tokens,
            prefix_cache_hits_total=device,
            num_preemptions_total=0,
            request_success_total=tally.requests,
            num_requests_running=tally.running,
            num_requests_waiting=0,
            kv_cache_usage_perc=self._cache.held_tokens / self._settings.cache.capacity_tokens,
            **(external if self._settings.cache.outer_tier else {}),
        )

    def _llamacpp(self, tally: Tally, device: int, outer: int) -> list[str]:
        return self._lines(
            "llamacpp:",
            "",
            prompt_tokens_total=tally.prompt_tokens - device - outer,
            tokens_predicted_total=tally.output_tokens,
            requests_processing=tally.running,
            requests_deferred=0,
        )

    def _lines(self, prefix: str, labels: str, **values: float) -> list[str]:
        lines = []
        for name, value in values.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# TYPE {prefix}{name} {kind}", f"{prefix}{name}{labels} {value}"]
        return lines
