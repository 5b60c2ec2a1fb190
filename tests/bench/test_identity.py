"""What servers say of themselves, of every make."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from radixbench.bench.identity import ServerFacts, check_fits, read_facts
from radixbench.bench.maker import Maker
from radixbench.client.http import ServerClient
from radixbench.errors import IncompleteError, UsageError
from radixbench.mock.settings import CacheSettings, MockSettings
from radixbench.model.tiny_tokenizer import TinyTokenizer
from tests.mock.start import running_mock

SGLANG = {
    "/server_info": {
        "model_path": "org/model",
        "served_model_name": "model",
        "context_length": None,
        "page_size": 1,
        "version": "0.5.22",
        "api_key": "sk-secret",
        "admin_api_key": "sk-secret",
        "launch_command": "--api-key sk-secret",
        "schedule_policy": "lpm",
        "nested": {"state": 1},
        "mem_fraction_static": 0.8,
        "internal_states": [{"memory_usage": {"token_capacity": 5000}}],
    },
    "/v1/models": {"data": [{"id": "model", "max_model_len": 4096, "owned_by": "sglang"}]},
}
VLLM = {
    "/v1/models": {"data": [{"id": "model", "max_model_len": 2048, "owned_by": "vllm"}]},
    "/version": {"version": "0.32.0"},
    "/metrics": '# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{block_size="16",num_gpu_blocks="100"} 1.0\n',
}
LLAMACPP = {
    "/v1/models": {
        "data": [
            {
                "id": "model.gguf",
                "owned_by": "llamacpp",
                "meta": {"n_vocab": 32_000, "n_ctx": 2048, "n_ctx_train": 4096},
            }
        ]
    },
    "/props": {"build_info": "b9999-abc"},
}


@contextlib.asynccontextmanager
async def answering(pages: Mapping[str, Any]) -> AsyncIterator[ServerClient]:
    """A client of a server that knows these pages and nothing else."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        page = pages.get(head.split()[1].decode())
        body = page if isinstance(page, str) else json.dumps(page)
        status = "404 Not Found" if page is None else "200 OK"
        writer.write(
            f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, ServerClient(f"http://127.0.0.1:{port}") as client:
        yield client


async def facts_of(pages: Mapping[str, Any], *, named: bool = True) -> ServerFacts:
    """The facts of such a server, with its tokenizer named or not."""
    async with answering(pages) as client:
        return await read_facts(client, TinyTokenizer() if named else None)


async def test_a_mimic_of_ours_tells_everything() -> None:
    """No tokenizer is needed where vocabulary and special ids are told."""
    settings = MockSettings(cache=CacheSettings(page_size=16), context_len=1000)
    async with running_mock(settings) as mock, ServerClient(mock.base_url) as client:
        facts = await read_facts(client)
    assert (facts.vocab_size, facts.page_size, facts.context_len) == (8192, 16, 1000)
    assert facts.special_token_ids
    assert facts.notes == ()
    assert facts.maker == Maker("sglang", "SGLang", "/metrics", firm=False)


async def test_sglang_with_a_tokenizer() -> None:
    """Its pool stands in the state, its context with the model; no key of any kind is kept."""
    facts = await facts_of(SGLANG)
    assert (facts.model, facts.vocab_size) == ("model", TinyTokenizer.vocab_size)
    assert (facts.context_len, facts.pool_tokens, facts.page_size) == (4096, 5000, 1)
    record = facts.record(engine="sglang", pid=None, base_url="http://x")
    assert "sk-secret" not in json.dumps([record.args, record.identity])
    assert record.version == "0.5.22"
    assert (record.args["schedule_policy"], record.args["mem_fraction_static"]) == ("lpm", 0.8)
    assert not {"nested", "internal_states", "launch_command"} & set(record.args)


async def test_a_tokenizer_of_another_model_is_refused() -> None:
    """Ids that the server doesn't know would fail one by one; the two numbers say why nothing is sent."""
    with pytest.raises(
        UsageError, match="knows 320 token ids, the tokenizer makes 8,192; name the tokenizer"
    ):
        await facts_of({"/server_info": {"served_model_name": "m", "vocab_size": 320}})


async def test_vllm_with_a_tokenizer() -> None:
    """Block size and pool stand in a metric's labels, the version at an endpoint of its own."""
    facts = await facts_of(VLLM)
    assert (facts.context_len, facts.pool_tokens, facts.page_size) == (2048, 1600, 16)
    record = facts.record(engine="vllm", pid=None, base_url="http://x")
    assert (record.version, record.args["page_size"]) == ("0.32.0", 16)


async def test_vllm_in_a_developers_mode_tells_its_device_and_precision() -> None:
    """The printed configuration is kept as single settings; the environment beside it, with its keys, isn't kept."""
    info = {
        "vllm_config": "dtype=torch.float32, device_config=cpu, seed=0, pooler_config=Pooler(a=1, b=2)",
        "vllm_env": {"VLLM_API_KEY": "sk-secret"},
    }
    facts = await facts_of({**VLLM, "/server_info": info})
    assert facts.device == "cpu"
    record = facts.record(engine="vllm", pid=None, base_url="http://x")
    assert (record.identity["dtype"], record.identity["device"]) == ("float32", "cpu")
    assert record.args["seed"] == 0
    assert not {"vllm_config", "vllm_env", "pooler_config"} & set(record.args)


async def test_llamacpp_without_a_tokenizer() -> None:
    """Its vocabulary is known, its special ids aren't: the ends stay unused, and that is said."""
    facts = await facts_of(LLAMACPP, named=False)
    assert (facts.vocab_size, facts.page_size, facts.context_len) == (32_000, 1, 2048)
    assert {0, 511, 31_999} <= facts.special_token_ids
    assert 512 not in facts.special_token_ids
    assert "--tokenizer" in facts.notes[0]
    assert facts.record(engine="llamacpp", pid=None, base_url="http://x").version == "b9999-abc"


@pytest.mark.parametrize("pages", [SGLANG, VLLM])
async def test_an_unknown_vocabulary_is_one_line_with_its_remedy(pages: Mapping[str, Any]) -> None:
    """Token-exact prompts need ids; who doesn't tell them must be told the tokenizer."""
    with pytest.raises(UsageError, match="doesn't tell its vocabulary") as caught:
        await facts_of(pages, named=False)
    assert "--tokenizer" in str(caught.value)


@pytest.mark.parametrize(
    "pages", [{}, {"/server_info": {}}, {"/v1/models": {"data": []}}, {"/v1/models": []}]
)
async def test_what_names_no_model_is_no_server_to_measure(pages: Mapping[str, Any]) -> None:
    """Any other web server is refused by its address."""
    with pytest.raises(IncompleteError, match="names no model"):
        await facts_of(pages)


@pytest.mark.parametrize(("pages", "engine"), [(SGLANG, "sglang"), (VLLM, "vllm"), (LLAMACPP, "llamacpp")])
async def test_servers_are_known_by_their_own_word(pages: Mapping[str, Any], engine: str) -> None:
    """Each names itself as the owner of its model."""
    found = (await facts_of(pages)).maker
    assert found is not None
    assert (found.engine, found.firm) == (engine, True)


async def test_another_start_of_a_server_is_another_server() -> None:
    """Its process' start time, where it tells one, is part of what a ledger is kept under."""
    page = "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds {}\n"
    first = await facts_of({**LLAMACPP, "/metrics": page.format(1000)})
    second = await facts_of({**LLAMACPP, "/metrics": page.format(2000)})
    assert first.fingerprint != second.fingerprint
    assert "start_time" not in first.record(engine="llamacpp", pid=None, base_url="http://x").args


async def test_requests_that_fit_nowhere_are_refused() -> None:
    """Context and pool bound a request, as far as they are known."""
    facts = await facts_of(VLLM)
    check_fits(facts, 1600)
    with pytest.raises(UsageError, match="the server's pool holds 1,600"):
        check_fits(facts, 1601)
    with pytest.raises(UsageError, match=r"the context of model.gguf holds 2,048"):
        check_fits(await facts_of(LLAMACPP), 2049)
    check_fits(replace(facts, context_len=None, pool_tokens=None), 10**9)
