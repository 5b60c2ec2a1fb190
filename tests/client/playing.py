"""Small workloads and a way to play them against a scripted server."""

from __future__ import annotations

from collections import Counter

from radixbench.client.http import ServerClient
from radixbench.client.play import LoadResult, play
from radixbench.scenario.model import LoadSpec
from radixbench.workloads.conversation import Conversation, Turn, Workload
from tests.client.scripted_server import Handler, Out, Request, ScriptedServer, answer_well, token


def chats(conversations: int, turns: int = 1, output_len: int = 2, delay_s: float = 0.0) -> Workload:
    """Conversation c, turn t says the two ids 100 c + 10 t and the next."""
    return Workload(
        kind="test",
        conversations=tuple(
            Conversation(
                index=c,
                group=c % 2,
                turns=tuple(
                    Turn(
                        c * turns + t,
                        (100 * c + 10 * t, 100 * c + 10 * t + 1),
                        output_len,
                        delay_s=delay_s if t else 0.0,
                    )
                    for t in range(turns)
                ),
            )
            for c in range(conversations)
        ),
    )


async def played(
    workload: Workload,
    handler: Handler,
    load: LoadSpec,
    *,
    seed: int = 0,
    client: dict[str, object] | None = None,
    **options: object,
) -> tuple[LoadResult, ScriptedServer]:
    """The result, and what the server saw; ``client`` goes to the client, ``options`` to ``play``."""
    async with ScriptedServer(handler) as server, ServerClient(server.url, **client or {}) as wire:
        result = await play(workload, wire, load, seed=seed, **options)
    return result, server


def statuses(result: LoadResult) -> dict[str, int]:
    return dict(Counter(record.status for record in result.records))


async def drop_mid_stream(request: Request, out: Out) -> None:
    await out.start_stream()
    await out.event(token([1]))
    await out.reset()


async def refuse(request: Request, out: Out) -> None:
    await out.whole(503, {"error": {"message": "busy"}})


async def say_nothing(request: Request, out: Out) -> None:
    await out.start_stream()
    await out.end_stream()


async def break_in_the_stream(request: Request, out: Out) -> None:
    await out.start_stream()
    await out.event(token([1]))
    await out.event({"error": {"message": "lost the GPU"}})
    await out.end_stream()


async def talk_rubbish(request: Request, out: Out) -> None:
    await out.raw(b"\x16\x03\x01 no HTTP\r\n\r\n")


async def hang_up(request: Request, out: Out) -> None:
    await out.hang_up()


BEHAVIOURS = (
    answer_well,
    drop_mid_stream,
    refuse,
    say_nothing,
    break_in_the_stream,
    talk_rubbish,
    hang_up,
)
"""Ways to answer; 0 and 3 are complete ones."""
