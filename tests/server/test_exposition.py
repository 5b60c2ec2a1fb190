"""/metrics: SGLang's names, exact values, one registry per server."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.server.conftest import Front, fake, open_front


async def _scrape(front: Front) -> dict[str, float]:
    async with front.session.get("/metrics") as response:
        assert response.status == 200
        families = list(text_string_to_metric_families(await response.text()))
    assert all(
        sample.labels["model_name"] == front.service.config.model_name
        for family in families
        for sample in family.samples
    )
    return {
        sample.name: sample.value
        for family in families
        for sample in family.samples
        if "le" not in sample.labels
    }


async def test_counters_follow_the_requests(front: Front) -> None:
    """Counters and histograms are exact as soon as the last answer is there."""
    await front.complete([1] * 20, max_tokens=3)
    await front.complete([1] * 20, max_tokens=3)
    values = await _scrape(front)
    assert values["sglang:prompt_tokens_total"] == 40
    assert values["sglang:cached_tokens_total"] == 19
    assert values["sglang:generation_tokens_total"] == 6
    assert values["sglang:num_requests_total"] == 2
    assert values["sglang:num_aborted_requests_total"] == 0
    assert values["sglang:time_to_first_token_seconds_count"] == 2
    assert values["sglang:e2e_request_latency_seconds_count"] == 2
    assert values["sglang:queue_time_seconds_count"] == 2
    assert values["sglang:inter_token_latency_seconds_count"] == 4
    assert values["sglang:cache_hit_rate"] == 19 / 20
    assert (
        0
        < values["sglang:time_to_first_token_seconds_sum"]
        <= values["sglang:e2e_request_latency_seconds_sum"]
    )


async def test_gauges_describe_the_pool() -> None:
    """Sizes and occupation of the pool; a gauge nobody knows yet has no sample."""
    async with open_front(fake(max_total_tokens=4096, page_size=4)) as front:
        idle = await _scrape(front)
        assert "sglang:cache_hit_rate" not in idle
        assert idle["sglang:max_total_num_tokens"] == idle["sglang:kv_available_tokens"] == 4096
        assert idle["sglang:page_size"] == 4
        await front.complete([1] * 40, max_tokens=1)
        after = await _scrape(front)
    assert after["sglang:kv_evictable_tokens"] == 40
    assert after["sglang:kv_available_tokens"] == 4056
    assert (
        after["sglang:token_usage"] == after["sglang:num_running_reqs"] == after["sglang:num_queue_reqs"] == 0
    )


COUNTERS = {
    "cached_tokens",
    "evicted_tokens",
    "generation_tokens",
    "num_aborted_requests",
    "num_requests",
    "num_retracted_requests",
    "prompt_tokens",
}
GAUGES = {
    "cache_hit_rate",
    "kv_available_tokens",
    "kv_evictable_tokens",
    "max_total_num_tokens",
    "new_token_ratio",
    "num_queue_reqs",
    "num_running_reqs",
    "num_used_tokens",
    "page_size",
    "token_usage",
}
HISTOGRAMS = {
    "e2e_request_latency_seconds",
    "inter_token_latency_seconds",
    "queue_time_seconds",
    "time_to_first_token_seconds",
}
KINDS = {"counter": COUNTERS, "gauge": GAUGES, "histogram": HISTOGRAMS}


@pytest.mark.parametrize("used", [False, True])
async def test_the_names_are_these(front: Front, used: bool) -> None:
    """Dashboards find every name with its kind and a help text, before the first request as after it."""
    if used:
        await front.complete([1] * 20, max_tokens=3)
    async with front.session.get("/metrics") as response:
        families = list(text_string_to_metric_families(await response.text()))
    assert sorted((family.name, family.type) for family in families) == sorted(
        (f"sglang:{name}", kind) for kind, names in KINDS.items() for name in names
    )
    assert all(family.documentation for family in families)


async def test_two_servers_in_one_process_count_apart() -> None:
    """No global registry: a second server starts at zero."""
    async with open_front(fake()) as first, open_front(fake(served_model_name="other")) as second:
        await first.complete([1], max_tokens=1)
        assert (await _scrape(second))["sglang:num_requests_total"] == 0
