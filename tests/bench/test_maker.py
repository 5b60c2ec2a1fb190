"""Whose server answers, and what follows for how it is treated."""

from __future__ import annotations

import pytest

from radixbench.bench.maker import Maker, maker, settle
from radixbench.errors import UsageError
from radixbench.scenario.model import Engine

URL = "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    ("owner", "engine", "name"),
    [("sglang", "sglang", "SGLang"), ("vllm", "vllm", "vLLM"), ("llamacpp", "llamacpp", "llama.cpp")],
)
def test_servers_own_the_models_they_list(owner: str, engine: Engine, name: str) -> None:
    """SGLang, vLLM and llama.cpp name themselves there, whatever their metrics are called."""
    assert maker({}, {"owned_by": owner}, ["sglang:num_requests"]) == Maker(engine, name, "/v1/models")


def test_our_own_server_says_so_first() -> None:
    """It speaks SGLang's metrics and is none."""
    found = maker({"engine": "radixbench"}, {"owned_by": "radixbench"}, ["sglang:num_requests"])
    assert found == Maker("bundled", "radixbench", "/server_info")


@pytest.mark.parametrize("owner", ["radixbench", "organization-owner", None, ["vllm"]])
def test_metrics_are_a_hint(owner: object) -> None:
    """A mimic, or a gateway with an owner of its own, shows whose metrics it passes on, and that proves nothing."""
    found = maker({"engine": "mock"}, {"owned_by": owner}, ["vllm:prompt_tokens_total", "up"])
    assert found == Maker("vllm", "vLLM", "/metrics", firm=False)


@pytest.mark.parametrize("metrics", [[], ["up"], ["vllm:a", "sglang:b"]])
def test_who_tells_nothing_stays_unknown(metrics: list[str]) -> None:
    """No names, foreign ones, or those of two servers at once."""
    assert maker({}, {}, metrics) is None


def test_without_an_engine_the_server_decides() -> None:
    """What it says it is decides, and the line says by which endpoint; who says nothing is ``other``."""
    settled = settle(URL, "bundled", Maker("bundled", "radixbench", "/server_info"), "0.1.0")
    assert settled.engine == "bundled"
    assert settled.note == f"{URL} says that it is radixbench 0.1.0 (/server_info): treated as engine bundled"
    assert settle(URL, "bundled", Maker("vllm", "vLLM", "/metrics", firm=False)).engine == "vllm"
    unknown = settle(URL, "bundled", None)
    assert unknown.engine == "other"
    assert "doesn't say whose server it is" in (unknown.note or "")


def test_an_engine_against_the_servers_word_is_refused() -> None:
    """Both names stand in the line, and the two ways out."""
    with pytest.raises(UsageError) as caught:
        settle(URL, "sglang", Maker("bundled", "radixbench", "/server_info"))
    assert str(caught.value) == (
        f"{URL} says on /server_info that it is radixbench, and --engine says SGLang;"
        " leave --engine out, or take --engine other"
    )


def test_an_engine_against_a_hint_is_told() -> None:
    """Metrics alone don't overrule who knows the server."""
    settled = settle(URL, "vllm", Maker("sglang", "SGLang", "/metrics", firm=False))
    assert settled.engine == "vllm"
    assert settled.note == f"{URL} has the /metrics of SGLang: treated as vLLM, as --engine says"


@pytest.mark.parametrize("given", ["vllm", "other"])
def test_what_fits_or_is_left_open_needs_no_word(given: Engine) -> None:
    """The same engine, and ``other``, which contradicts nobody."""
    assert settle(URL, given, Maker("vllm", "vLLM", "/v1/models")) == (given, None)
