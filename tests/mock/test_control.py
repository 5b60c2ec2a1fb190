"""Everything but answers, over a real socket."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from radixbench.mock.settings import CacheSettings, Dialect, Faults, Lies, MockSettings, Pace
from radixbench.mock.which import parse_which
from tests.mock.raw import Seen, ask, complete, get, until
from tests.mock.start import running_mock

PROMPT = list(range(10, 20))

FLUSH = {
    "sglang": ("/flush_cache", "POST"),
    "vllm": ("/reset_prefix_cache", "POST"),
    "llamacpp": ("/slots/0?action=erase", "POST"),
}


async def flush(url: str, dialect: Dialect = "sglang", query: str = "") -> Seen:
    path, method = FLUSH[dialect]
    return await ask(url, path + query, method=method)


async def metrics(url: str) -> dict[str, float]:
    """Counters and gauges by name; those with several labels by name and last label."""
    lines = (await get(url, "/metrics")).body.decode().splitlines()
    found: dict[str, float] = {}
    for line in lines:
        if not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            tier = name.partition('cache_source="')[2].partition('"')[0]
            found[name.partition("{")[0] + (f"/{tier}" if tier else "")] = float(value)
    return found


async def test_it_says_what_it_is() -> None:
    """/mock can't be mistaken for another server; its settings are all there; names and sizes are told."""
    async with running_mock(MockSettings(model="m", faults=Faults(empty=parse_which("1/3", "")))) as mock:
        identity = (await get(mock.base_url, "/mock")).document
        info = (await get(mock.base_url, "/server_info")).document
        models = (await get(mock.base_url, "/v1/models")).document
        assert (await get(mock.base_url, "/health")).status == 200
        assert (await get(mock.base_url, "/version")).status == 200
    assert identity["mock"] is True
    assert identity["settings"]["faults"]["empty"] == "1/3"
    assert identity["settings"]["faults"]["stall_s"] is None
    assert models["data"][0]["id"] == info["served_model_name"] == "m"
    assert {"vocab_size", "special_token_ids", "context_length", "max_total_num_tokens", "page_size"} < set(
        info
    )


@pytest.mark.parametrize("dialect", ["sglang", "vllm", "llamacpp"])
async def test_a_flush_empties_the_cache(dialect: Dialect) -> None:
    """Each dialect's own flush works, and the others' don't exist."""
    async with running_mock(MockSettings(dialect=dialect)) as mock:
        await complete(mock.base_url, PROMPT)
        assert (await complete(mock.base_url, PROMPT)).cached == 9
        assert (await flush(mock.base_url, dialect)).status == 200
        assert (await complete(mock.base_url, PROMPT)).cached == 0
        others = [await flush(mock.base_url, other) for other in FLUSH if other != dialect]
        assert [other.status for other in others] == [404, 404]


@pytest.mark.parametrize("dialect", ["sglang", "vllm", "llamacpp"])
async def test_a_flush_is_refused_while_a_request_runs(dialect: Dialect) -> None:
    """SGLang and llama.cpp say 400, vLLM says success: false; nothing is dropped."""
    settings = MockSettings(dialect=dialect, faults=Faults(stall_after_frames=1))
    async with running_mock(settings) as mock:
        running = asyncio.create_task(complete(mock.base_url, PROMPT))
        await until(lambda: bool(mock.writes["requests"]))
        assert (await metrics(mock.base_url))[RUNNING[dialect]] == 1
        refused = await flush(mock.base_url, dialect)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    if dialect == "vllm":
        assert (refused.status, refused.document) == (200, {"success": False})
    else:
        assert refused.status == 400


RUNNING = {
    "sglang": "sglang:num_running_reqs",
    "vllm": "vllm:num_requests_running",
    "llamacpp": "llamacpp:requests_processing",
}


@pytest.mark.parametrize("lie", ["lies", "unsuccessful", "absent"])
async def test_a_flush_that_is_none(lie: Any) -> None:
    """It says done, or success: false, or isn't there; the cache stays warm in each case."""
    async with running_mock(MockSettings(lies=Lies(flush=lie))) as mock:
        await complete(mock.base_url, PROMPT)
        said = await flush(mock.base_url)
        assert (await complete(mock.base_url, PROMPT)).cached == 9
    assert said.status == (404 if lie == "absent" else 200)
    if lie == "unsuccessful":
        assert said.document == {"success": False}


async def test_a_flush_that_has_to_be_asked_again() -> None:
    """The first two are refused with 400 and do nothing, the third works."""
    async with running_mock(MockSettings(lies=Lies(flush_refusals=2))) as mock:
        await complete(mock.base_url, PROMPT)
        assert [(await flush(mock.base_url)).status for _ in range(3)] == [400, 400, 200]
        assert (await complete(mock.base_url, PROMPT)).cached == 0


@pytest.mark.parametrize(
    ("dialect", "path"),
    [("sglang", "/hicache/storage-backend/clear"), ("vllm", "/reset_prefix_cache?reset_external=true")],
)
async def test_an_outer_tier_needs_a_flush_of_its_own(dialect: Dialect, path: str) -> None:
    """A plain flush leaves the outer copy, which answers; only the wider one makes the cache cold.

    Without such a tier SGLang has no endpoint for it.
    """
    settings = MockSettings(dialect=dialect, cache=CacheSettings(outer_tier=True))
    async with running_mock(settings) as mock:
        await complete(mock.base_url, PROMPT)
        await flush(mock.base_url, dialect)
        assert (await complete(mock.base_url, PROMPT)).cached == 9
        await flush(mock.base_url, dialect)
        await ask(mock.base_url, path)
        assert (await complete(mock.base_url, PROMPT)).cached == 0
        tiers = await metrics(mock.base_url)
    outer = (
        "sglang:cached_tokens_total/storage"
        if dialect == "sglang"
        else "vllm:external_prefix_cache_hits_total"
    )
    assert tiers[outer] == 9
    async with running_mock(MockSettings(dialect=dialect)) as mock:
        found = await ask(mock.base_url, path)
    assert found.status == (404 if dialect == "sglang" else 200)


async def test_counters_under_each_name() -> None:
    """Prompt, cached and output tokens are counted under the dialect's names; llama.cpp leaves cached ones out."""
    found = {}
    for dialect in FLUSH:
        async with running_mock(MockSettings(dialect=dialect)) as mock:
            for _ in range(2):
                await complete(mock.base_url, PROMPT, 3)
            found[dialect] = await metrics(mock.base_url)
    assert found["sglang"]["sglang:prompt_tokens_total"] == 20
    assert found["sglang"]["sglang:cached_tokens_total/device"] == 9
    assert found["sglang"]["sglang:generation_tokens_total"] == 6
    assert found["vllm"]["vllm:prefix_cache_queries_total"] == 20
    assert found["vllm"]["vllm:prefix_cache_hits_total"] == 9
    assert found["llamacpp"]["llamacpp:prompt_tokens_total"] == 11
    assert found["llamacpp"]["llamacpp:tokens_predicted_total"] == 6


async def test_counters_that_lie() -> None:
    """Cached tokens may be overstated, counters stand still, or the endpoint be missing."""
    async with running_mock(MockSettings(lies=Lies(metrics_cached_factor=2.0))) as mock:
        for _ in range(2):
            await complete(mock.base_url, PROMPT)
        assert (await metrics(mock.base_url))["sglang:cached_tokens_total/device"] == 18
    async with running_mock(MockSettings(lies=Lies(metrics="frozen"))) as mock:
        await complete(mock.base_url, PROMPT)
        assert (await metrics(mock.base_url))["sglang:prompt_tokens_total"] == 0
    async with running_mock(MockSettings(lies=Lies(metrics="absent"))) as mock:
        assert (await get(mock.base_url, "/metrics")).status == 404


async def test_llamacpps_endpoints_are_its_own() -> None:
    """Another dialect has neither slots nor props."""
    async with running_mock() as mock:
        assert [(await get(mock.base_url, path)).status for path in ("/slots", "/props")] == [404, 404]


async def test_llamacpp_tells_what_it_computed() -> None:
    """Its last event has timings whose prompt count leaves out cached tokens; slots are listed."""
    async with running_mock(MockSettings(dialect="llamacpp", pace=Pace())) as mock:
        await complete(mock.base_url, PROMPT, 2)
        seen = await complete(mock.base_url, PROMPT, 2)
        slots = (await get(mock.base_url, "/slots")).document
        assert (await get(mock.base_url, "/props")).document["total_slots"] == len(slots) == 1
    assert seen.events[1]["timings"] == {"cache_n": 9, "prompt_n": 1, "predicted_n": 2}
    assert slots[0]["is_processing"] is False
