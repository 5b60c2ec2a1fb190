"""llama.cpp's lines: public logs of 2023 to 2026, the forms of each age, and what logs do to them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.logs.llamacpp.dialect import LlamaCpp
from radixbench.logs.record import LogRecord, Parsed, Rank
from radixbench.logs.timeline import Timeline
from tests.logs.vocabulary import check, expected, read, said, samples

SAMPLES = samples("llamacpp")
PROMPT = "prompt eval time =     948.99 ms /    53 tokens (   17.91 ms per token,    55.85 tokens per second)"
EVAL = "       eval time =   23891.31 ms /   285 tokens (   83.83 ms per token,    11.93 tokens per second)"
TOTAL = "      total time =   24840.30 ms /   338 tokens"
DRAFT = "draft acceptance rate = 0.97951 (  478 accepted /   488 generated)"
HEAD = "slot print_timing: id  2 | task 7 | "
BLOCK = {
    "slot": 2,
    "task": 7,
    "prompt_ms": 948.99,
    "prompt_n": 53,
    "predicted_ms": 23891.31,
    "predicted_n": 285,
    "total_ms": 24840.3,
    "total_n": 338,
}


def one(text: str) -> LogRecord:
    """The only record of a log."""
    (record,) = read(LlamaCpp(Timeline()), text)
    check(record)
    return record


def stated(text: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Kind, keys and the rest of the only record of a log."""
    record = one(text)
    return record.kind, dict(record.values), dict(record.extra)


@pytest.mark.parametrize("sample", SAMPLES, ids=[str(number) for number in range(1, len(SAMPLES) + 1)])
def test_every_sample_reads_as_it_should(sample: dict[str, Any]) -> None:
    """Each statement of a public log says what its right reading says, no key more, no type other."""
    assert said(one(sample["line"])) == expected(sample)


SLOT = "slot update_slots: id  0 | task 21 | "
HERE = {"slot": 0, "task": 21}


@pytest.mark.parametrize(
    ("text", "kind", "values", "extra"),
    [
        (
            "new prompt, n_ctx_slot = 4096, n_keep = 0, n_prompt_tokens = 85",
            "new_prompt",
            {"n_ctx_slot": 4096, "n_prompt_tokens": 85},
            {"n_keep": 0},
        ),
        (
            "new prompt, n_ctx_slot=2048, n_keep=0, task.n_tokens=4",
            "new_prompt",
            {"n_ctx_slot": 2048, "n_prompt_tokens": 4},
            {"n_keep": 0},
        ),
        ("n_tokens = 512, memory_seq_rm [511, end)", "kv_rm", {"p0": 511}, {"n_tokens": 512}),
        ("cached n_tokens = 57, memory_seq_rm [57, end)", "cached", {"cached_n": 57, "p0": 57}, {}),
        (
            "prompt processing progress, n_tokens = 1024, batch.n_tokens = 512, progress = 0.207834",
            "progress",
            {"n_tokens": 1024, "progress": 0.207834},
            {"batch_n_tokens": 512},
        ),
        (
            "prompt processing, n_tokens =   2440, progress = 0.94, t =   4.08 s / 598.54 tokens per second",
            "progress",
            {"n_tokens": 2440, "progress": 0.94},
            {"elapsed_s": 4.08, "prompt_per_second": 598.54},
        ),
        ("prompt done, n_past = 85, n_tokens = 1", "prompt_done", {"n_past": 85, "n_tokens": 1}, {}),
        (
            "prompt processing done, n_tokens = 63310, batch.n_tokens = 4",
            "prompt_done",
            {"n_tokens": 63310},
            {"batch_n_tokens": 4},
        ),
        (
            "n_past = 3, slot.prompt.tokens.size() = 94, seq_id = 3, pos_min = 93, n_swa = 0",
            "match",
            {"n_past": 3, "slot_tokens": 94, "pos_min": 93, "n_swa": 0},
            {"seq_id": 3},
        ),
        (
            "n_past = 3, cache_tokens.size() = 94, seq_id = 3, pos_min = 93, n_swa = 1",
            "match",
            {"n_past": 3, "slot_tokens": 94, "pos_min": 93, "n_swa": 1},
            {"seq_id": 3},
        ),
        (
            "stop processing: n_tokens = 4095, truncated = 1",
            "release",
            {"n_tokens": 4095, "truncated_context": True},
            {},
        ),
        (
            "n_decoded =    100, tg =  26.82 t/s, tg_3s =  26.81 t/s",
            "progress_decode",
            {"n_decoded": 100, "tg_per_second": 26.82, "tg_3s_per_second": 26.81},
            {},
        ),
        (
            "n_gen =    157, tg =  51.85 t/s, tg_3s =  52.18 t/s",
            "progress_decode",
            {"n_decoded": 157, "tg_per_second": 51.85, "tg_3s_per_second": 52.18},
            {},
        ),
        (
            "draft acceptance = 0.73256 (  189 accepted /   258 generated), mean len =  2.47",
            "draft",
            {"draft_acceptance": 0.73256, "accepted_n": 189, "drafted_n": 258, "mean_acceptance_len": 2.47},
            {},
        ),
        (
            "selected slot by LRU, t_last = 1101356388876",
            "slot_select",
            {"method": "LRU"},
            {"t_last": 1101356388876},
        ),
        (
            "selected slot by LCP similarity, f_sim_best = 0.994 (> 0.100 thold), f_keep = 1.000",
            "slot_select",
            {"method": "LCP similarity", "sim_best": 0.994, "f_keep": 1.0},
            {},
        ),
        (
            "selected slot by lcs similarity, lcs_len = 12, similarity = 0.250000",
            "slot_select",
            {"method": "lcs similarity"},
            {"lcs_len": 12, "similarity": 0.25},
        ),
        (TOTAL, "total", {"total_ms": 24840.3, "total_n": 338}, {}),
        (
            "prompt eval time =       0.00 ms /     1 tokens (    0.00 ms per token,      inf tokens per second)",
            "prompt_eval",
            {"prompt_ms": 0.0, "prompt_n": 1, "prompt_ms_per_token": 0.0, "prompt_per_second": None},
            {},
        ),
        (
            "prompt eval time =  38,05 ms /     9 tokens (    4,23 ms per token,   236,53 tokens per second)",
            "prompt_eval",
            {"prompt_ms": 38.05, "prompt_n": 9, "prompt_ms_per_token": 4.23, "prompt_per_second": 236.53},
            {},
        ),
    ],
)
def test_statements_about_a_slot(text: str, kind: str, values: dict[str, Any], extra: dict[str, Any]) -> None:
    """The words of each age since 2024-10 for the same things."""
    assert stated(SLOT + text) == (kind, HERE | values, extra)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (
            "slot context shift, n_keep = 1, n_left = 4094, n_discard = 2047",
            {"n_keep": 1, "n_left": 4094, "n_discard": 2047},
        ),
    ],
)
def test_a_context_shift(text: str, values: dict[str, Any]) -> None:
    """Half of a slot's context is thrown away while it generates."""
    assert stated(SLOT + text) == ("other", {"event": "context_shift"}, HERE | values)


@pytest.mark.parametrize(
    ("text", "kind", "values", "extra"),
    [
        (
            "slot 1 : in cache: 5 tokens | to process: 9 tokens",
            "prompt_split",
            {"slot": 1, "cached_n": 5, "to_process_n": 9},
            {},
        ),
        ("slot 1 : kv cache rm - [5, end)", "kv_rm", {"slot": 1, "p0": 5}, {}),
        ("slot 1 released (338 tokens in cache)", "release", {"slot": 1, "n_cache_tokens": 338}, {}),
        ("print_timings:       total time =   24840.30 ms", "total", {"total_ms": 24840.3}, {}),
        (
            (
                '{"function":"update_slots","ga_i":0,"level":"INFO","line":1809,"msg":"slot progression","n_past":4,"n_past_se":0,'
                '"n_prompt_tokens_processed":18,"slot_id":1,"task_id":6,"tid":"1","timestamp":1714489663}'
            ),
            "prompt_split",
            {"slot": 1, "cached_n": 4, "to_process_n": 18},
            {"task": 6, "epoch": 1714489663},
        ),
        (
            (
                '{"function":"print_timings","level":"INFO","line":1,"msg":"generation eval time =   44081.50 ms /  2038 runs   '
                '(   21.63 ms per token,    46.23 tokens per second)","id_slot":1,"id_task":6,"t_token_generation":44081.501,'
                '"n_decoded":2038,"timestamp":1714489663}'
            ),
            "eval",
            {
                "slot": 1,
                "task": 6,
                "epoch": 1714489663,
                "predicted_ms": 44081.501,
                "predicted_n": 2038,
                "predicted_ms_per_token": 21.63,
                "predicted_per_second": 46.23,
            },
            {},
        ),
        (
            (
                'INFO [           print_timings]           total time =   45509.58 ms | tid="1" timestamp=1746695972 id_slot=1 '
                "id_task=6 t_prompt_processing=1428.075 t_token_generation=44081.501 t_total=45509.575999999994"
            ),
            "total",
            {"slot": 1, "task": 6, "total_ms": 45509.575999999994},
            {"epoch": 1746695972},
        ),
        (
            (
                'INFO [            update_slots] slot released | tid="1" timestamp=1746695972 id_slot=1 id_task=6 n_ctx=32768 '
                "n_past=2793 n_system_tokens=0 n_cache_tokens=9 truncated=true"
            ),
            "release",
            {
                "slot": 1,
                "task": 6,
                "epoch": 1746695972,
                "n_past": 2793,
                "n_cache_tokens": 9,
                "truncated_context": True,
            },
            {},
        ),
        (
            'INFO [            update_slots] slot released | tid="1" timestamp=1746695972 id_slot=1 id_task=6 n_past=2793 trunc',
            "release",
            {"slot": 1, "task": 6, "epoch": 1746695972, "n_past": 2793, "truncated": True},
            {},
        ),
        (
            (
                "INFO [           print_timings] prompt eval time     =    1087.67 ms /   229 tokens (    4.75 ms per token,   210.54 "
                'tokens per second) | tid="1" timestamp=1720646120 id_slot=1 id_task=6 t_prompt_processing=10'
            ),
            "prompt_eval",
            {
                "slot": 1,
                "task": 6,
                "epoch": 1720646120,
                "prompt_ms": 1087.67,
                "prompt_n": 229,
                "prompt_ms_per_token": 4.75,
                "prompt_per_second": 210.54,
            },
            {},
        ),
    ],
)
def test_the_server_of_2023_and_2024(
    text: str, kind: str, values: dict[str, Any], extra: dict[str, Any]
) -> None:
    """Plain text, objects and ``key=value``: exact figures where the fields hold them, and agree with the text."""
    assert stated(text) == (kind, values, extra)


@pytest.mark.parametrize(
    ("text", "event", "extra"),
    [
        (
            "srv    load_model: initializing, n_slots = 4, n_ctx_slot = 8192, kv_unified = 'true'",
            "slots",
            {"n_slots": 4, "n_ctx_slot": 8192, "kv_unified": True},
        ),
        ("srv          init: initializing slots, n_slots = 4", "slots", {"n_slots": 4}),
        (
            "main: server is listening on http://127.0.0.1:8080 - starting the main loop",
            "ready",
            {"url": "http://127.0.0.1:8080"},
        ),
        ("srv  llama_server: listening on http://0.0.0.0:8081", "ready", {"url": "http://0.0.0.0:8081"}),
        (
            'INFO [                    main] HTTP server listening | tid="1" timestamp=1720646120 port="8080" hostname="127.0.0.1"',
            "ready",
            {"hostname": "127.0.0.1", "port": "8080", "epoch": 1720646120},
        ),
        ("build_info: b9014-cb3c258c6", "version", {"build": 9014, "commit": "cb3c258c6"}),
        (
            "build: 8210 (cb3c258c6) with cc for x86_64-linux-gnu",
            "version",
            {"build": 8210, "commit": "cb3c258c6"},
        ),
        ("main: build = 1842 (584d674)", "version", {"build": 1842, "commit": "584d674"}),
        (
            "common_params_print_info: build 11146 (cb3c258c6)",
            "version",
            {"build": 11146, "commit": "cb3c258c6"},
        ),
        (
            '{"build":2750,"commit":"1966eb2e","function":"main","level":"INFO","line":1,"msg":"build info","tid":"1","timestamp":1714489663}',
            "version",
            {"build": 2750, "commit": "1966eb2e", "epoch": 1714489663},
        ),
        (
            "srv    load_model: prompt cache is enabled, size limit: 8192 MiB",
            "prompt_cache",
            {"enabled": True, "limit_mib": 8192},
        ),
        (
            "srv    load_model: prompt cache is disabled - use `--cache-ram N` to enable it",
            "prompt_cache",
            {"enabled": False},
        ),
        (
            "srv         alloc:  - making room for prompt cache entry, removing oldest entry (size = 223.012 MiB)",
            "prompt_cache_evict",
            {"mib": 223.012, "reason": "making room for prompt cache entry"},
        ),
    ],
)
def test_events(text: str, event: str, extra: dict[str, Any]) -> None:
    """What a server says about itself; with an uptime and a level in front it says the same."""
    assert stated(text) == ("other", {"event": event}, extra)
    if "timestamp" not in text:
        assert stated(f"0.03.499.061 I {text}") == (
            "other",
            {"event": event},
            extra | {"uptime": "0.03.499.061"},
        )


@pytest.mark.parametrize(
    ("text", "values", "extra"),
    [
        (
            "8.46.272.555 I srv        update:  - cache state: 3 prompts, 404.720 MiB (limits: 8192.000 MiB, 2649600 tokens, 2649601 est)",
            {
                "uptime": "8.46.272.555",
                "prompts": 3,
                "mib": 404.72,
                "limit_mib": 8192.0,
                "limit_tokens": 2649600,
            },
            {"estimated_tokens": 2649601},
        ),
        (
            " - cache state: 3 prompts, (+2 pending), 404.720 MiB (limits: 8192.000 MiB, 2649",
            {"prompts": 3, "mib": 404.72, "limit_mib": 8192.0, "truncated": True},
            {"pending": 2},
        ),
    ],
)
def test_the_hosts_prompt_cache(text: str, values: dict[str, Any], extra: dict[str, Any]) -> None:
    """How much of it is in use, and its limits."""
    assert stated(text) == ("prompt_cache_state", values, extra)


def test_the_prompt_cache_of_ik_llama() -> None:
    """A whole line is no truncated one."""
    text = (
        "======== Prompt cache: cache size: 2927, n_keep: 0, n_discarded_prompt: 0, cache_ram_n_min: 0, f_keep: 0.87, "
        "cache_ram_similarity: 0.50"
    )
    kind, values, extra = stated(text)
    assert (kind, values) == ("other", {})
    assert extra["cache_size"] == 2927
    assert extra["cache_ram_similarity"] == 0.5
    assert stated(text[:50]) == ("other", {"truncated": True}, {"cache_size": 2927})


@pytest.mark.parametrize("foreign", range(4))
@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_block_with_other_lines_in_between(place: int, foreign: int) -> None:
    """A few lines of others don't break a request's timings apart; the record stands where the block began."""
    lines = [HEAD, PROMPT, EVAL, TOTAL]
    lines[place:place] = [f"srv  log_server_r: request {number}" for number in range(foreign)]
    record = one("\n".join(lines))
    assert (record.line_no, record.kind, record.values) == (1, "timing_block", BLOCK)


def test_a_block_is_given_up_in_the_end() -> None:
    """After five lines of others what was read is kept, and said to be truncated."""
    first, second = read(
        LlamaCpp(Timeline()),
        "\n".join([HEAD, PROMPT, *["other"] * 5, EVAL, TOTAL]).removesuffix(f"\n{TOTAL}"),
    )
    assert first.values == {"slot": 2, "task": 7, "prompt_ms": 948.99, "prompt_n": 53, "truncated": True}
    assert second.kind == "eval"


@pytest.mark.parametrize("lines", [[], [PROMPT], [PROMPT, EVAL], [PROMPT, EVAL[:60]]])
def test_a_log_that_ends_in_a_block(lines: list[str]) -> None:
    """What there is comes out at the end."""
    record = one("\n".join([HEAD, *lines]))
    assert record.kind == "timing_block"
    assert record.values.pop("truncated") is True
    assert record.values.items() <= BLOCK.items()


def test_a_statement_between_two_timings_stands_for_itself() -> None:
    """Another slot's line inside a block is a record of its own, and the block goes on."""
    records = read(
        LlamaCpp(Timeline()), "\n".join([HEAD, PROMPT, f"{SLOT}kv cache rm [5, end)", EVAL, TOTAL])
    )
    assert [record.kind for record in records] == ["kv_rm", "timing_block"]
    assert records[1].values == BLOCK


def test_a_block_that_another_one_cuts_off() -> None:
    """The head of the next block, or its first timing, ends the block before."""
    with_head = read(
        LlamaCpp(Timeline()), "\n".join([HEAD, PROMPT, HEAD.replace("7", "8"), PROMPT, EVAL, TOTAL])
    )
    assert [(record.values["task"], "truncated" in record.values) for record in with_head] == [
        (7, True),
        (8, False),
    ]
    without = read(LlamaCpp(Timeline()), "\n".join([HEAD, PROMPT, PROMPT, EVAL]))
    assert [record.kind for record in without] == ["timing_block", "prompt_eval", "eval"]


def test_lines_count_under_the_block_they_complete() -> None:
    """All four physical lines are of the kind ``timing_block``; one record comes of them, with the last."""
    dialect = LlamaCpp(Timeline())
    parsed = [
        dialect.parse(1, HEAD),
        *(dialect.extend(number, line) for number, line in enumerate((PROMPT, EVAL, TOTAL), 2)),
    ]
    assert [(one.kind, len(one.records)) for one in parsed] == [("timing_block", 0)] * 3 + [
        ("timing_block", 1)
    ]
    assert not dialect.open


def test_two_lines_that_met() -> None:
    """A line that another one cut off: both are read, each with its own figures."""
    first, second = read(
        LlamaCpp(Timeline()),
        f"[11] 0.06.895.980 I {SLOT}new prompt, n_ctx_slot = 65[12] 0.06.895.981 I {HEAD}{PROMPT}",
    )
    assert first.values == HERE | {"pid": 11, "uptime": "0.06.895.980", "truncated": True}
    assert second.values.items() >= {"slot": 2, "task": 7, "prompt_n": 53, "uptime": "0.06.895.981"}.items()


def test_the_drafts_of_a_block() -> None:
    """The line that follows a block is its slot's; one that stands alone is nobody's."""
    block, draft = read(LlamaCpp(Timeline()), "\n".join([HEAD, PROMPT, EVAL, TOTAL, DRAFT]))
    figures = {"draft_acceptance": 0.97951, "accepted_n": 478, "drafted_n": 488}
    assert block.values == BLOCK
    assert draft.values == {"slot": 2, "task": 7} | figures
    assert one(DRAFT).values == figures


@pytest.mark.parametrize(
    ("prefix", "source"),
    [
        ("llama-server-1  | ", "llama-server-1"),
        ("2026-10-01T10:00:00.123456789Z ", ""),
        ("Oct 01 10:00:00 host llama-server[77]: ", "host llama-server"),
    ],
)
def test_a_wrapped_block(prefix: str, source: str) -> None:
    """Every physical line of a block has the wrapper's prefix."""
    record = one("\n".join(prefix + line for line in (HEAD, PROMPT, EVAL, TOTAL)))
    assert record.values == BLOCK
    assert record.rank == Rank(source)


@pytest.mark.parametrize("names", [("a  | ", "b  | "), ("[11] ", "[12] ")])
def test_two_servers_in_one_stream(names: tuple[str, str]) -> None:
    """Blocks of two servers, line by line between each other, stay apart."""
    lines = [f"{name}{line}" for line in (HEAD, PROMPT, EVAL, TOTAL, DRAFT) for name in names]
    records = read(LlamaCpp(Timeline()), "\n".join(lines))
    assert [record.kind for record in records] == ["timing_block", "timing_block", "draft", "draft"]
    assert all(record.values.items() >= BLOCK.items() for record in records[:2])
    assert [record.values["task"] for record in records[2:]] == [7, 7]
    assert len({(record.rank, record.values.get("pid")) for record in records[:2]}) == 2


def test_another_servers_timing_continues_no_block() -> None:
    """It stands for itself, and tries the block's patience a little only."""
    lines = [f"a  | {HEAD}", *[f"b  | {PROMPT}"] * 40, f"a  | {PROMPT}", f"a  | {EVAL}", f"a  | {TOTAL}"]
    records = read(LlamaCpp(Timeline()), "\n".join(lines))
    assert [record.kind for record in records] == ["prompt_eval"] * 40 + ["timing_block"]
    assert records[-1].values == BLOCK


def test_colours() -> None:
    """A terminal's colours change nothing, not even where a block begins."""
    coloured = "\n".join(f"\x1b[32m{line}\x1b[0m" for line in (HEAD, PROMPT, EVAL, TOTAL))
    assert one(coloured).values == BLOCK


def test_a_prefix_nobody_knows() -> None:
    """A slot's line is found behind the words of a service manager, but not inside a quotation."""
    line = f"1789626154.2 llm: 533.06 I {HEAD}{PROMPT}"
    assert one(line).values.items() >= {"slot": 2, "task": 7, "prompt_n": 53}.items()
    assert not read(LlamaCpp(Timeline()), f'grep says: "{HEAD}{PROMPT}"')


@pytest.mark.parametrize(
    "text",
    [
        "total time = 5.00 ms",
        "eval time = 5.00 ms",
        "the total time = 5.00 ms / 3 tokens",
        "slot machine | task 5 | spin",
        "slot launch_slot_: id  0 | task 0 | processing task, is_child = 0",
        f"{HEAD}   graphs reused =          5",
        "Building wheel, build 12 of 15",
        "main: build succeeded",
        "nginx: listening on port 80",
        "HTTP server listening",
        "prompt cache is a fine thing",
        '{"msg": "kv cache rm"}',
        '{"msg": 5, "id_slot": 1}',
        "{id_slot",
        "in cache: 5 tokens",
        "n_slots = 4",
        "[2026-10-01 12:00:00] Decode batch, #running-req: 1, #token: 5, | task 5 | x",
    ],
)
def test_the_words_alone_are_no_statement(text: str) -> None:
    """Prose and other programs that use llama.cpp's words say nothing."""
    dialect = LlamaCpp(Timeline())
    assert dialect.parse(1, text) == (None, ())
    assert not dialect.open


@pytest.mark.parametrize(
    "text", [f"{HEAD}prompt eval time =     9", f"{SLOT}kv cache rm [", f"{SLOT}cached n_tokens = 5"]
)
def test_a_statement_without_a_figure_is_malformed(text: str) -> None:
    """It is llama.cpp's, but nothing can be read of it."""
    assert LlamaCpp(Timeline()).parse(1, text) == ("malformed", ())


@pytest.mark.parametrize(
    "text",
    [
        f"{SLOT}{line}"
        for line in (PROMPT, EVAL.strip(), TOTAL.strip(), "stop processing: n_tokens = 4095, truncated = 1")
    ]
    + [f"{SLOT}new prompt, n_ctx_slot = 65536, n_keep = -1, task.n_tokens = 62"]
    + [f"{SLOT}n_decoded =    178, tg =  12.44 t/s"],
)
def test_a_cut_line_has_no_wrong_figure(text: str) -> None:
    """Cut anywhere, what is read is what the whole line says, up to the very last label's number."""
    whole = one(text).values
    last = text.rindex(" ", 0, -4) if "tokens" not in text[-8:] else len(text) - 8
    for cut in range(len(SLOT), last):
        for record in read(LlamaCpp(Timeline()), text[:cut]):
            values = dict(record.values)
            values.pop("truncated", None)
            assert values.items() <= whole.items() | {"n_decoded": 178}.items(), text[:cut]


def test_uptimes_make_an_axis() -> None:
    """Minutes, seconds, milli- and microseconds since the start."""
    lines = [f"{uptime} I {HEAD}{PROMPT}" for uptime in ("0.59.000.000", "1.01.500.000", "61.00.000.250")]
    first, second, third = (record.at_s for record in read(LlamaCpp(Timeline()), "\n".join(lines)))
    assert first is not None
    assert second == pytest.approx(first + 2.5)
    assert third == pytest.approx(first + 3601.00025 - 0.0, abs=1e-3)


pieces = st.sampled_from(
    [
        *LlamaCpp.markers,
        *(line for sample in SAMPLES for line in sample["line"].split("\n")),
        HEAD,
        SLOT,
        PROMPT,
        EVAL,
        TOTAL,
        DRAFT,
        '{"msg":"',
        '","id_slot":0}',
        "INFO [ x] ",
        " | ",
        "nan",
        "\n",
    ]
)


@st.composite
def torn_lines(draw: st.DrawFn) -> str:
    """A line of a log with a part cut out of it, or repeated."""
    line = str(draw(st.sampled_from(SAMPLES))["line"])
    start, end = sorted((draw(st.integers(0, len(line))), draw(st.integers(0, len(line)))))
    return line[:end] + line[start:] if draw(st.booleans()) else line[:start] + line[end:]


@given(st.lists(pieces | st.text() | torn_lines(), max_size=8).map("".join))
def test_no_text_is_too_strange(text: str) -> None:
    """Nothing raises, whatever is read stays within the vocabulary and its types, and no block stays open for ever."""
    dialect = LlamaCpp(Timeline())
    for record in read(dialect, text):
        check(record)
    assert not dialect.open


@given(
    st.lists(
        st.sampled_from([HEAD, PROMPT, EVAL, TOTAL, DRAFT, "other", f"{SLOT}kv cache rm [5, end)"]),
        max_size=30,
    )
)
def test_no_timing_is_told_twice(lines: list[str]) -> None:
    """However heads, timings and other lines follow each other, each timing line ends up in one record."""
    dialect = LlamaCpp(Timeline())
    records = read(dialect, "\n".join(lines))
    for record in records:
        check(record)
    for line, key in ((PROMPT, "prompt_ms"), (EVAL, "predicted_ms"), (TOTAL, "total_ms")):
        assert sum(key in record.values for record in records) == lines.count(line)


def test_a_verbose_servers_line_for_each_token_is_nothing() -> None:
    """At verbosity 5 every token has a line that begins like the periodic one; it is no cut one."""
    line = (
        "0.09.920.486 D slot process_toke: id  1 | task 0 | n_gen = 1, n_remaining = 5, next token:    42 ':'"
    )
    assert LlamaCpp(Timeline()).parse(1, line) == Parsed(None)
