"""Health, identity, flush, audit, keys: what a benchmark asks a server besides text."""

from __future__ import annotations

import asyncio

import pytest

from tests.server.conftest import SLOW, Front, fake, open_front


async def test_health_computes_nothing(front: Front) -> None:
    """Polling /health leaves no step and no request behind."""
    for _ in range(3):
        async with front.session.get("/health") as response:
            assert response.status == 200
    assert await front.records() == []


async def test_health_generate_computes_one_token(front: Front) -> None:
    """/health_generate runs one request of one token."""
    async with front.session.get("/health_generate") as response:
        assert response.status == 200
    assert front.service.loop.stats.generation_tokens_total == 1


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_flush_empties_the_cache(front: Front, method: str) -> None:
    """After a flush the same prompt finds nothing; body and log say so in SGLang's words."""
    await front.complete([1] * 20, max_tokens=1)
    async with front.session.request(method, "/flush_cache") as response:
        assert response.status == 200
        assert (await response.text()).startswith("Cache flushed.\n")
    again = await front.complete([1] * 20, max_tokens=1)
    assert again["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
    assert any(line.endswith("] Cache flushed successfully!") for line in await front.lines())


async def test_a_flush_right_after_the_last_answer_succeeds(front: Front) -> None:
    """Whoever has all answers can flush: requests are retired before their last byte."""
    for number in range(20):
        await asyncio.gather(*(front.complete([number, k], max_tokens=3) for k in range(4)))
        async with front.session.post("/flush_cache") as response:
            assert response.status == 200, await response.text()


async def test_a_flush_is_refused_while_requests_are_pending() -> None:
    """A running request makes a flush answer 400 with the counts; with a timeout it waits instead."""
    async with open_front(fake(fake_cost=SLOW)) as front:
        pending = asyncio.create_task(front.complete([1], max_tokens=40))
        await front.until(busy=True)
        async with front.session.post("/flush_cache") as response:
            assert response.status == 400
            assert await response.text() == (
                "Cache not flushed because there are pending requests. #queue-req: 0, #running-req: 1"
            )
        async with front.session.post("/flush_cache?timeout=30") as response:
            assert response.status == 200
        assert pending.done() or await pending


async def test_models_lists_the_served_name() -> None:
    """/v1/models shows the name clients should use, and one model by its name."""
    async with open_front(fake(served_model_name="org/<b>tiny</b>")) as front:
        card = (await front.get("/v1/models"))[1]["data"][0]
        assert (card["id"], card["root"], card["max_model_len"]) == ("org/<b>tiny</b>", "tiny", 16384)
        assert (await front.get("/v1/models/org/<b>tiny</b>"))[1] == card
        assert (await front.get("/v1/models/other"))[0] == 404


@pytest.mark.parametrize("path", ["/server_info", "/get_server_info"])
async def test_server_info_states_arguments_and_identity(path: str) -> None:
    """Resolved arguments under SGLang's names, identity for comparisons, totals, no key."""
    async with open_front(fake(api_key="secret", page_size=16, radix_cache=False)) as front:
        await front.complete([1] * 20, max_tokens=2)
        info = (await front.get(path))[1]
    assert info["scheduler_info"]["max_total_num_tokens"] == info["max_total_num_tokens"] == 65536
    assert info["page_size"] == 16
    assert info["radix_cache"] is False
    assert info["disable_radix_cache"] is True
    assert info["vocab_size"] == 8192
    assert info["random_weights"] is True
    assert (info["device"], info["dtype"]) == ("cpu", "float32")
    assert len(info["weights_sha256"]) == len(info["tokenizer_sha256"]) == 64
    assert 0 < info["host_ns_total"] <= info["step_ns_total"]
    assert info["internal_states"][0]["prompt_tokens_total"] == 20
    assert "secret" not in str(info)


@pytest.mark.parametrize("path", ["/model_info", "/get_model_info"])
async def test_model_info_names_the_model(front: Front, path: str) -> None:
    """The model's path and served name, under the old and the new address."""
    info = (await front.get(path))[1]
    assert (info["model_path"], info["served_model_name"], info["is_generation"]) == ("tiny", "tiny", True)


async def test_an_api_key_is_asked_for() -> None:
    """Without the key everything but health and metrics is 401, in OpenAI's shape."""
    async with open_front(fake(api_key="secret")) as front:
        await front.complete([1], max_tokens=1)
        for given in ("", "Bearer wrong", "secret", "Bearer s\u00e9cret"):
            async with front.session.get("/v1/models", headers={"Authorization": given}) as response:
                assert response.status == 401
                assert (await response.json())["error"]["type"] == "authentication_error"
            async with front.session.get("/health", headers={"Authorization": given}) as response:
                assert response.status == 200


async def test_the_audit_endpoint_exists_only_when_asked() -> None:
    """POST /audit checks ownership where it is enabled and is unknown elsewhere."""
    async with open_front(fake(audit_endpoint=False)) as front:
        assert (await front.post("/audit", {}))[0] == 404
    async with open_front(fake()) as front:
        assert await front.post("/audit", {}) == (200, {"clean": True})
