"""Flags override a scenario through the checks a file passes, and messages name the flag."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.cli.overrides import OVERRIDES
from radixbench.errors import ScenarioError
from radixbench.scenario.cells import SECTION_OF_AXIS
from radixbench.scenario.flags import FLAGS, KEY_OF_FLAG, FlagValue
from radixbench.scenario.load import dump, override
from radixbench.scenario.model import GridSpec, LoadSpec, Scenario
from radixbench.scenario.typed import parse_duration, parse_float_list, parse_int_list, parse_words

BASE = Scenario(name="base")


def test_given_flags_win_and_others_change_nothing() -> None:
    """``None`` means that a flag wasn't given; the scenario itself stays as it was."""
    changed = override(BASE, shared="0, 512", seeds=5, model="smollm2-135m", threads=None, page_size=4)
    assert changed.workload.shared == (0, 512)
    assert (changed.seeds, changed.model.name, changed.engine.threads) == (5, "smollm2-135m", None)
    assert changed.engine.page_size == 4
    assert override(BASE, **dict.fromkeys(KEY_OF_FLAG)) == BASE
    assert Scenario(name="base") == BASE


def test_lists_may_be_numbers_too() -> None:
    """A caller that has numbers needs no text."""
    assert override(BASE, shared=(0, 8), workload="multi-turn", turns=[1, 2]).workload.turns == (1, 2)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"shared": "0,many"}, "--shared: 'many' is not a whole number; write whole numbers with commas"),
        ({"shared": "-1"}, "--shared: must be at least 0, not -1"),
        ({"shared": "0,1.5"}, "--shared: '1.5' is not a whole number"),
        ({"shared": ""}, "--shared: the list is empty"),
        ({"shared": "0,,1"}, "--shared: a value is missing in '0,,1'"),
        ({"shared": "0,0"}, "--shared: 0 stands there twice"),
        ({"shared": "9" * 30}, "is far too large"),
        ({"shared": "٣"}, "is not a whole number"),
        ({"shared": [0, 99_999_999]}, "--shared: must be at most 10,000,000, not 99,999,999"),
        ({"seeds": 0}, "--seeds: must be at least 1, not 0"),
        ({"prompts_per_group": -3}, "--prompts-per-group: must be at least 1, not -3"),
        ({"max_concurrency": 0}, "--max-concurrency: must be at least 1, not 0"),
        ({"device": "gpu"}, "--device: must be 'auto', 'cpu' or 'cuda'"),
        ({"workload": "multi_turn"}, "--workload: must be 'shared-prefix', 'multi-turn', 'few-shot', "),
        ({"workload": "multi_turn"}, "did you mean multi-turn?"),
        ({"page_size": "16,-1"}, "--page-size: must be at least 1, not -1"),
        ({"page_size": "x"}, "with commas between them, such as --page-size 1,16"),
        ({"seeds": "1,2"}, "--seeds: '1,2' is not a whole number; write one, without commas"),
        ({"seeds": "0.5"}, "--seeds: '0.5' is not a whole number"),
        ({"seeds": "9" * 30}, "--seeds: 999999999999999999… is far too large"),
        ({"temperature": "1,2"}, "--temperature: '1,2' is not a number; write one, such as 0.5"),
        ({"temperature": "nan"}, "--temperature: 'nan' is not a number"),
        ({"speed": "1e99"}, "--speed: must be at most 1,000,000, not 1e+99"),
        ({"page_size": "16,5000"}, "--page-size: must be at most 4,096, not 5,000"),
        ({"page_size": "16,16"}, "--page-size: 16 stands there twice"),
        ({"groups": "2,x"}, "--groups: 'x' is not a whole number; write whole numbers with commas"),
        ({"request_rate": "inf"}, "--request-rate: inf is no rate; for all at once take a closed loop"),
        ({"request_rate": "fast"}, "--request-rate: 'fast' is not a number; write numbers with commas"),
        ({"request_rate": "1,,2"}, "--request-rate: a value is missing in '1,,2'"),
        ({"request_rate": "1,1.0"}, "--request-rate: 1.0 stands there twice"),
        ({"request_rate": "0", "arrival": "poisson"}, "--request-rate: must be more than 0, not 0.0"),
        ({"request_rate": "1,-2", "arrival": "poisson"}, "--request-rate: must be more than 0, not -2.0"),
        ({"schedule_policy": "fcfs,lru"}, "--schedule-policy: must be 'fcfs' or 'lpm', not the text 'lru'"),
        ({"schedule_policy": "fcfs,fcfs"}, "--schedule-policy: fcfs stands there twice"),
        ({"schedule_policy": ""}, "--schedule-policy: the list is empty"),
        (
            {"duration": "soon"},
            "--duration: 'soon' is no length of time; write seconds, or a number and its unit",
        ),
        ({"duration": "0s"}, "--duration: must be more than 0, not 0.0"),
        ({"stall_timeout": "2d"}, "--stall-timeout: must be at most 86,400, not 172,800.0"),
        ({"think_time": "-1s"}, "--think-time: '-1s' is no length of time"),
        ({"temperature": -0.5, "workload": "sampling"}, "--temperature: must be at least 0, not -0.5"),
        ({"temperature": float("nan")}, "--temperature: must be a finite number, not nan"),
        ({"zipf_exponent": float("inf")}, "--zipf-exponent: must be a finite number, not inf"),
        ({"speed": 0.0}, "--speed: must be more than 0, not 0.0"),
        ({"burstiness": -1.0}, "--burstiness: must be more than 0, not -1.0"),
        ({"num_prompts": 0}, "--num-prompts: must be at least 1, not 0"),
        ({"limit": 0, "workload": "trace", "file": "x"}, "--limit: must be at least 1, not 0"),
        ({"block_size": 0, "workload": "trace", "file": "x"}, "--block-size: must be at least 1, not 0"),
        ({"fanout": 0, "workload": "tree"}, "--fanout: must be at least 1, not 0"),
        ({"off_mode": "none"}, "--off-mode: must be 'flag', 'salt' or 'flush', not the text 'none'"),
        ({"arrival": "possion"}, "--arrival: must be 'closed', 'constant', 'poisson', 'gamma' or 'trace'"),
        ({"arrival": "possion"}, "did you mean poisson?"),
        ({"engine": "sgl"}, "--engine: must be 'bundled', 'sglang', 'vllm', 'llamacpp' or 'other'"),
        ({"cache_state": "hot"}, "--cache-state: must be 'cold', 'primed' or 'warm', not the text 'hot'"),
        ({"distribution": "pareto"}, "--distribution: must be 'uniform' or 'zipf'"),
        ({"history": "fake"}, "--history: must be 'live', 'recorded' or 'retokenized'"),
        ({"document_order": "random"}, "--document-order: must be 'ordered' or 'scrambled'"),
        ({"endpoint": "responses"}, "--endpoint: must be 'completions' or 'chat'"),
        ({"format": "parquet"}, "--format: must be 'auto', 'sharegpt', 'openai', "),
        ({"mode": "maybe"}, "--mode: must be 'on' or 'off', not the text 'maybe'"),
        ({"turns": "4"}, "--turns: the shared-prefix workload has no turns"),
        ({"page_size": 16, "chunked_prefill_size": 100}, "--chunked-prefill-size: 100 is no multiple"),
        ({"model": " "}, "--model: is empty"),
        ({"seeds": True}, "--seeds: a whole number is expected"),
    ],
)
def test_bad_flags(flags: dict[str, FlagValue], message: str) -> None:
    """A bad value is refused in one line that begins with the flag."""
    with pytest.raises(ScenarioError) as caught:
        override(BASE, **flags)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_one_value_sets_a_key_and_several_are_an_axis() -> None:
    """The last word is the flag's: it replaces a value by an axis and an axis by a value."""
    filed = override(BASE, max_concurrency="4", page_size=16)
    assert (filed.load.max_concurrency, filed.grid) == (4, GridSpec())
    several = override(filed, max_concurrency="1, 8", page_size=[1, 16], schedule_policy="fcfs,lpm")
    assert (several.load, several.engine.page_size) == (LoadSpec(), 1)
    assert several.grid == GridSpec(
        max_concurrency=(1, 8), page_size=(1, 16), schedule_policy=("fcfs", "lpm")
    )
    again = override(several, max_concurrency="2", page_size=(4,), schedule_policy="lpm")
    assert (again.load.max_concurrency, again.engine.page_size, again.engine.schedule_policy) == (2, 4, "lpm")
    assert again.grid == GridSpec()
    rates = override(BASE, arrival="poisson", request_rate="0.5,2")
    assert (rates.grid.request_rate, rates.load.request_rate) == ((0.5, 2.0), None)


def test_times_are_seconds_however_they_are_written() -> None:
    """Durations take a unit; without one they are seconds."""
    changed = override(BASE, duration="1.5m", stall_timeout="20", workload="multi-turn", think_time="250ms")
    assert (changed.load.duration_s, changed.load.stall_timeout_s) == (90.0, 20.0)
    assert changed.workload.think_time_s == 0.25
    assert [parse_duration(text, flag="--x") for text in ("2h", "90 s", "1d", "7", ".5s")] == [
        7200.0,
        90.0,
        86_400.0,
        7.0,
        0.5,
    ]


def test_every_flag_is_an_option_and_sets_a_key() -> None:
    """Flags and options are the same ones (``--mode`` is of ``run`` alone), and no key has two."""
    assert {override.name for override in OVERRIDES} == FLAGS.keys() - {"mode"}
    assert len(set(KEY_OF_FLAG.values())) == len(KEY_OF_FLAG)
    plain = dump(BASE)
    for *parents, key in KEY_OF_FLAG.values():
        section = plain
        for parent in parents:
            section = section[parent]
        assert key in section
    for section_name in ("workload", "load", "target", "grid"):
        flagged = {key[-1] for key in KEY_OF_FLAG.values()}
        assert plain[section_name].keys() <= flagged, "a key that no flag sets"
    assert {name for name, flag in FLAGS.items() if flag.axis} == set(SECTION_OF_AXIS)


@given(st.lists(st.integers(0, 10**9), min_size=1, unique=True))
def test_number_lists_read_back(values: list[int]) -> None:
    """Numbers joined by commas are those numbers, in their order."""
    assert parse_int_list(",".join(map(str, values)), flag="--shared") == tuple(values)


@given(st.text(max_size=12))
def test_any_text_is_numbers_or_one_line(text: str) -> None:
    """Whatever is typed, the answer is as many values as it has words, or one error."""
    for parse in (parse_int_list, parse_float_list, parse_words):
        try:
            values = parse(text, flag="--shared")
        except ScenarioError as error:
            said = str(error)
        else:
            said = "--shared: " if len(values) == text.count(",") + 1 else "wrong"
        assert said.startswith("--shared: ")
        assert "\n" not in said or "\n" in text
    try:
        said = "--shared: " if parse_duration(text, flag="--shared") >= 0 else "negative"
    except ScenarioError as error:
        said = str(error)
    assert said.startswith("--shared: ")
