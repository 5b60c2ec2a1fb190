"""vLLM's lines: public logs of 2023 to 2026, every version's form, and what logs do to them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.logs.record import LogRecord, Rank
from radixbench.logs.timeline import Timeline
from radixbench.logs.vllm.dialect import Vllm
from radixbench.logs.vllm.pairs import SPEC, STATS, read_pairs
from radixbench.logs.vllm.shapes import PairReader
from tests.logs.vocabulary import check, expected, read, said, samples

SAMPLES = samples("vllm")
HEAD = "(APIServer pid=7) INFO 10-01 12:00:00 [loggers.py:271] "
FIGURES = (
    "Avg prompt throughput: 1.5 tokens/s, Avg generation throughput: 20.0 tokens/s, "
    "Running: 3 reqs, Waiting: 4 reqs, GPU KV cache usage: 5.5%, Prefix cache hit rate: 61.0%"
)
STATS_LINE = f"{HEAD}Engine 000: {FIGURES}"
WHOLE = {
    "prompt_throughput": 1.5,
    "gen_throughput": 20.0,
    "running_req": 3,
    "queue_req": 4,
    "gpu_kv_usage_pct": 5.5,
    "prefix_hit_pct": 61.0,
}


def one(text: str) -> LogRecord:
    """The only record of a line."""
    (record,) = read(Vllm(Timeline()), text)
    check(record)
    return record


def none(text: str) -> bool:
    """Whether a line that may hold a marker says nothing."""
    return Vllm(Timeline()).parse(1, text) == (None, ())


@pytest.mark.parametrize("sample", SAMPLES, ids=[str(number) for number in range(1, len(SAMPLES) + 1)])
def test_every_sample_reads_as_it_should(sample: dict[str, Any]) -> None:
    """Each line of a public log says what its right reading says, no key more, no type other."""
    assert said(one(sample["line"])) == expected(sample)


@pytest.mark.parametrize("sample", SAMPLES, ids=[str(number) for number in range(1, len(SAMPLES) + 1)])
def test_a_line_reads_the_same_by_heart(sample: dict[str, Any]) -> None:
    """The second line of a shape takes the fast way, and says what the first said."""
    first, second = read(Vllm(Timeline()), f"{sample['line']}\n{sample['line']}")
    assert second._replace(line_no=1) == first


@pytest.mark.parametrize(
    ("printed", "values", "extra"),
    [
        pytest.param(FIGURES, WHOLE, {}, id="0.7.3"),
        pytest.param(f"Engine 012: {FIGURES}", WHOLE | {"engine": 12}, {}, id="0.8.5"),
        pytest.param(
            "Engine 000: "
            + FIGURES.replace("GPU KV", "Preemptions: 9, GPU KV")
            + ", Corrupted: 2 reqs, External prefix cache hit rate: 7.0%, MM cache hit rate: 8.0%",
            WHOLE | {"engine": 0, "external_prefix_hit_pct": 7.0, "mm_hit_pct": 8.0},
            {"preemptions": 9, "corrupted_req": 2},
            id="0.11.2",
        ),
        pytest.param(
            "Engine 000: " + FIGURES.replace("GPU KV", "Deferred: 6 reqs, GPU KV"),
            WHOLE | {"engine": 0},
            {"deferred_req": 6},
            id="0.20.2",
        ),
        pytest.param(
            "Engine 000: "
            + FIGURES.replace(
                "GPU KV",
                "KV fetch: 5 waiting to start, 6 in progress, 7 completed waiting, Preemptions: 1, GPU KV",
            ),
            WHOLE | {"engine": 0},
            {"kv_fetch_waiting": 5, "kv_fetch_in_progress": 6, "kv_fetch_completed": 7, "preemptions": 1},
            id="0.32.0",
        ),
        pytest.param(
            "Engine 000: " + FIGURES.rpartition(", ")[0],
            {key: value for key, value in WHOLE.items() if key != "prefix_hit_pct"} | {"engine": 0},
            {},
            id="0.32.0-nothing-observed",
        ),
        pytest.param(
            "Engine 000: " + FIGURES.replace("GPU KV", "CPU KV"),
            {key: value for key, value in WHOLE.items() if key != "gpu_kv_usage_pct"}
            | {"engine": 0, "cpu_kv_usage_pct": 5.5},
            {},
            id="0.32.0-cpu",
        ),
        pytest.param(
            "Engine 000: " + FIGURES.replace("GPU KV", "XPU KV"),
            {key: value for key, value in WHOLE.items() if key != "gpu_kv_usage_pct"} | {"engine": 0},
            {"xpu_kv_usage_pct": 5.5},
            id="0.32.0-xpu",
        ),
        pytest.param(
            f"Engine 000: {FIGURES}, Rewarmed: 4 blocks, Mood: good",
            WHOLE | {"engine": 0},
            {"Rewarmed": "4 blocks", "Mood": "good"},
            id="labels-of-tomorrow",
        ),
        pytest.param(
            "Engine 000: " + FIGURES.replace("61.0%", "nan%"),
            WHOLE | {"engine": 0, "prefix_hit_pct": None},
            {},
            id="nan",
        ),
    ],
)
def test_the_form_of_each_version(printed: str, values: dict[str, Any], extra: dict[str, Any]) -> None:
    """What V1 printed from 0.7.3 to 0.32; labels outside the vocabulary are kept beside it, with their numbers."""
    head = {"timestamp": "10-01 12:00:00", "process": "APIServer", "pid": 7}
    first, second = read(Vllm(Timeline()), f"{HEAD}{printed}\n{HEAD}{printed}")
    check(first)
    assert (first.kind, first.values, first.extra) == ("stats", head | values, extra)
    assert (second.values, second.extra) == (first.values, first.extra)


def test_a_line_of_all_engines_is_none_of_theirs() -> None:
    """``2 Engines Aggregated`` repeats what the engines' own lines say: it has no engine, and says so."""
    record = one(f"{HEAD}2 Engines Aggregated: {FIGURES}".replace("APIServer", "APIServer_DP1"))
    assert record.extra == {"aggregated": 2}
    assert "engine" not in record.values
    assert record.rank == Rank("", None)


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        (STATS_LINE.replace("000", "003"), Rank("", 3)),
        (STATS_LINE.replace("APIServer", "APIServer_DP1").replace("Engine 000: ", ""), Rank("", 1)),
        (STATS_LINE.replace("Engine 000: ", ""), Rank("", None)),
    ],
)
def test_a_rank_is_the_engine_whose_cache_it_is(text: str, rank: Rank) -> None:
    """The printed engine counts, else the data-parallel rank in the process's name."""
    assert one(text).rank == rank


@pytest.mark.parametrize(
    ("process", "values"),
    [
        ("EngineCore_DP0 pid=12", {"process": "EngineCore", "pid": 12, "process_dp_rank": 0}),
        ("EngineCore_0 pid=12", {"process": "EngineCore_0", "pid": 12}),
        ("Worker_DP1_TP0_EP0 pid=12", {"process": "Worker_TP0_EP0", "pid": 12, "process_dp_rank": 1}),
        ("VllmWorker TP0 pid=12", {"process": "VllmWorker", "pid": 12}),
        ("ServeReplica:app pid=12, ip=10.0.0.3", {"process": "ServeReplica:app", "pid": 12}),
    ],
)
def test_process_names(process: str, values: dict[str, Any]) -> None:
    """``(NAME pid=N)``, the data-parallel rank taken out of the name."""
    assert one(f"({process}) INFO 10-01 12:00:00 [loggers.py:271] {FIGURES}").values == WHOLE | values | {
        "timestamp": "10-01 12:00:00"
    }


@pytest.mark.parametrize(
    ("before", "source"),
    [
        ("vllm-1  | ", "vllm-1"),
        ("2026-10-01T10:00:00.123456789Z ", ""),
        ("(ServeReplica:app pid=12, ip=10.0.0.3) ", "ServeReplica:app pid=12, ip=10.0.0.3"),
        ("[pod/vllm-0/server] ", "vllm-0/server"),
    ],
)
def test_the_source_is_the_wrappers_name_for_the_server(before: str, source: str) -> None:
    """Servers in one stream are told apart; vLLM's own process names make no server."""
    record = one(f"{before}{STATS_LINE}")
    assert record.rank == Rank(source, 0)
    assert record.values.items() >= (WHOLE | {"timestamp": "10-01 12:00:00", "engine": 0}).items()


@pytest.mark.parametrize(
    "head",
    [
        "WARNING 10-01 12:00:00 [v1/.../metrics/loggers.py:9] ",
        "\x1b[0;36m(APIServer pid=1)\x1b[0;0m \x1b[32mINFO\x1b[0m \x1b[90m10-01 12:00:00\x1b[0m \x1b[90m[loggers.py:9]\x1b[0m ",
        "ranger-0 | INFO 10-01 12:00:00 metrics.py:9] ",
        "cut off here INFO 10-01 12:00:00 metrics.py:9] Avg gen(APIServer pid=1) INFO 10-01 12:00:00 [loggers.py:1] ",
    ],
)
def test_whatever_stands_before_the_head(head: str) -> None:
    """Levels, colours, collectors and another line's remains don't hide vLLM's own time."""
    record = one(head + FIGURES)
    assert record.values.items() >= (WHOLE | {"timestamp": "10-01 12:00:00"}).items()
    assert "truncated" not in record.values


def test_a_json_logger() -> None:
    """A line of a structured logger (0.32) says the same, its time included."""
    record = one(
        '{"asctime": "2026-10-01 12:00:00,250", "levelname": "INFO", "name": "vllm.v1.metrics.loggers", '
        f'"processName": "APIServer", "process": 7, "message": "Engine 001: {FIGURES}"}}'
    )
    assert record.values == WHOLE | {
        "engine": 1,
        "timestamp": "2026-10-01 12:00:00.250",
    }


@pytest.mark.parametrize("cut", range(len(HEAD) + len("Engine 000: Avg prompt throughput"), len(STATS_LINE)))
def test_a_cut_line_keeps_what_is_whole(cut: int) -> None:
    """Cut anywhere, a line says so, and no figure of it is another than the whole line's."""
    head = {"timestamp": "10-01 12:00:00", "process": "APIServer", "pid": 7, "engine": 0}
    whole = head | WHOLE
    values = dict(one(STATS_LINE[:cut]).values)
    optional = STATS_LINE[:cut].rstrip(", ").endswith("5.5%")
    assert values.pop("truncated", False) is not optional
    assert values.items() <= whole.items()


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (
            FIGURES.replace("neration throughput: 20.0 tokens/s, Running: 3 reqs, Waiting: 4 reqs, GP", ""),
            "Avg geU KV cache usage",
        ),
        (FIGURES.replace("he hit r", ""), "Prefix cacate"),
        (FIGURES.replace("Avg gene", ""), "ration throughput"),
        (FIGURES.replace("usage: 5.5%, Prefix cache ", ""), "GPU KV cache hit rate"),
    ],
)
def test_lost_columns_are_named_and_never_read(text: str, label: str) -> None:
    """A label made of the halves of two is no value of either; its number stays beside it."""
    record = one(f"{HEAD}Engine 000: {text}")
    assert record.values["damaged_key"] == label
    assert record.values["truncated"] is True
    assert label in record.extra
    assert (record.values.items() - {("damaged_key", label)}) <= one(STATS_LINE).values.items() | {
        ("truncated", True)
    }


def test_a_new_label_is_no_damage_where_nothing_lacks() -> None:
    """A label that could be made of two is a new one if the line has both."""
    record = one(f"{HEAD}Engine 000: {FIGURES}, GPU KV cache hit rate: 3.0%")
    assert record.values == one(STATS_LINE).values
    assert record.extra == {"GPU KV cache hit rate": 3.0}


def test_colours_to_the_end() -> None:
    """Colours anywhere in a line change nothing."""
    coloured = STATS_LINE.replace("61.0%", "\x1b[1m61.0%\x1b[0m")
    assert one(coloured).values == one(STATS_LINE).values


def test_lost_columns_inside_a_value() -> None:
    """What is left of two values is no value."""
    values = one(f"{HEAD}Engine 000: {FIGURES.replace('3 reqs, Waiting: 4', '3')}").values
    assert values["running_req"] == 3
    values = one(
        f"{HEAD}Engine 000: {FIGURES.replace(' reqs, Waiting: 4 reqs, GPU KV cache usage: 5', '')}"
    ).values
    assert "running_req" not in values
    assert values["truncated"] is True


def test_two_lines_that_met() -> None:
    """A line cut by another one's start: both are read, each with its own figures."""
    records = read(Vllm(Timeline()), f"{STATS_LINE[:120]}{STATS_LINE.replace('000', '001')}")
    assert [(record.values["engine"], "truncated" in record.values) for record in records] == [
        (0, True),
        (1, False),
    ]
    assert records[1].values == one(STATS_LINE.replace("000", "001")).values


@pytest.mark.parametrize(
    ("text", "values", "extra"),
    [
        (
            (
                "SpecDecoding metrics: Mean acceptance length: 2.63, Accepted throughput: 1.00 tokens/s, Drafted throughput: 2.00 "
                "tokens/s, Accepted: 10 tokens, Drafted: 20 tokens, Per-position acceptance rate: 0.726, 0.4"
            ),
            {
                "mean_acceptance_len": 2.63,
                "accepted_throughput": 1.0,
                "drafted_throughput": 2.0,
                "accepted_tokens": 10,
                "drafted_tokens": 20,
                "truncated": True,
            },
            {},
        ),
        (
            (
                "SpecDecoding metrics: Mean acceptance length: 1.00, Accepted throughput: 0.00 tokens/s, Drafted throughput: 0.00 "
                "tokens/s, Accepted: 0 tokens, Drafted: 0 tokens, Per-position acceptance rate: 0.000, Avg Draft acceptance rate: nan%"
            ),
            {
                "mean_acceptance_len": 1.0,
                "accepted_throughput": 0.0,
                "drafted_throughput": 0.0,
                "accepted_tokens": 0,
                "drafted_tokens": 0,
                "per_position_acceptance": [0.0],
                "draft_acceptance_pct": None,
            },
            {},
        ),
        (
            (
                "Speculative metrics: Draft acceptance rate: 0.700, System efficiency: 0.500, Number of speculative tokens: 4, "
                "Number of accepted tokens: 12"
            ),
            {"draft_acceptance_pct": 70.0, "system_efficiency": 0.5, "truncated": True},
            {"speculative_tokens": 4},
        ),
        (
            "SpecDecoding metrics: Draft acceptance rate: 50.0%, Mean acceptance length: 2.00, Drafter switches: 3",
            {"draft_acceptance_pct": 50.0, "mean_acceptance_len": 2.0},
            {"Drafter switches": 3},
        ),
    ],
)
def test_speculation(text: str, values: dict[str, Any], extra: dict[str, Any]) -> None:
    """Lists, fractions, missing rates, new labels and cuts of the speculative line."""
    record = one(text)
    assert (record.kind, record.values, record.extra) == ("spec", values, extra)


def test_the_hit_rate_of_v0_stands_on_a_line_of_its_own() -> None:
    """Cut in the second figure, the first is kept."""
    record = one("INFO 10-01 12:00:00 metrics.py:465] Prefix cache hit rate: GPU: 12.34%, CPU: 9")
    assert record.values == {"timestamp": "10-01 12:00:00", "prefix_hit_gpu_pct": 12.34, "truncated": True}


def test_transfers() -> None:
    """The keys of a KV transfer line are each connector's own: all of them stay beside the vocabulary."""
    record = one(
        f"{HEAD}KV Transfer metrics: Num successful transfers=3, Throughput (MB/s)=94.106, Nested={{'a': 1, 'b': 2}}"
    )
    assert (record.kind, record.values) == ("kv_transfer", {"timestamp": "10-01 12:00:00"})
    assert record.extra == {
        "Num successful transfers": 3,
        "Throughput (MB/s)": 94.106,
        "Nested": "{'a': 1, 'b': 2}",
        "process": "APIServer",
        "pid": 7,
    }


CORE = "(EngineCore_DP1 pid=9) INFO 10-01 12:00:00 [core.py:77] "


@pytest.mark.parametrize(
    ("text", "event", "extra"),
    [
        ("vLLM API server version 0.11.0", "version", {"version": "0.11.0"}),
        ("vLLM server version 0.32.0, serving model a/b", "version", {"version": "0.32.0", "model": "a/b"}),
        (
            (
                "Initializing a V1 LLM engine (v0.20.2) with config: model='a/b', "
                "speculative_config=SpeculativeConfig(method='mtp', model='c/d'), seed=0, enable_prefix_caching=True, "
                "enable_chunked_prefill=True, pooler_config=None, served_model_name=x, compilation_config={'level': 3}"
            ),
            "engine_config",
            {
                "version": "0.20.2",
                "model": "a/b",
                "speculative_config": "SpeculativeConfig(method='mtp', model='c/d')",
                "seed": 0,
                "enable_prefix_caching": True,
                "enable_chunked_prefill": True,
                "pooler_config": None,
                "served_model_name": "x",
                "compilation_config": "{'level': 3}",
            },
        ),
        (
            "Initializing an LLM engine (v0.6.3) with config: model='a/b', enable_prefix_caching=False)",
            "engine_config",
            {"version": "0.6.3", "model": "a/b", "enable_prefix_caching": False},
        ),
        (
            (
                "non-default args: {'model': 'a/b', 'block_size': 32, 'api_key': ['s3cret'], 'gpu_memory_utilization': 0.9, "
                "'enable_prefix_caching': False, 'served_model_name': ['a', 'b'], 'hf_token': None}"
            ),
            "server_args",
            {
                "args": {
                    "model": "a/b",
                    "block_size": 32,
                    "api_key": "***",
                    "gpu_memory_utilization": 0.9,
                    "enable_prefix_caching": False,
                    "served_model_name": "['a', 'b']",
                    "hf_token": None,
                }
            },
        ),
        (
            "args: Namespace(host=None, port=8000, allowed_origins=['*'], block_size=16)",
            "server_args",
            {"args": {"host": None, "port": 8000, "allowed_origins": "['*']", "block_size": 16}},
        ),
        (
            "# GPU blocks: 3327, # CPU blocks: 1024",
            "kv_pool_size",
            {"device": "GPU", "blocks": 3327, "cpu_blocks": 1024},
        ),
        (
            "# cuda blocks: 27969, # CPU blocks: 4681",
            "kv_pool_size",
            {"device": "cuda", "blocks": 27969, "cpu_blocks": 4681},
        ),
        ("# GPU blocks: 3327", "kv_pool_size", {"device": "GPU", "blocks": 3327}),
        (
            "Maximum concurrency for 4,096 tokens per request: 12.34x",
            "capacity",
            {"tokens_per_request": 4096, "max_concurrency": 12.34},
        ),
        ("Successfully reset prefix cache", "reset_prefix_cache", {}),
        (
            "Failed to reset prefix cache because some blocks (17) are not freed yet",
            "reset_prefix_cache_refused",
            {"used_blocks": 17},
        ),
        (
            (
                "Sequence group 4 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space. "
                "total_cumulative_preemption_cnt=51"
            ),
            "preempt",
            {"sequence_group": "4", "mode": "RECOMPUTE", "cumulative_preemptions": 51},
        ),
        (
            (
                "Iteration(12): 3 context requests, 512 context tokens, 5 generation requests, 6 generation tokens, "
                "iteration elapsed time: 12.34 ms, GPU KV cache usage: 0.1%"
            ),
            "iteration",
            {
                "iteration": 12,
                "context_req": 3,
                "context_tokens": 512,
                "generation_req": 5,
                "generation_tokens": 6,
                "elapsed_ms": 12.34,
            },
        ),
        ("Starting vLLM API server 0 on http://0.0.0.0:8000", "ready", {"url": "http://0.0.0.0:8000"}),
        ("Starting vLLM server on http://0.0.0.0:8000", "ready", {"url": "http://0.0.0.0:8000"}),
    ],
)
def test_events(text: str, event: str, extra: dict[str, Any]) -> None:
    """What a server says once: start-up, resets, preemptions. A secret is named, not repeated."""
    record = one(CORE + text)
    assert (record.kind, record.values) == ("other", {"timestamp": "10-01 12:00:00", "event": event})
    assert record.extra == extra | {"process": "EngineCore", "pid": 9, "process_dp_rank": 1}
    assert record.rank == Rank("", 1)


@pytest.mark.parametrize(
    ("text", "extra"),
    [
        ("GPU KV cache size: 12,345 tokens", {"device": "GPU"}),
        (
            "GPU KV cache size: 12,345 tokens, Maximum concurrency for 4,096 tokens per request: 3.01x",
            {"device": "GPU", "max_concurrency": 3.01, "tokens_per_request": 4096},
        ),
        ("CPU KV cache size: 12,345 tokens", {"device": "CPU"}),
        (
            "GPU + host KV cache size: 12,345 tokens, Maximum concurrency for 9 tokens per request: 3.01x",
            {"device": "GPU"},
        ),
    ],
)
def test_the_size_of_the_pool(text: str, extra: dict[str, Any]) -> None:
    """In tokens since 0.8.5; since 0.32 on one line with the concurrency."""
    record = one(CORE + text)
    assert record.values == {"timestamp": "10-01 12:00:00", "event": "kv_pool_size", "pool_tokens": 12345}
    assert record.extra.items() >= extra.items()


@pytest.mark.parametrize(
    "text",
    [
        (
            "INFO 10-01 12:00:00 [logger.py:41] Received request cmpl-1: prompt: "
            f"'INFO 10-01 11:00:00 metrics.py:1] {FIGURES}', params: SamplingParams(n=1)"
        ),
        f"what does {FIGURES} mean?",
        '{"role": "user", "content": "' + FIGURES + '"}',
        "The Avg prompt throughput: 3.0 tokens/s of yesterday",
        "Avg prompt throughput is low",
        "Avg prompt throughput: 3.0 tokens/s",
        "custom metrics: a=1",
        "use `Successfully reset prefix cache` to tell",
        "[2026-10-01 12:00:00] args: Namespace",
        "GPU blocks: 28",
        "Total # GPU blocks: many",
        "INFO 10-01 12:00:00 [core.py:1] # Maximum concurrency for the win",
    ],
)
def test_the_words_alone_are_no_statement(text: str) -> None:
    """Prose, prompts and other programs that use vLLM's words say nothing."""
    assert none(text)


def test_moments_are_the_servers_own() -> None:
    """Ten seconds between two lines are ten seconds on the axis, whatever a collector prints in front."""
    first, second = read(
        Vllm(Timeline()),
        f"{STATS_LINE}\n{STATS_LINE.replace('12:00:00', '12:00:10')}",
    )
    assert first.at_s is not None
    assert second.at_s == first.at_s + 10


pieces = st.sampled_from(
    [
        *Vllm.markers,
        *(sample["line"] for sample in SAMPLES),
        *STATS,
        *SPEC,
        STATS_LINE,
        HEAD,
        "Per-position acceptance rate: ",
        "Engine 000: ",
        "{",
        '"message": "',
        ": ",
        ", ",
        "%",
        " tokens/s",
    ]
)


@st.composite
def torn_lines(draw: st.DrawFn) -> str:
    """A line of a log with a part cut out of it, or repeated."""
    line = str(draw(st.sampled_from(SAMPLES))["line"])
    start, end = sorted((draw(st.integers(0, len(line))), draw(st.integers(0, len(line)))))
    return line[:end] + line[start:] if draw(st.booleans()) else line[:start] + line[end:]


@given(st.lists(pieces | st.text() | torn_lines(), max_size=4).map("".join))
def test_no_text_is_too_strange(text: str) -> None:
    """Nothing raises, and whatever is read stays within the vocabulary and its types."""
    for record in Vllm(Timeline()).parse(1, text).records:
        check(record)


@given(torn_lines())
def test_damage_takes_no_wrong_number_out_of_a_line(text: str) -> None:
    """A torn line alone reads like the same line after others of its shape."""
    fresh, used = Vllm(Timeline()), Vllm(Timeline())
    for sample in SAMPLES:
        used.parse(1, sample["line"])
    assert [said(record) for record in used.parse(1, text).records] == [
        said(record) for record in fresh.parse(1, text).records
    ]


@given(
    st.lists(
        st.tuples(
            st.floats(0, 1e6),
            st.floats(0, 1e6),
            st.integers(0, 9999),
            st.integers(0, 9999),
            st.floats(0, 100),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_figures_come_back_as_printed(rows: list[tuple[float, float, int, int, float]]) -> None:
    """By pairs or by heart, every line gives its own numbers."""
    reader = PairReader(STATS)
    for prompt, generated, running, waiting, usage in rows:
        text = (
            f"Avg prompt throughput: {prompt:.1f} tokens/s, Avg generation throughput: {generated:.1f} tokens/s, "
            f"Running: {running} reqs, Waiting: {waiting} reqs, GPU KV cache usage: {usage:.1f}%"
        )
        assert reader.read(text) == read_pairs(text, STATS)
        assert reader.read(text).values == {
            "prompt_throughput": float(f"{prompt:.1f}"),
            "gen_throughput": float(f"{generated:.1f}"),
            "running_req": running,
            "queue_req": waiting,
            "gpu_kv_usage_pct": float(f"{usage:.1f}"),
        }
