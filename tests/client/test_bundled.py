"""Workloads, client and the bundled server together: real processes, real HTTP, real tree, scripted tokens."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from radixbench.client.http import ServerClient
from radixbench.client.loop import run
from radixbench.client.play import LoadResult, play
from radixbench.scenario.model import LoadSpec
from radixbench.workloads.build import Sizes, build
from radixbench.workloads.conversation import Workload
from radixbench.workloads.tokens import TokenSource
from radixbench.workloads.warmup import probe, warmup

TOKENS = TokenSource.of(8192, families=32)
SIZES = Sizes(shared=0, groups=3, prompts_per_group=4, question_len=12, output_len=6)


@contextlib.contextmanager
def serving(log: Path, *flags: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server process on a free port, with its address; ended on the way out."""
    command = [sys.executable, "-m", "radixbench", "serve", "--runner", "fake", "--port", "0", *flags]
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        try:
            for _ in range(600):
                if found := re.search(r"Listening on (\S+)", log.read_text()):
                    yield found[1], process
                    return
                assert process.poll() is None, log.read_text()
                time.sleep(0.1)
            raise AssertionError(log.read_text())
        finally:
            process.kill()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for all tests that flush behind themselves."""
    with serving(tmp_path_factory.mktemp("server") / "log") as (address, _):
        yield address


def played(url: str, workload: Workload, max_concurrency: int = 1) -> LoadResult:
    """Flush, then play the workload."""

    async def main() -> LoadResult:
        async with ServerClient(url) as client:
            await client.wait_ready(60)
            assert (await client.flush()).ok
            return await play(workload, client, LoadSpec(max_concurrency=max_concurrency), seed=0)

    return run(main())


@pytest.mark.parametrize("shared", [0, 100])
def test_the_first_of_a_group_computes_what_the_others_reuse(url: str, shared: int) -> None:
    """One at a time: the first prompt of a group finds nothing, every other exactly the shared prefix."""
    workload = build("shared-prefix", replace(SIZES, shared=shared), seed=0, tokens=TOKENS)
    result = played(url, workload)
    cached: dict[int, list[int | None]] = defaultdict(list)
    for record in result.records:
        assert (record.status, record.prompt_tokens, record.output_tokens) == ("completed", shared + 12, 6)
        assert len(record.output_ids or ()) == 6
        cached[record.group].append(record.cached_tokens)
    assert dict(cached) == {group: [0, shared, shared, shared] for group in range(3)}


def test_every_turn_reuses_the_whole_conversation(url: str) -> None:
    """Turn k finds the prompt and answer of turn k - 1, all but the answer's last token."""
    workload = build("multi-turn", replace(SIZES, shared=50, turns=3), seed=0, tokens=TOKENS)
    result = played(url, workload)
    assert {record.status for record in result.records} == {"completed"}
    for record in result.records:
        assert record.prompt_tokens == 50 + 12 + record.turn * 18
        if record.turn:
            assert record.cached_tokens == 50 + 12 + (record.turn - 1) * 18 + 6 - 1


def test_concurrency_changes_no_answer(url: str) -> None:
    """The same prompts give the same tokens one at a time and eight at a time."""
    workload = build("shared-prefix", replace(SIZES, shared=40), seed=0, tokens=TOKENS)
    alone, together = played(url, workload), played(url, workload, max_concurrency=8)
    assert [r.output_ids for r in alone.records] == [r.output_ids for r in together.records]
    assert alone.prompts == together.prompts


def test_a_probe_proves_a_flush(url: str) -> None:
    """A repeated probe is found, a flushed one isn't, and warm-up leaves nothing a workload could find."""
    warm = warmup(count=4, prompt_len=40, output_len=2, seed=0, tokens=TOKENS)
    ids = probe(prompt_len=40, seed=0, tokens=TOKENS)

    async def main() -> list[int | None]:
        async with ServerClient(url) as client:
            await client.flush()
            await play(warm, client, LoadSpec(max_concurrency=2), seed=0)
            first, second = await client.generate(ids, 1), await client.generate(ids, 1)
            assert (await client.flush()).ok
            third = await client.generate(ids, 1)
            return [answer.usage.cached_tokens for answer in (first, second, third)]

    assert run(main()) == [0, 39, 0]


def test_a_killed_server_leaves_a_record_for_everything(tmp_path: Path) -> None:
    """SIGKILL in the middle of a run: in flight failed with their tokens, the rest cancelled, nothing hangs."""
    workload = build("multi-turn", replace(SIZES, shared=10, turns=2, output_len=40), seed=0, tokens=TOKENS)
    with serving(tmp_path / "log", "--fake-step-cost", "decode_base=5000") as (address, process):

        async def main() -> LoadResult:
            async with ServerClient(address) as client:
                return await play(
                    workload,
                    client,
                    LoadSpec(max_concurrency=3),
                    seed=0,
                    on_progress=lambda done, total: process.kill() if done == 3 else None,
                )

        result = run(main())
    assert len(result.records) == workload.request_count
    assert [record.prompt for record in result.records] == list(range(workload.request_count))
    assert sum(record.status == "completed" for record in result.records) >= 3
    assert {record.status for record in result.records} == {"completed", "failed", "cancelled"}
    assert str(result.stopped).startswith("connection refused by 127.0.0.1:")
    assert all(record.error for record in result.records if record.status != "completed")
