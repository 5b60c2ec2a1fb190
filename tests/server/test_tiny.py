"""The built-in model behind the server: the same answers, counts and texts as the scripted one promises."""

from __future__ import annotations

import pytest

from radixbench.model.tiny_tokenizer import TinyTokenizer
from radixbench.server.config import ServerConfig
from tests.server.conftest import Front, open_front

pytest.importorskip("torch")


def _tiny(**settings: object) -> ServerConfig:
    return ServerConfig(port=0, threads=1, max_total_tokens=8192, **settings)  # type: ignore[arg-type]  # by name


async def _greedy(front: Front, prompt: list[int]) -> list[int]:
    body = await front.complete(prompt, max_tokens=6, ignore_eos=True, return_token_ids=True)
    return body["choices"][0]["token_ids"]


async def test_reuse_changes_no_token() -> None:
    """A prompt answered from the cache, and with the cache off, has the tokens of one computed whole."""
    prompt = [(7 * index) % 8192 for index in range(300)]
    async with open_front(_tiny()) as front:
        first, again = await _greedy(front, prompt), await _greedy(front, prompt)
        assert front.service.loop.stats.cached_tokens_total == 299
        await front.service.loop.audit()
        info = (await front.get("/server_info"))[1]
        chunks = await front.stream("/v1/completions", {"prompt": prompt, "max_tokens": 6, "temperature": 0})
    async with open_front(_tiny(radix_cache=False)) as front:
        off = await _greedy(front, prompt)
    assert first == again == off
    assert "".join(chunk["choices"][0]["text"] for chunk in chunks) == TinyTokenizer().decode(first)
    assert (info["device"], info["dtype"], info["random_weights"], info["threads"]) == (
        "cpu",
        "float32",
        True,
        1,
    )


async def test_the_second_of_two_equal_prompts_computes_one_token() -> None:
    """2,999 tokens sent twice to a real model: 2,998 are reused, by the usage and by the log."""
    prompt = [(11 * index) % 8192 for index in range(2999)]
    async with open_front(_tiny()) as front:
        await front.complete(prompt, max_tokens=1)
        again = await front.complete(prompt, max_tokens=1)
        lines = await front.lines()
    assert again["usage"]["prompt_tokens_details"]["cached_tokens"] == 2998
    prefills = [line for line in lines if "Prefill batch" in line]
    assert "#new-token: 1, #cached-token: 2998" in prefills[-1]


async def test_a_seed_makes_sampling_repeatable() -> None:
    """The same seed gives the same sampled answer, its second choice another, whatever runs beside it."""
    async with open_front(_tiny()) as front:
        request = {"max_tokens": 8, "temperature": 1.0, "seed": 7, "return_token_ids": True, "n": 2}
        runs = [(await front.complete([1, 2, 3], **request))["choices"] for _ in range(2)]
    answers = [[choice["token_ids"] for choice in choices] for choices in runs]
    assert answers[0] == answers[1]
    assert answers[0][0] != answers[0][1]
