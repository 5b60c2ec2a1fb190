"""What forbids a verdict, what is merely listed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from radixbench.capture.model import Capture, Run
from radixbench.compare.change import Comparison
from radixbench.compare.comparison import compare
from radixbench.compare.targets import with_goodput
from radixbench.records import Calibration, DeviceInfo, RequestRecord
from radixbench.scenario.model import GoodputSpec
from tests.builders import CARD, make_capture, make_sweep


def altered(capture: Capture, change: Callable[[Run], Run]) -> Capture:
    """The capture with every run changed."""
    return replace(capture, runs=tuple(change(run) for run in capture.runs))


def with_identity(capture: Capture, **facts: Any) -> Capture:
    """The capture of a server of another identity."""
    return altered(
        capture, lambda run: replace(run, server=replace(run.server, identity=run.server.identity | facts))
    )


def with_requests(capture: Capture, **facts: Any) -> Capture:
    """The capture with a fact of every request changed."""

    def change(request: RequestRecord) -> RequestRecord:
        return replace(request, **facts)

    return altered(capture, lambda run: replace(run, requests=tuple(change(r) for r in run.requests)))


def forbidding(comparison: Comparison) -> list[str]:
    """Fields that forbid a verdict."""
    return [one.field for one in comparison.differences if not one.allowed]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weights_sha256", "x" * 64),
        ("tokenizer_sha256", "x" * 64),
        ("dtype", "bfloat16"),
        ("device", "cuda"),
    ],
)
def test_identity_forbids(name: str, value: str) -> None:
    """Other weights, tokenizer, precision or device: incomparable, and every row names the reason."""
    on, off = make_sweep()
    comparison = compare(on, with_identity(off, **{name: value}))
    assert not comparison.eligible
    assert forbidding(comparison)[0] == name
    assert {c.verdict for c in comparison.changes} == {"incomparable", None}
    assert all(name in (c.reason or "") for c in comparison.changes if c.verdict)


def test_every_reason_is_named() -> None:
    """Other weights and other prompts: both stand in the reason, hashes shortened."""
    on, off = make_sweep()
    other = altered(
        with_identity(off, weights_sha256="x" * 64), lambda run: replace(run, workload_digest="y" * 64)
    )
    comparison = compare(on, other)
    reason = comparison.changes[0].reason
    assert reason is not None
    assert "prompts of 3 of 3 pairs, first at 64 shared tokens" in reason
    assert "weights_sha256 (wwwwwwwwwwww against xxxxxxxxxxxx)" in reason


def test_other_output_lengths_forbid() -> None:
    """Half the tokens asked for is another task."""
    on, off = make_sweep()
    comparison = compare(on, with_requests(off, requested_tokens=2))
    assert forbidding(comparison) == ["requested output length"]


def test_other_token_counting_forbids() -> None:
    """The server's count against chunks counted by the client is another metric."""
    on, off = make_sweep()
    assert forbidding(compare(on, with_requests(off, output_source="chunks"))) == ["token counts"]
    assert compare(on, with_requests(off, output_source="token_ids")).eligible


def test_equal_weights_excuse_another_name() -> None:
    """A local copy of the same model is the same model; without hashes the name decides."""
    on, off = make_sweep()
    renamed = altered(off, lambda run: replace(run, server=replace(run.server, model="copy")))
    assert compare(on, renamed).eligible
    nameless = with_identity(renamed, weights_sha256=None)
    assert forbidding(compare(on, nameless)) == ["model"]


def test_cache_protocols_must_match_unless_one_is_off() -> None:
    """Cold against primed is no comparison; anything against off is the point."""

    def declared(state: str) -> Capture:
        return altered(
            make_sweep()[0],
            lambda run: replace(run, protocol=replace(run.protocol, declared=state)),  # type: ignore[arg-type]  # values are the test's
        )

    assert forbidding(compare(declared("cold"), declared("primed"))) == ["cache protocol"]
    assert compare(declared("warm"), make_sweep()[1]).eligible


def test_another_card_or_processor_forbids() -> None:
    """On a GPU the card's name decides, on the CPU the processor's."""
    on, off = make_sweep()
    arm = replace(off, environment=replace(off.environment, cpu="Grace"))
    assert forbidding(compare(on, arm)) == ["processor"]
    on, off = with_identity(on, device="cuda"), with_identity(arm, device="cuda")
    assert compare(on, off).eligible
    cards = [
        altered(
            one,
            lambda run, name=name: replace(
                run, telemetry=replace(run.telemetry, devices=(replace(CARD, name=name),))
            ),
        )  # type: ignore[misc]  # values are the test's
        for one, name in ((on, "H200"), (off, "A100"))
    ]
    assert forbidding(compare(*cards)) == ["GPU"]


def test_versions_arguments_and_hosts_are_listed() -> None:
    """What may be the very thing compared is allowed, and a caveat names it."""
    on, _ = make_sweep()
    other = altered(
        replace(on, environment=replace(on.environment, driver="580.1", packages={"torch": "2.12.0"})),
        lambda run: replace(
            run,
            server=replace(
                run.server, version="0.2", pid=77, args=run.server.args | {"threads": 2, "port": 9}
            ),
        ),
    )
    comparison = compare(on, other)
    assert comparison.eligible
    assert {one.field for one in comparison.differences} == {
        "server version",
        "server.threads",
        "environment.driver",
        "environment.packages.torch",
    }
    assert all(one.allowed for one in comparison.differences)
    (caveat,) = [c for c in comparison.caveats if c.code == "settings-differ"]
    assert "server.threads" in caveat.text


def test_scenario_settings_are_listed() -> None:
    """Other concurrency is listed by its path; names and reasons of scenarios aren't settings."""
    on, _ = make_sweep()
    scenario = replace(on.scenario, name="b", why="x", load=replace(on.scenario.load, max_concurrency=1))
    comparison = compare(on, replace(on, scenario=scenario))
    assert [(d.field, d.a, d.b) for d in comparison.differences] == [
        ("scenario.load.max_concurrency", None, 1)
    ]


def test_mode_alone_is_no_caveat() -> None:
    """On against off differs in the mode, as it must."""
    comparison = compare(*make_sweep())
    assert [one.field for one in comparison.differences] == ["mode"]
    assert "settings-differ" not in {c.code for c in comparison.caveats}


def test_no_cell_in_common() -> None:
    """Two sweeps of other lengths have nothing to pair."""
    comparison = compare(make_sweep(shared=(32,))[0], make_sweep(shared=(64,))[1])
    assert not comparison.eligible
    assert forbidding(comparison)[0] == "cells and seeds in common"


def test_repeated_runs_of_a_seed_are_refused() -> None:
    """A capture that holds a cell and seed twice doesn't lose one of them silently."""
    on, off = make_sweep()
    assert forbidding(compare(replace(on, runs=on.runs * 2), off)) == [
        "number of repeated runs of a cell and seed"
    ]


def test_a_side_without_runs_is_told_as_that_alone() -> None:
    """An interrupted sweep whose second arm never ran lists no settings that differ from nothing."""
    on, _ = make_sweep()
    comparison = compare(on, make_capture([]))
    (difference,) = comparison.differences
    assert (difference.field, difference.a, difference.b) == ("number of measured runs", 3, 0)
    assert not comparison.eligible


def test_runs_that_are_missing_are_no_setting() -> None:
    """Other cells and seeds because a side was interrupted: listed, and told as that alone."""
    on, off = make_sweep()
    broken = compare(replace(on, runs=on.runs[:2], interrupted=True), off)
    assert "cells and seeds" in {one.field for one in broken.differences}
    assert {"incomplete"} == {one.code for one in broken.caveats} & {"incomplete", "settings-differ"}
    other = compare(make_sweep(seeds=4)[0], off)
    (caveat,) = [one for one in other.caveats if one.code == "settings-differ"]
    assert "cells and seeds" in caveat.text


def test_settings_that_one_server_alone_tells_are_one_entry() -> None:
    """One of two vLLM in its developer's mode: what the other keeps to itself isn't set otherwise."""

    def served(engine: str, args: dict[str, Any]) -> Capture:
        return altered(
            make_sweep()[0], lambda run: replace(run, server=replace(run.server, engine=engine, args=args))
        )

    some = {"page_size": 16, "cache_dtype": "auto"}
    many = {"page_size": 32, "cache_dtype": "auto", **{f"setting_{i}": i for i in range(90)}}
    told = compare(served("vllm", some), served("vllm", many)).differences
    assert [(one.field, one.a, one.b) for one in told] == [
        ("server.page_size", 16, 32),
        ("server settings that only one side tells", 0, 90),
    ]
    assert all(one.allowed for one in told)
    other = compare(served("sglang", some), served("vllm", many)).differences
    assert "server.setting_7" in {one.field for one in other}


def test_another_card_of_the_same_name_is_listed_with_all_that_is_known_of_it() -> None:
    """Uuid, enforced limit, clocks, driver, how many: each by its name; the telemetry and the protocol likewise."""

    def measured(arm: Capture, *cards: DeviceInfo, **protocol: Any) -> Capture:
        return altered(
            with_identity(arm, device="cuda", device_name="H200"),
            lambda run: replace(
                run,
                telemetry=replace(
                    run.telemetry, devices=cards, probe="nvml" if len(cards) > 1 else "scripted"
                ),
                protocol=replace(run.protocol, **protocol),
            ),
        )

    on, _ = make_sweep()
    one = replace(CARD, uuid="GPU-1", power_limit_mw=700_000, driver="580.1")
    other = replace(CARD, uuid="GPU-2", power_limit_mw=500_000, driver="580.2", max_sm_clock_mhz=1755)
    comparison = compare(measured(on, one), measured(on, other, other, warmup_requests=9))
    assert comparison.eligible
    told = {d.field: (d.a, d.b) for d in comparison.differences}
    assert told == {
        "number of GPUs": (1, 2),
        "GPU.uuid": ("GPU-1", "GPU-2"),
        "GPU.power_limit_mw": (700_000, 500_000),
        "GPU.max_sm_clock_mhz": (1980, 1755),
        "GPU.driver": ("580.1", "580.2"),
        "telemetry probe": ("scripted", "nvml"),
        "warm-up requests": (2, 9),
    }
    (caveat,) = [c for c in comparison.caveats if c.code == "settings-differ"]
    assert "GPU.power_limit_mw" in caveat.text


def test_other_primed_tokens_forbid() -> None:
    """The same declared state with another amount put there is another protocol; off has none."""

    def primed(arm: Capture, tokens: int, declared: str = "primed") -> Capture:
        return altered(
            arm,
            lambda run: replace(run, protocol=replace(run.protocol, declared=declared, primed_tokens=tokens)),
        )

    on, off = make_sweep()
    comparison = compare(primed(on, 64), primed(on, 128))
    (forbids,) = [one for one in comparison.differences if one.forbids]
    assert (forbids.field, forbids.a, forbids.b, forbids.where) == ("primed tokens", 64, 128, "3 of 3 pairs")
    assert compare(primed(on, 64), off).eligible


def test_facts_that_a_server_states_are_listed() -> None:
    """Another pool or context is told; what identifies the arm's mode isn't told twice."""
    on, _ = make_sweep()
    comparison = compare(
        with_identity(on, max_total_num_tokens=65_536), with_identity(on, max_total_num_tokens=32_768)
    )
    assert [(d.field, d.a, d.b, d.allowed) for d in comparison.differences] == [
        ("server states max_total_num_tokens", 65_536, 32_768, True)
    ]


def test_a_client_that_was_not_calibrated_is_listed_and_no_setting() -> None:
    """It changes nothing that was measured: listed, without a caveat about settings."""
    on, _ = make_sweep()
    other = replace(on, calibration=Calibration(1, 1, 1.0, *[1] * 8, coalesced_share=0.0))
    comparison = compare(other, on)
    assert [(d.field, d.a, d.b) for d in comparison.differences] == [
        ("client calibration", "done", "skipped")
    ]
    assert "settings-differ" not in {c.code for c in comparison.caveats}


def test_goodput_of_unlike_targets_has_no_verdict() -> None:
    """The row alone is incomparable; targets given afterwards make it one figure."""
    on, off = make_sweep()
    a, b = (with_goodput(arm, GoodputSpec(ttft=target)) for arm, target in ((on, 500.0), (off, 5000.0)))
    comparison = compare(a, b)
    rows = {row.metric: row for row in comparison.changes}
    assert rows["ttft_p50"].verdict == "better"
    assert rows["goodput"].verdict == "incomparable"
    assert (
        rows["goodput"].reason == "the sides have other targets (ttft:500 against ttft:5000): give --goodput"
    )
    assert "scenario.goodput.ttft" in {one.field for one in comparison.differences}
    again = compare(a, b, goodput=GoodputSpec(ttft=5000.0))
    assert {row.metric: row.verdict for row in again.changes}["goodput"] == "better"
    assert "scenario.goodput.ttft" not in {one.field for one in again.differences}
