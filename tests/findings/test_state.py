"""The four declared states of a cache: what proves each of them wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from radixbench.capture.model import Run
from radixbench.capture.prompt_tree import build_prompt_tree
from radixbench.findings.state import StateFault, state_fault
from radixbench.metrics.summary import summarise
from tests.builders import make_request, make_run, prompt_ids

PREFIX = 64


def run(cached: Sequence[int | None], declared: str, *, held: bool = False, **options: Any) -> Run:
    """Requests one after the other that share a prefix of 64 tokens, which was there before with ``held``."""
    prompts = [prompt_ids(0, i, shared=PREFIX, question=8) for i in range(len(cached))]
    requests = [
        make_request(i, send_s=float(i), prompt_tokens=72, cached=tokens) for i, tokens in enumerate(cached)
    ]
    made = make_run(
        requests, prompts=prompts, declared=declared, mode="off" if declared == "off" else "on", **options
    )
    outputs = [request.output_ids for request in requests]
    return replace(made, prompts=build_prompt_tree(prompts, outputs, [prompts[0][:PREFIX]] if held else []))


def fault(run: Run) -> StateFault | None:
    """What speaks against the run's declared state."""
    return state_fault(run, summarise(run))


def with_protocol(run: Run, **changes: Any) -> Run:
    """The run with other facts in its protocol."""
    return replace(run, protocol=replace(run.protocol, **changes))


def test_a_cold_run_that_reused_only_itself_is_cold() -> None:
    """The first prompt finds nothing, the others the shared prefix."""
    assert fault(run([0, 64, 64, 64], "cold")) is None


def test_a_cold_run_sent_twice_is_not_cold() -> None:
    """Every prompt was there: the hit rate, the sum and the maximum are named."""
    found = fault(run([71, 71, 71, 71], "cold"))
    assert found is not None
    assert found.code == "cold-not-cold"
    assert found.text == (
        "measured hit rate 99 %, above the theoretical maximum 67 %: 284 cached tokens where at most 192 are possible, in a"
        " run declared cold"
    )


def test_one_first_arrival_that_hits_betrays_a_cache_that_was_not_empty() -> None:
    """Though the sum stays below the maximum, since another request found less."""
    found = fault(run([64, 64, 0, 0], "cold"))
    assert found is not None
    assert found.code == "cold-not-cold"


def test_whole_pages_are_no_contradiction() -> None:
    """A server that counts in pages of 16 may say a little more than token ids allow."""
    assert fault(run([0, 64, 64, 64], "cold", args={"page_size": 16})) is None


@pytest.mark.parametrize("declared", ["off", "cold", "primed", "warm"])
def test_a_run_the_tool_could_not_verify_is_told_with_its_evidence(declared: str) -> None:
    """What was seen while the state was brought about stands for itself."""
    cached = [0, 0] if declared == "off" else [64, 64] if declared != "cold" else [0, 64]
    seen = run(cached, declared, held=declared in {"primed", "warm"})
    found = fault(with_protocol(seen, verified=False, evidence="the flush was refused"))
    assert found is not None
    assert found.text == f"the run isn't verified as {declared}: the flush was refused"


def test_primed_tokens_must_be_found() -> None:
    """Everything primed was found, by the first request too; half of it is not primed."""
    assert fault(run([64, 64, 64, 64], "primed", held=True)) is None
    found = fault(run([0, 0, 64, 64], "primed", held=True))
    assert found is not None
    assert found.code == "not-primed"
    assert found.text == (
        "measured 128 cached tokens where 256 were put there beforehand, in a run declared primed"
    )


def test_more_than_was_primed_is_not_primed_either() -> None:
    """Hits that neither priming nor the run explains."""
    found = fault(run([71, 71, 71, 71], "primed", held=True))
    assert found is not None
    assert found.code == "not-primed"
    assert "where at most 256 are possible" in found.text


def test_a_warm_run_has_its_own_code() -> None:
    """A pool too small for the working set makes a warm run cold."""
    found = fault(run([0, 0, 0, 0], "warm", held=True))
    assert found is not None
    assert found.code == "not-warm"
    assert "--max-total-tokens" in found.remedy


def test_a_silent_server_proves_nothing() -> None:
    """No cached tokens in any answer: unknown is no fault of any state."""
    for declared in ("off", "cold", "primed", "warm"):
        assert fault(run([None, None], declared, held=declared == "primed")) is None


def test_an_off_arm_by_salt_that_hits_names_the_salt() -> None:
    """The server doesn't know the salt, or crosses salts; with a flag the mode alone is named."""
    salted = fault(with_protocol(run([0, 64, 64], "off"), off_mode="salt"))
    assert salted is not None
    assert salted.code == "off-not-off"
    assert salted.text.startswith(
        "128 cached tokens in a run declared off by salt: the server doesn't know the salt"
    )
    assert "--off-mode flush" in salted.remedy
    flagged = fault(run([0, 64, 64], "off"))
    assert flagged is not None
    assert "was started without its cache" in flagged.remedy
    assert flagged.text == "128 cached tokens in a run declared off"


def test_an_arm_that_is_off_by_flush_isnt_told_to_flush() -> None:
    """What was tried and didn't do is no remedy."""
    flushed = fault(with_protocol(run([0, 64, 64], "off"), off_mode="flush"))
    assert flushed is not None
    assert "--off-mode flush" not in flushed.remedy
    assert "--off-mode flag" in flushed.remedy
