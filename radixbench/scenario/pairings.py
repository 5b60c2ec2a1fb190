"""Which keys of a scenario go together: server and off arm, load and rate, cache state and workload.

What contradicts itself is a problem wherever it is written. What is merely missing may still be given by
a flag: those gaps are looked for once the flags are in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from radixbench.scenario.kinds import FILE_KINDS, WITH_PREFIXES, missing_source
from radixbench.scenario.model import EngineSpec, LoadSpec, Scenario
from radixbench.scenario.problem import Problem

_URL = re.compile(r"https?://[^\s/]+[^\s]*", re.IGNORECASE)
_OPEN = ("constant", "poisson", "gamma")


def pairing_problems(scenario: Scenario) -> Iterator[Problem]:
    """Keys that contradict each other."""
    yield from _target_problems(scenario)
    yield from _off_mode_problems(scenario)
    yield from _arrival_problems(scenario)
    yield from _state_problems(scenario)
    yield from _page_problems(scenario.engine, scenario)


def gaps(scenario: Scenario) -> Iterator[Problem]:
    """Keys that this scenario can't run without."""
    target, load = scenario.target, scenario.load
    source = missing_source(scenario.workload)
    if source is not None:
        yield source
    if target.engine != "bundled" and target.base_url is None:
        yield Problem(
            ("target", "base_url"),
            f"a server of {target.engine} isn't started from here",
            "start it and give its address, such as --base-url http://127.0.0.1:30000",
        )
    by_flag = len(scenario.modes) > 1 and "off" in scenario.modes and scenario.off_mode == "flag"
    if by_flag and target.base_url is not None and target.off_base_url is None:
        text = "one server can't be measured with its cache on and off by a flag"
        if "on" not in scenario.modes:
            text = "both arms go without reuse, and no flag is set on a server that runs already"
        yield Problem(
            ("target", "off_base_url"),
            text,
            "name a second one without its cache, or take --off-mode salt or flush",
        )
    if load.arrival in _OPEN and load.request_rate is None and not scenario.grid.request_rate:
        yield Problem(
            ("load", "request_rate"), f"a {load.arrival} open loop needs a rate", "say --request-rate 4"
        )


def _target_problems(scenario: Scenario) -> Iterator[Problem]:
    target = scenario.target
    yield from _address_problems("base_url", target.base_url)
    yield from _address_problems("off_base_url", target.off_base_url)
    for key in ("tokenizer", "server_log"):
        text = getattr(target, key)
        if text is not None and not text.strip():
            yield Problem(("target", key), "is empty", "name one, or leave it out")
    if target.off_base_url is not None:
        if scenario.off_mode != "flag":
            yield Problem(
                ("target", "off_base_url"),
                f"off_mode {scenario.off_mode} measures both arms on one server",
                "leave it out, or take off_mode flag",
            )
        if target.base_url is None:
            yield Problem(("target", "off_base_url"), "base_url is missing", "name both servers")
        elif target.off_base_url.rstrip("/") == target.base_url.rstrip("/"):
            yield Problem(("target", "off_base_url"), "is the same server as base_url", "name another one")
    yield from _chat_problems(scenario)
    yield from _foreign_problems(scenario)


def _address_problems(key: str, url: str | None) -> Iterator[Problem]:
    if url is None:
        return
    if "@" in url:
        yield Problem(
            ("target", key),
            "a name or password in the address would be recorded",
            "leave it out; a key goes into OPENAI_API_KEY",
        )
    elif not _is_address(url):
        yield Problem(("target", key), f"{url!r} is no address", "write http://HOST:PORT")


def _chat_problems(scenario: Scenario) -> Iterator[Problem]:
    workload = scenario.workload
    if scenario.target.endpoint == "chat" and (
        workload.kind != "conversations" or workload.history != "retokenized"
    ):
        yield Problem(
            ("target", "endpoint"),
            "a chat endpoint takes messages, and this workload is made of token ids",
            "take endpoint completions, or the conversations workload with history retokenized",
        )


def _foreign_problems(scenario: Scenario) -> Iterator[Problem]:
    """Settings of a server that isn't started from here."""
    target = scenario.target
    if target.engine == "bundled" and target.base_url is None:
        if target.server_log is not None:
            yield Problem(("target", "server_log"), "the bundled server's log is kept anyway", "leave it out")
        return
    whose = "a running server" if target.engine == "bundled" else f"a server of {target.engine}"
    for key in ("threads", "max_total_tokens", "chunked_prefill_size", "schedule_policy"):
        if getattr(scenario.engine, key) != getattr(EngineSpec(), key):
            yield Problem(
                ("engine", key), f"{whose} isn't set up from here", "leave it out, or start the server so"
            )
    for key in ("schedule_policy", "page_size", "chunked_prefill_size", "max_total_tokens"):
        if getattr(scenario.grid, key):
            yield Problem(
                ("grid", key),
                f"{whose} can't be started anew with another {key.replace('_', ' ')}",
                "only the bundled engine has this axis",
            )


def _off_mode_problems(scenario: Scenario) -> Iterator[Problem]:
    if scenario.off_mode != "flush":
        return
    if scenario.target.engine == "other":
        yield Problem(
            ("off_mode",), "nobody knows how a server of engine other is flushed", "take salt or flag"
        )
    if scenario.load.arrival != "closed":
        yield Problem(
            ("off_mode",),
            f"a flush before every request needs an idle server, which {scenario.load.arrival} arrivals don't wait for",
            "take arrival closed, or off_mode salt",
        )
    widths = scenario.grid.max_concurrency or (scenario.load.max_concurrency,)
    if set(widths) != {1}:
        yield Problem(
            ("off_mode",),
            "a flush before every request would empty the cache under the others in flight",
            "say max_concurrency 1 (--max-concurrency 1), or take off_mode salt",
        )


def _arrival_problems(scenario: Scenario) -> Iterator[Problem]:
    load, kind = scenario.load, scenario.workload.kind
    if load.arrival == "trace" and kind != "trace":
        yield Problem(
            ("load", "arrival"), f"the {kind} workload has no times of its own", "take it with workload trace"
        )
    wants: dict[str, tuple[str, ...]] = {"request_rate": _OPEN, "burstiness": ("gamma",), "speed": ("trace",)}
    for key, arrivals in wants.items():
        given = getattr(load, key) != getattr(LoadSpec(), key)
        axis = key == "request_rate" and bool(scenario.grid.request_rate)
        if (given or axis) and load.arrival not in arrivals:
            yield Problem(
                ("load" if given else "grid", key),
                f"{load.arrival} arrivals have no {key.replace('_', ' ')}",
                f"leave it out or take arrival {' or '.join(arrivals)} (--arrival {arrivals[len(arrivals) // 2]})",
            )


def _state_problems(scenario: Scenario) -> Iterator[Problem]:
    kind = scenario.workload.kind
    if scenario.cache_state == "primed" and kind not in WITH_PREFIXES:
        why = "says nothing of what its requests share" if kind in FILE_KINDS else "shares nothing on purpose"
        yield Problem(
            ("cache_state",), f"the {kind} workload {why}: nothing can be primed", "take cold or warm"
        )


def _page_problems(engine: EngineSpec, scenario: Scenario) -> Iterator[Problem]:
    grid = scenario.grid
    for chunk in grid.chunked_prefill_size or (engine.chunked_prefill_size,):
        for page in grid.page_size or (engine.page_size,):
            if chunk is not None and page > 0 and chunk % page:
                yield Problem(
                    ("engine", "chunked_prefill_size"),
                    f"{chunk:,} is no multiple of the page size {page:,}",
                    "a chunk must end where a page ends",
                )


def _is_address(url: str) -> bool:
    """Whether it has a host, and no port that can't be one."""
    try:
        parts = urlsplit(url)
        return _URL.fullmatch(url) is not None and parts.hostname is not None and parts.port != 0
    except ValueError:  # a bracket that isn't closed, or a port beyond 65535
        return False
