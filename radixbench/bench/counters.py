"""A server's own counters over a window, from its ``/metrics`` before and after.

Every rank prints its own line of a counter, so lines are summed over all labels. Names are those of SGLang
0.4 to 0.5, of vLLM's V1 engine from 0.7 on, and of llama.cpp's server, whose prompt counter leaves cached tokens out
and therefore counts no prompts. A page that is no Prometheus text says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite

from prometheus_client.parser import text_string_to_metric_families

from radixbench.client.http import ServerClient
from radixbench.records import ServerCounters

SOURCE = "/metrics"

Labels = frozenset[tuple[str, str]]

_PROMPT = ("sglang:prompt_tokens", "vllm:prompt_tokens")
_OUTPUT = ("sglang:generation_tokens", "vllm:generation_tokens", "llamacpp:tokens_predicted")
_REQUESTS = ("sglang:num_requests", "vllm:request_success")
_PREEMPTIONS = ("sglang:num_retracted_requests", "vllm:num_preemptions")
_EVICTED = ("sglang:evicted_tokens",)
_LLAMACPP_COMPUTED = ("llamacpp:prompt_tokens",)
_LLAMACPP_CACHED = ("llamacpp:prompt_tokens_cached",)
_VLLM_HITS = ("vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits")
_VLLM_EXTERNAL_HITS = ("vllm:external_prefix_cache_hits",)


@dataclass(frozen=True, slots=True)
class Reading:
    """All samples of one look at ``/metrics``: by name, then by labels."""

    samples: Mapping[str, Mapping[Labels, float]]

    def total(self, names: Iterable[str]) -> int | None:
        """The first of these counters that is there, summed over its labels."""
        found = self._first(names)
        return None if found is None else int(sum(found.values()))

    def split(self, label: str, names: Iterable[str]) -> dict[str, int]:
        """The first of these counters that is there, summed for each value of ``label``."""
        sums: dict[str, int] = {}
        for labels, value in (self._first(names) or {}).items():
            place = dict(labels).get(label)
            if place is not None:
                sums[place] = sums.get(place, 0) + int(value)
        return sums

    def labels(self, name: str) -> dict[str, str]:
        """The labels of a sample that carries its facts there, such as vLLM's ``cache_config_info``."""
        return dict(next(iter(self.samples.get(name, {})), frozenset()))

    def _first(self, names: Iterable[str]) -> Mapping[Labels, float] | None:
        for name in names:
            for spelled in (f"{name}_total", name):  # older exporters leave the ending out
                if spelled in self.samples:
                    return self.samples[spelled]
        return None


def read(text: str | None) -> Reading | None:
    """The samples of a page of Prometheus text; ``None`` for anything else, or a page without any."""
    if text is None:
        return None
    samples: dict[str, dict[Labels, float]] = {}
    try:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if isfinite(sample.value):
                    samples.setdefault(sample.name, {})[frozenset(sample.labels.items())] = sample.value
    except (ValueError, KeyError, IndexError, AttributeError):  # the parser's words for foreign text
        return None
    return Reading(samples) if samples else None


async def fetch(client: ServerClient) -> Reading | None:
    """What a server counts at this moment; ``None`` for one that doesn't say."""
    text = await client.metrics_text()
    return None if text is None else read(text)


def difference(before: Reading | None, after: Reading | None) -> ServerCounters | None:
    """What was counted between two readings; ``None`` where there aren't two of them.

    A counter that fell tells of a restart in between: then nothing is known but that.
    """
    if before is None or after is None:
        return None
    first, second = _counts(before), _counts(after)
    tiers_before, tiers_after = _tiers(before), _tiers(after)
    grown = {name: _grown(first[name], second[name]) for name in first}
    by_tier = {tier: count - tiers_before.get(tier, 0) for tier, count in tiers_after.items()}
    lost = any(tier not in tiers_after for tier in tiers_before)
    if lost or any(count is not None and count < 0 for count in (*grown.values(), *by_tier.values())):
        return ServerCounters(source=SOURCE, reset=True)
    return ServerCounters(
        source=SOURCE,
        prompt_tokens=grown["prompt_tokens"],
        cached_tokens=grown["cached_tokens"],
        output_tokens=grown["output_tokens"],
        requests=grown["requests"],
        preemptions=grown["preemptions"],
        evicted_tokens=grown["evicted_tokens"],
        cached_by_tier=by_tier,
    )


def _grown(before: int | None, after: int | None) -> int | None:
    """A counter that isn't there before its first increment starts at 0; one that vanished was reset."""
    if after is None:
        return None if before is None else -1
    return after - (before or 0)


def _counts(reading: Reading) -> dict[str, int | None]:
    return {
        "prompt_tokens": _prompt(reading),
        "cached_tokens": _cached(reading),
        "output_tokens": reading.total(_OUTPUT),
        "requests": reading.total(_REQUESTS),
        "preemptions": reading.total(_PREEMPTIONS),
        "evicted_tokens": reading.total(_EVICTED),
    }


def _prompt(reading: Reading) -> int | None:
    """All prompt tokens. llama.cpp counts computed ones, and newer builds cached ones beside them."""
    computed, cached = reading.total(_LLAMACPP_COMPUTED), reading.total(_LLAMACPP_CACHED)
    if computed is not None and cached is not None:
        return computed + cached
    return reading.total(_PROMPT)


def _cached(reading: Reading) -> int | None:
    tiers = _tiers(reading)
    if tiers:
        return sum(tiers.values())
    return reading.total(("sglang:cached_tokens", *_LLAMACPP_CACHED))


def _tiers(reading: Reading) -> dict[str, int]:
    """Cached tokens by where they were found: SGLang's ``cache_source``, or vLLM's own cache and others'.

    SGLang 0.5.7 to 0.5.23 counts the same under other names as well; they serve where the first is missing.
    """
    sglang = reading.split("cache_source", ("sglang:cached_tokens",))
    if sglang:
        return sglang
    for name, label in (("sglang:prefill_effective_tokens", "mode"), ("sglang:realtime_tokens", "mode")):
        modes = reading.split(label, (name,))
        hits = {
            mode.removesuffix("_hit"): count
            for mode, count in modes.items()
            if mode.endswith("_hit") or mode == "prefill_cache"
        }
        if hits and reading.total(("sglang:cached_tokens",)) is None:
            return hits
    own, other = reading.total(_VLLM_HITS), reading.total(_VLLM_EXTERNAL_HITS)
    tiers = {"device": own, "external": other}
    return {tier: count for tier, count in tiers.items() if count is not None}
