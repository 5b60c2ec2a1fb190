"""One client reading many streams, measured from inside its own process; started by ``client_cost.py``.

Runs on any Python that has the client asked for, so it imports nothing of this project unless that client is
ours. The starts of all streams are spread over ``SPREAD_S`` seconds. Says ``ready``, then answers each line of input
with one of JSON: CPU time of the process while the streams ran, and for every stream, in the order they were
sent, the moment of sending and of each chunk on the host's monotonic clock.

    python client_cost_peer.py radixbench|sglang|httpx|aiohttp URL STREAMS SPREAD_S MAX_TOKENS
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
import types
from collections.abc import Awaitable, Callable
from typing import Any

PROMPT = list(range(100, 116))
Stamps = list[int]
"""Moment of sending, then the moment of every chunk with text, in nanoseconds."""

One = Callable[[str, int], Awaitable[Stamps]]


def body(max_tokens: int, **more: Any) -> dict[str, Any]:
    """The request every client sends."""
    asked = {"model": "mock", "prompt": PROMPT, "max_tokens": max_tokens, "temperature": 0.0, "stream": True}
    return {**asked, "ignore_eos": True, **more}


def radixbench(url: str) -> tuple[One, Callable[[], Awaitable[None]]]:
    """Our client, as a run uses it."""
    from radixbench.client.http import ServerClient  # not in a peer's Python

    client = ServerClient(url, model="mock")

    async def one(_: str, max_tokens: int) -> Stamps:
        answer = await client.flight(PROMPT, max_tokens).run()
        assert answer.status == "completed", answer.error
        return [answer.send_ns, *answer.chunk_ns]

    async def close() -> None:
        await client.wire.close()

    return one, close


def sglang(_: str) -> tuple[One, None]:
    """The request function of ``sglang.benchmark.serving``, unmodified."""
    utils = types.ModuleType("sglang.srt.disaggregation.utils")
    utils.FAKE_BOOTSTRAP_HOST = "2.2.2.2"  # the one name the client takes from a module that needs CUDA
    package = types.ModuleType("sglang.srt.disaggregation")
    package.__path__ = []
    sys.modules["sglang.srt.disaggregation"] = package
    sys.modules["sglang.srt.disaggregation.utils"] = utils
    from sglang.benchmark import serving  # in the peer's environment only

    serving.args = argparse.Namespace(
        disable_stream=False,
        disable_ignore_eos=False,
        return_logprob=False,
        top_logprobs_num=0,
        cache_report=False,
        header=None,
    )

    async def one(url: str, max_tokens: int) -> Stamps:
        request = serving.RequestFuncInput(
            prompt=PROMPT,
            api_url=f"{url}/v1/completions",
            prompt_len=len(PROMPT),
            output_len=max_tokens,
            model="mock",
            lora_name="",
            image_data=None,
            extra_request_body={},
        )
        output = await serving.async_request_openai_completions(request_func_input=request)
        assert output.success, output.error
        moment = output.start_time + output.ttft
        stamps = [output.start_time, moment]
        for gap in output.itl:
            moment += gap
            stamps.append(moment)
        return [int(stamp * 1e9) for stamp in stamps]

    return one, None


def httpx(_: str) -> tuple[One, Callable[[], Awaitable[None]]]:
    """A loop over ``aiter_lines``, the pattern of clients built on httpx."""
    import httpx as library  # perhaps in the peer's environment only

    client = library.AsyncClient(timeout=None, limits=library.Limits(max_connections=None))

    async def one(url: str, max_tokens: int) -> Stamps:
        stamps = [time.monotonic_ns()]
        async with client.stream("POST", f"{url}/v1/completions", json=body(max_tokens)) as response:
            async for line in response.aiter_lines():
                if not line.startswith("data: ") or line == "data: [DONE]":
                    continue
                choices = json.loads(line[6:])["choices"]
                if choices and choices[0]["text"]:
                    stamps.append(time.monotonic_ns())
        return stamps

    return one, client.aclose


def aiohttp(_: str) -> tuple[One, None]:
    """The plain loop: a session per request, line by line."""
    import aiohttp as library  # each peer imports its own library only

    async def one(url: str, max_tokens: int) -> Stamps:
        stamps = [time.monotonic_ns()]
        async with (
            library.ClientSession(read_bufsize=10 << 20) as session,
            session.post(f"{url}/v1/completions", json=body(max_tokens)) as response,
        ):
            async for line in response.content:
                if not line.startswith(b"data: ") or line.startswith(b"data: [DONE]"):
                    continue
                choices = json.loads(line[6:])["choices"]
                if choices and choices[0]["text"]:
                    stamps.append(time.monotonic_ns())
        return stamps

    return one, None


CLIENTS = {"radixbench": radixbench, "sglang": sglang, "httpx": httpx, "aiohttp": aiohttp}


async def play(one: One, url: str, streams: int, spread_s: float, max_tokens: int) -> list[Stamps]:
    """All streams, the first one at once, the last one ``spread_s`` later."""
    start = time.monotonic() + 0.05

    async def delayed(place: int) -> Stamps:
        await asyncio.sleep(start + place * spread_s / streams - time.monotonic())
        return await one(url, max_tokens)

    return await asyncio.gather(*(delayed(place) for place in range(streams)))


async def serve(options: argparse.Namespace) -> None:
    """Warm up with a few streams, then measure once for every line of input."""
    one, close = CLIENTS[options.client](options.url)
    await play(one, options.url, 4, 0.0, 8)
    print("ready", flush=True)
    while await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline):
        cpu_ns = time.process_time_ns()
        stamps = await play(one, options.url, options.streams, options.spread, options.max_tokens)
        cpu_ns = time.process_time_ns() - cpu_ns
        print(json.dumps({"cpu_ns": cpu_ns, "stamps": stamps}), flush=True)
    if close is not None:
        await close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("url")
    parser.add_argument("streams", type=int)
    parser.add_argument("spread", type=float)
    parser.add_argument("max_tokens", type=int)
    options = parser.parse_args()
    if options.client == "radixbench":
        from radixbench.client.loop import run  # not in a peer's Python

        run(serve(options))
    else:
        asyncio.run(serve(options))


if __name__ == "__main__":
    main()
