"""The arguments of a server, in every form that is printed."""

from __future__ import annotations

import argparse
import re
from dataclasses import field, make_dataclass
from keyword import iskeyword
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.clock import ManualClock
from radixbench.logs.server_args import read_arguments
from radixbench.server.arguments import server_args
from radixbench.server.backend import build_backend
from radixbench.server.config import ServerConfig
from tests.logs.test_literals import VALUES

NAMES = st.from_regex(r"[a-z][a-z_]{0,12}", fullmatch=True).filter(lambda name: not iskeyword(name))


def parse_server_args(text: str) -> dict[str, Any] | None:
    """The arguments alone."""
    found = read_arguments(text)
    return None if found is None else found.values


ARGUMENTS = st.dictionaries(NAMES, VALUES, max_size=8)
DATACLASS = (
    "server_args=ServerArgs(model_path='meta-llama/Llama-3.1-8B-Instruct', dtype='auto', page_size=1, "
    "mem_fraction_static=0.88, api_key=None, schedule_conservativeness=1.0, disable_radix_cache=False, "
    "lora_paths=[LoRARef(lora_name='a', lora_path='/l, (x)')], cuda_graph_bs=[1, 2, 4], "
    "json_model_override_args='{\"a\": [1, \"}\"]}', radix_eviction_policy=<Policy.LRU: 'lru'>, "
    "watchdog_timeout=inf, device=device(type='cuda'), kv_events_config=None)"
)


def dataclass_repr(values: dict[str, Any]) -> str:
    """What SGLang up to 0.5.18 prints."""
    kind = make_dataclass("ServerArgs", [(name, Any, field(default=None)) for name in values])
    return f"server_args={kind(**values)!r}"


def test_a_dataclass_with_all_that_servers_put_into_one() -> None:
    """Nested calls, enums, quotes, brackets, infinity."""
    assert parse_server_args(f"[2026-10-01 12:00:00] {DATACLASS}") == {
        "model_path": "meta-llama/Llama-3.1-8B-Instruct",
        "dtype": "auto",
        "page_size": 1,
        "mem_fraction_static": 0.88,
        "api_key": None,
        "schedule_conservativeness": 1.0,
        "disable_radix_cache": False,
        "lora_paths": [{"lora_name": "a", "lora_path": "/l, (x)"}],
        "cuda_graph_bs": [1, 2, 4],
        "json_model_override_args": '{"a": [1, "}"]}',
        "radix_eviction_policy": "lru",
        "watchdog_timeout": float("inf"),
        "device": {"type": "cuda"},
        "kv_events_config": None,
    }


@given(ARGUMENTS)
def test_a_dataclass_is_read_back(values: dict[str, Any]) -> None:
    """SGLang to 0.5.18."""
    assert parse_server_args(dataclass_repr(values)) == values


@given(ARGUMENTS)
def test_a_dictionary_is_read_back(values: dict[str, Any]) -> None:
    """SGLang since 0.5.19."""
    assert parse_server_args(f"server_args={values!r}") == values


@given(ARGUMENTS)
def test_a_namespace_is_read_back(values: dict[str, Any]) -> None:
    """vLLM, in both of its forms."""
    assert parse_server_args(f"args: {argparse.Namespace(**values)!r}") == values
    assert parse_server_args(f"non-default args: {values!r}") == values


def test_our_own_server_is_read_back() -> None:
    """What it resolved is what it prints."""
    config = ServerConfig(runner="fake", chunked_prefill_size=None, api_key="secret")
    backend = build_backend(config, ManualClock(), lambda note: None)
    arguments = server_args(config, backend.identity)
    assert parse_server_args(f"server_args={arguments!r}") == arguments


@given(ARGUMENTS, st.data())
def test_a_cut_leaves_the_pairs_that_are_whole(values: dict[str, Any], data: st.DataObject) -> None:
    """None is half, none is invented, and it shows."""
    for text in (dataclass_repr(values), f"server_args={values!r}"):
        opening = re.search(r"[({]", text)
        assert opening is not None
        found = read_arguments(text[: data.draw(st.integers(opening.end(), len(text) - 1), label="cut")])
        assert found is not None
        assert not found.whole
        assert {name: values[name] for name in found.values} == found.values


@pytest.mark.parametrize(
    "text", ["", "server_args=", "server_args=None", "argument: {", "server_args updated"]
)
def test_other_text_states_no_arguments(text: str) -> None:
    """A word isn't a statement."""
    assert parse_server_args(text) is None


@given(st.text(), st.integers(0, len(DATACLASS)))
def test_debris_never_crashes(debris: str, at: int) -> None:
    """Two writers, half a line each."""
    parse_server_args(DATACLASS[:at] + debris + DATACLASS[at:])
    parse_server_args(debris)
