"""Server, off arm, load and cache state have to go together; every mistake is one line with a way out."""

from __future__ import annotations

from typing import Any

import pytest

from radixbench.errors import ScenarioError
from radixbench.scenario.load import override
from radixbench.scenario.model import Scenario

BASE = Scenario(name="base")
URL = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    "flags",
    [
        {"base_url": URL, "off_base_url": "http://other:9"},
        {"base_url": URL, "off_mode": "salt", "engine": "vllm", "page_size": "16"},
        {"base_url": URL, "engine": "llamacpp", "off_mode": "flush", "max_concurrency": "1"},
        {"off_mode": "flush", "max_concurrency": "1"},
        {"off_mode": "salt", "cache_state": "warm"},
        {"arrival": "gamma", "request_rate": "1,2.5", "burstiness": 0.5, "duration": "90s"},
        {"arrival": "constant", "request_rate": 3, "max_concurrency": "4,8"},
        {"workload": "trace", "file": "t", "arrival": "trace", "speed": 10.0},
        {"workload": "trace", "file": "t", "max_concurrency": "4"},
        {"workload": "tree", "cache_state": "primed"},
        {"base_url": URL, "mode": "on"},
        {
            "base_url": URL,
            "off_mode": "salt",
            "workload": "conversations",
            "file": "c",
            "history": "retokenized",
            "endpoint": "chat",
        },
        {"chunked_prefill_size": "256,512", "page_size": "1,16"},
    ],
)
def test_what_goes_together_passes(flags: dict[str, Any]) -> None:
    """Sound combinations are taken as they are."""
    override(BASE, **flags)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            {"base_url": "localhost:30000"},
            "--base-url: 'localhost:30000' is no address; write http://HOST:PORT",
        ),
        ({"base_url": "http://"}, "--base-url: 'http://' is no address"),
        (
            {"base_url": "http://me:secret@host:1"},
            "--base-url: a name or password in the address would be recorded; leave it out",
        ),
        (
            {"engine": "vllm"},
            "--base-url: a server of vllm isn't started from here; start it and give its address",
        ),
        (
            {"base_url": URL},
            "--off-base-url: one server can't be measured with its cache on and off by a flag; name a second one",
        ),
        ({"off_base_url": URL}, "--off-base-url: base_url is missing; name both servers"),
        ({"base_url": URL, "off_base_url": URL + "/"}, "--off-base-url: is the same server as base_url"),
        (
            {"base_url": URL, "off_base_url": "http://b:1", "off_mode": "salt"},
            "--off-base-url: off_mode salt measures both arms on one server",
        ),
        (
            {"off_mode": "flush"},
            "--off-mode: a flush before every request would empty the cache under the others",
        ),
        (
            {"off_mode": "flush", "max_concurrency": "1,8"},
            "--off-mode: a flush before every request would empty the cache under the others in flight; say max_concurrency 1",
        ),
        (
            {"off_mode": "flush", "arrival": "poisson", "request_rate": "1", "max_concurrency": "1"},
            "--off-mode: a flush before every request needs an idle server, which poisson arrivals don't wait for",
        ),
        (
            {"base_url": URL, "engine": "other", "off_mode": "flush", "max_concurrency": "1"},
            "--off-mode: nobody knows how a server of engine other is flushed",
        ),
        (
            {"endpoint": "chat"},
            "--endpoint: a chat endpoint takes messages, and this workload is made of token ids; take endpoint completions",
        ),
        ({"server_log": "x.log"}, "--server-log: the bundled server's log is kept anyway"),
        ({"tokenizer": ""}, "--tokenizer: is empty"),
        (
            {"base_url": URL, "off_mode": "salt", "threads": 2},
            "--threads: a running server isn't set up from here; leave it out, or start the server so",
        ),
        (
            {"base_url": URL, "off_mode": "salt", "engine": "sglang", "schedule_policy": "fcfs,lpm"},
            "--schedule-policy: a server of sglang can't be started anew with another schedule policy",
        ),
        ({"arrival": "poisson"}, "--request-rate: a poisson open loop needs a rate; say --request-rate 4"),
        (
            {"request_rate": "4"},
            "; leave it out or take arrival constant or poisson or gamma (--arrival poisson)",
        ),
        ({"request_rate": "4,8"}, "--request-rate: closed arrivals have no request rate"),
        ({"burstiness": 2.0}, "--burstiness: closed arrivals have no burstiness"),
        ({"speed": 2.0}, "--speed: closed arrivals have no speed; leave it out or take arrival trace"),
        ({"arrival": "trace"}, "--arrival: the shared-prefix workload has no times of its own"),
        (
            {"workload": "unique", "cache_state": "primed"},
            "--cache-state: the unique workload shares nothing on purpose: nothing can be primed; take cold or warm",
        ),
        (
            {"workload": "trace", "file": "t", "cache_state": "primed"},
            "--cache-state: the trace workload says nothing of what its requests share",
        ),
        (
            {"chunked_prefill_size": "100,256", "page_size": "1,16"},
            "--chunked-prefill-size: 100 is no multiple of the page size 16",
        ),
    ],
)
def test_what_contradicts_itself(flags: dict[str, Any], message: str) -> None:
    """The line begins with the flag, says why, and what would do."""
    with pytest.raises(ScenarioError) as caught:
        override(BASE, **flags)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
