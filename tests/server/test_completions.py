"""Completions: every form of prompt, streamed and whole, with exact counts."""

from __future__ import annotations

from typing import Any

import pytest

from radixbench.model.tiny_tokenizer import TinyTokenizer
from radixbench.records import FinishRecord, StepRecord
from tests.server.conftest import Front, fake, open_front


def _last_finish(records: list[StepRecord | FinishRecord]) -> FinishRecord:
    return [record for record in records if isinstance(record, FinishRecord)][-1]


async def test_a_text_prompt_is_answered_with_usage(front: Front) -> None:
    """A whole body holds the text, the finish reason and exact token counts."""
    body = await front.complete("hello world", max_tokens=5)
    (choice,) = body["choices"]
    assert (body["object"], body["model"]) == ("text_completion", "tiny")
    assert choice["finish_reason"] == "length"
    assert body["usage"] == {
        "prompt_tokens": 11,
        "completion_tokens": 5,
        "total_tokens": 16,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
    assert len(TinyTokenizer().encode(choice["text"])) >= 5


async def test_sixteen_tokens_are_the_default(front: Front) -> None:
    """Without max_tokens a completion has OpenAI's 16 tokens."""
    assert (await front.complete([1, 2, 3]))["usage"]["completion_tokens"] == 16


async def test_streamed_and_whole_answers_agree(front: Front) -> None:
    """The chunks of a stream join to the text and ids of the same request unstreamed."""
    request = {"prompt": [5, 6, 7], "max_tokens": 8, "temperature": 0, "return_token_ids": True}
    whole = (await front.complete(**request))["choices"][0]
    chunks = await front.stream("/v1/completions", request)
    choices = [chunk["choices"][0] for chunk in chunks]
    assert "".join(choice["text"] for choice in choices) == whole["text"]
    assert [token for choice in choices for token in choice["token_ids"]] == whole["token_ids"]
    assert whole["prompt_token_ids"] == choices[0]["prompt_token_ids"] == [5, 6, 7]
    assert not any("prompt_token_ids" in choice for choice in choices[1:])
    assert [choice["finish_reason"] for choice in choices] == [None] * 7 + ["length"]


async def test_usage_rides_on_the_chunk_that_finishes(front: Front) -> None:
    """A stream carries the usage once, with the finish reason; no chunk is without choices."""
    chunks = await front.stream("/v1/completions", {"prompt": [1, 2], "max_tokens": 3})
    assert ["usage" in chunk for chunk in chunks] == [False, False, True]
    assert all(chunk["choices"] for chunk in chunks)
    assert chunks[-1]["usage"]["prompt_tokens_details"] == {"cached_tokens": 0}


async def test_the_usage_only_chunk_comes_when_asked(front: Front) -> None:
    """include_usage adds one chunk without choices before the end."""
    body = {"prompt": [1, 2], "max_tokens": 3, "stream_options": {"include_usage": True}}
    chunks = await front.stream("/v1/completions", body)
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"] == chunks[-2]["usage"]


async def test_sglangs_account_of_cached_tokens_comes_when_asked(front: Front) -> None:
    """return_cached_tokens_details adds the field that SGLang's benchmark client reads."""
    request = {"prompt": [1] * 20, "max_tokens": 1, "return_cached_tokens_details": True}
    assert (await front.complete(**request))["sglext"] == {"cached_tokens_details": {"device": 0, "host": 0}}
    chunks = await front.stream("/v1/completions", request)
    assert chunks[-1]["sglext"] == {"cached_tokens_details": {"device": 19, "host": 0}}
    assert "sglext" not in await front.complete([1] * 20, max_tokens=1)


async def test_lists_and_n_number_their_choices(front: Front) -> None:
    """Answer i of prompt p is choice p * n + i; a prompt counts once however many answers it gets."""
    body = await front.complete([[1, 2, 3], [4, 5]], n=2, max_tokens=4, return_token_ids=True)
    assert [choice["index"] for choice in body["choices"]] == [0, 1, 2, 3]
    assert [choice["prompt_token_ids"] for choice in body["choices"]] == [[1, 2, 3]] * 2 + [[4, 5]] * 2
    assert body["usage"]["prompt_tokens"] == 5
    assert body["usage"]["completion_tokens"] == 16


async def test_a_list_of_texts_streams_interleaved(front: Front) -> None:
    """Every choice of a stream is complete, and the usage comes with the last of them."""
    chunks = await front.stream("/v1/completions", {"prompt": ["ab", "cd"], "max_tokens": 3})
    finishes = [chunk["choices"][0] for chunk in chunks if chunk["choices"][0]["finish_reason"]]
    assert sorted(choice["index"] for choice in finishes) == [0, 1]
    assert [chunk["usage"]["completion_tokens"] for chunk in chunks if "usage" in chunk] == [6]


@pytest.mark.parametrize("prompt", ["ab", [97, 98]])
async def test_echo_puts_the_prompt_first(front: Front, prompt: Any) -> None:
    """With echo the answer begins with the prompt's text, however the prompt was given."""
    plain = (await front.complete(prompt, max_tokens=2))["choices"][0]["text"]
    assert (await front.complete(prompt, max_tokens=2, echo=True))["choices"][0]["text"] == "ab" + plain


async def test_a_stop_string_cuts_text_and_generation(front: Front) -> None:
    """Nothing from the stop string on is sent, the request ends there, and usage counts its tokens."""
    ids = (await front.complete([9, 9], max_tokens=8, return_token_ids=True))["choices"][0]["token_ids"]
    decode = TinyTokenizer().decode
    stop = decode(ids[3:5])[1:-1]
    request = {"prompt": [9, 9], "max_tokens": 8, "temperature": 0, "stop": [stop, "never"]}
    body = await front.complete(**request)
    choice = body["choices"][0]
    assert (choice["text"], choice["finish_reason"]) == (decode(ids).split(stop)[0], "stop")
    assert body["usage"]["completion_tokens"] == 5
    chunks = await front.stream("/v1/completions", request)
    assert "".join(chunk["choices"][0]["text"] for chunk in chunks) == choice["text"]
    finishes = [record for record in await front.records() if isinstance(record, FinishRecord)]
    assert [(record.output_len, record.finish_reason) for record in finishes[1:]] == [(5, "stop")] * 2


async def test_a_stop_string_on_the_last_token_is_a_stop(front: Front) -> None:
    """When the length limit and a stop string meet, client and log both say stop."""
    ids = (await front.complete([9, 9], max_tokens=3, return_token_ids=True))["choices"][0]["token_ids"]
    last = TinyTokenizer().decode(ids[2:])
    body = await front.complete([9, 9], max_tokens=3, stop=last)
    assert body["choices"][0]["finish_reason"] == "stop"
    assert _last_finish(await front.records()).finish_reason == "stop"


async def test_held_back_text_comes_at_the_end(front: Front) -> None:
    """Text that might have begun a stop string is sent once it can't any more."""
    plain = (await front.complete([3], max_tokens=4))["choices"][0]["text"]
    stopped = await front.complete([3], max_tokens=4, stop=plain[-3:] + "!")
    assert stopped["choices"][0]["text"] == plain


async def test_stop_token_ids_end_an_answer_unless_ignored(front: Front) -> None:
    """A stop token ends the request and counts; ignore_eos goes on."""
    ids = (await front.complete([8], max_tokens=6, return_token_ids=True))["choices"][0]["token_ids"]
    stopped = await front.complete([8], max_tokens=6, stop_token_ids=[ids[2]])
    assert stopped["choices"][0]["finish_reason"] == "stop"
    assert stopped["usage"]["completion_tokens"] == ids.index(ids[2]) + 1
    ignored = await front.complete([8], max_tokens=6, stop_token_ids=[ids[2]], ignore_eos=True)
    assert ignored["usage"]["completion_tokens"] == 6


async def test_the_second_of_two_equal_prompts_computes_one_token(front: Front) -> None:
    """2,999 tokens sent twice: 2,998 are reused, by the usage and by the log."""
    prompt = [index % 8192 for index in range(2999)]
    await front.complete(prompt, max_tokens=1)
    again = await front.complete(prompt, max_tokens=1)
    assert again["usage"]["prompt_tokens_details"]["cached_tokens"] == 2998
    prefills = [line for line in await front.lines() if "Prefill batch" in line]
    assert "#new-token: 1, #cached-token: 2998" in prefills[-1]


async def test_no_cache_reuses_nothing() -> None:
    """With the cache off the same prompt is computed again, to the same answer."""
    async with open_front(fake(radix_cache=False)) as front:
        first = await front.complete([1] * 50, max_tokens=4)
        again = await front.complete([1] * 50, max_tokens=4)
    assert again["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
    assert again["choices"] == first["choices"]


@pytest.mark.parametrize("key", ["extra_key", "cache_salt"])
async def test_namespaces_keep_prefixes_apart(front: Front, key: str) -> None:
    """A prompt cached under one key is unknown under another."""
    await front.complete([1] * 20, max_tokens=1, **{key: "a"})
    other = await front.complete([1] * 20, max_tokens=1, **{key: "b"})
    same = await front.complete([1] * 20, max_tokens=1, **{key: "a"})
    assert other["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
    assert same["usage"]["prompt_tokens_details"]["cached_tokens"] == 19


async def test_the_clients_rid_is_kept(front: Front) -> None:
    """A request id the client chose names the reply and the log line."""
    assert (await front.complete([1], max_tokens=1, rid="mine/1"))["id"] == "mine/1"
    assert _last_finish(await front.records()).rid == "mine/1"


async def test_characters_split_over_tokens_arrive_whole(front: Front) -> None:
    """No chunk of a stream ever holds a replacement character that the whole answer doesn't."""
    text = "naïve 🚀 €"
    body = {"prompt": text, "echo": True, "max_tokens": 40, "temperature": 0}
    whole = (await front.complete(**body))["choices"][0]["text"]
    chunks = await front.stream("/v1/completions", body)
    assert "".join(chunk["choices"][0]["text"] for chunk in chunks) == whole
    assert whole.startswith(text)


async def test_a_log_of_every_step_is_complete() -> None:
    """With an interval of 1 the log holds every step, numbered without a gap, and every request."""
    async with open_front(fake(decode_log_interval=1)) as front:
        await front.complete([[1, 2, 3], [4, 5, 6]], max_tokens=5)
        records = await front.records()
        steps = [record for record in records if isinstance(record, StepRecord)]
        assert [record.step for record in steps] == list(range(steps[0].step, steps[0].step + len(steps)))
        assert sum(record.new_tokens for record in steps if record.phase == "decode") == 8
        assert len(records) - len(steps) == 2
