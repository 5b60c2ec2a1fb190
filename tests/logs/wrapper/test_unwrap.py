"""What stands around a server's line comes off, and the line is what the server printed."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from radixbench.logs.wrapper.unwrap import Unwrapped, strip_ansi, unwrap

PREFILL = (
    "[2026-10-01 12:00:00 TP0] Prefill batch, #new-seq: 2, #new-token: 1024, #cached-token: 4096, "
    "token usage: 0.10, #running-req: 3, #queue-req: 5, cuda graph: False, "
)
STATS = "INFO 07-10 08:20:51 [loggers.py:123] Engine 000: Avg prompt throughput: 55.2 tokens/s"
NANO = "2026-10-01T12:00:01.123456789Z"
MICRO = "2026-10-01 12:00:01.123456"


def docker(line: str) -> str:
    return json.dumps({"log": f"{line}\n", "stream": "stderr", "time": NANO}, separators=(",", ":"))


def journal(line: str) -> str:
    return json.dumps(
        {
            "MESSAGE": line,
            "__REALTIME_TIMESTAMP": "1790856001123456",
            "_HOSTNAME": "gpu-7",
            "_SYSTEMD_UNIT": "sglang.service",
            "_PID": "12",
        }
    )


def pod_fields(line: str) -> str:
    names = {"pod_name": "sglang-0", "container_name": "server"}
    return json.dumps({"log": f"{line}\n", "stream": "stdout", "logtag": "F", "kubernetes": names})


def cloud(line: str) -> str:
    labels = {"pod_name": "sglang-0", "container_name": "server"}
    resource = {"type": "k8s_container", "labels": labels}
    return json.dumps({"textPayload": line, "timestamp": NANO, "resource": resource}, ensure_ascii=False)


WRAPPERS: dict[str, tuple[Callable[[str], str], str, str | None]] = {
    "docker's json-file": (docker, "", MICRO),
    "docker's json-file with a tag": (
        lambda line: json.dumps(
            {"log": f"{line}\n", "stream": "stderr", "attrs": {"tag": "sglang-1"}, "time": NANO}
        ),
        "sglang-1",
        MICRO,
    ),
    "docker logs --timestamps": (lambda line: f"{NANO} {line}", "", MICRO),
    "CRI": (lambda line: f"2026-10-01T12:00:01.000000000+08:00 stderr F {line}", "", "2026-10-01 12:00:01"),
    "compose": (lambda line: f"sglang-1  | {line}", "sglang-1", None),
    "compose with times": (lambda line: f"sglang-1  | {NANO} {line}", "sglang-1", MICRO),
    "a swarm": (lambda line: f"llm_sglang.1.x5@gpu-7    | {line}", "llm_sglang.1.x5@gpu-7", None),
    "kubectl --prefix": (lambda line: f"[pod/sglang-0/server] {line}", "sglang-0/server", None),
    "kubectl --prefix --timestamps": (
        lambda line: f"[pod/sglang-0/server] {NANO} {line}",
        "sglang-0/server",
        MICRO,
    ),
    "stern -o json": (
        lambda line: json.dumps({"message": line, "namespace": "x", "podName": "a-0", "containerName": "c"}),
        "a-0/c",
        None,
    ),
    "journalctl": (
        lambda line: f"Nov  9 23:43:01 gpu-7 sglang[123]: {line}",
        "gpu-7 sglang",
        "11-09 23:43:01",
    ),
    "journalctl -o short-iso": (
        lambda line: f"2026-11-29T23:43:01+0000 gpu-7 sglang[123]: {line}",
        "gpu-7 sglang",
        "2026-11-29 23:43:01",
    ),
    "journalctl -o json": (journal, "gpu-7 sglang.service", MICRO),
    "syslog, RFC 5424": (
        lambda line: f'<34>1 {NANO} gpu-7 sglang 123 - [a@1 b="c \\"]\\" d"][e] {line}',
        "gpu-7 sglang",
        MICRO,
    ),
    "syslog, RFC 5424, nothing known": (lambda line: f"<165>1 - - - - - - {line}", "", None),
    "syslog, RFC 3164": (
        lambda line: f"<34>Oct 11 22:14:15 gpu-7 sglang[1]: {line}",
        "gpu-7 sglang",
        "10-11 22:14:15",
    ),
    "ray": (lambda line: f"(SGLangEngine pid=36871) {line}", "SGLangEngine pid=36871", None),
    "ray, a worker of verl": (lambda line: f"(WorkerDict pid=7) {line}", "WorkerDict pid=7", None),
    "ray, another host": (
        lambda line: f"\x1b[36m(SGLangEngine pid=36871, ip=192.0.2.7)\x1b[0m {line}",
        "SGLangEngine pid=36871, ip=192.0.2.7",
        None,
    ),
    "ray, repeated": (
        lambda line: f"\x1b[36m(Engine pid=1)\x1b[0m {line}\x1b[32m [repeated 3x across cluster]\x1b[0m",
        "Engine pid=1",
        None,
    ),
    "srun --label": (lambda line: f"12: {line}", "task 12", None),
    "srun --label, aligned": (lambda line: f" 3: {line}", "task 3", None),
    "colours": (lambda line: f"\x1b[1;32m{line}\x1b[0m", "", None),
    "a link and a title": (lambda line: f"\x1b]8;;http://x\x1b\\{line}\x1b]0;title\x07\x1b(B", "", None),
    "a collector on Kubernetes": (pod_fields, "sglang-0/server", None),
    "a cloud's text payload": (cloud, "sglang-0/server", MICRO),
    "a cloud's JSON payload": (
        lambda line: json.dumps({"jsonPayload": {"message": line, "level": "info"}, "timestamp": NANO}),
        "",
        MICRO,
    ),
    "message and timestamp": (
        lambda line: json.dumps({"timestamp": 1790856001123.456, "message": line}),
        "",
        MICRO,
    ),
    "msg and ts": (lambda line: json.dumps({"msg": line, "ts": 1790856001}), "", "2026-10-01 12:00:01"),
    "a stream of Loki": (
        lambda line: json.dumps({"line": line, "timestamp": NANO, "fields": {"pod": "sglang-0"}}),
        "sglang-0",
        MICRO,
    ),
    "srun in docker": (lambda line: docker(f"0: {line}"), "task 0", MICRO),
    "ray on Kubernetes": (
        lambda line: f"{NANO} stdout F \x1b[36m(Engine pid=1)\x1b[0m {line}",
        "Engine pid=1",
        MICRO,
    ),
}
"""Name -> how it wraps a line, the source it names, its time."""

BARE = [
    PREFILL,
    STATS,
    f"(APIServer pid=164) {STATS}",
    f"(EngineCore_DP0 pid=124) {STATS}",
    f"(Worker_TP0 pid=125) {STATS}",
    "[06:48:06 TP0] Decode batch. #running-req: 2, #token: 4229, token usage: 0.00, #queue-req: 0",
    "slot update_slots: id  0 | task 0 | kv cache rm [0, end)",
    "slot 0 : in cache: 0 tokens | to process: 510 tokens",
    '      INFO [           print_timings] prompt eval time     =    1087.67 ms | tid="0x1" timestamp=1717067999',
    "[53409] 3.44.875.509 I slot update_slots: id  0 | task 533 | new prompt, n_ctx_slot = 65536",
    "0.06.895.980 I slot print_timing: id  1 | task 0 | prompt eval time =     311.21 ms /    21 tokens",
    '{"tid":"1","timestamp":1717067999,"level":"INFO","function":"print_timings","line":321,"msg":"prompt eval time"}',
    '{"event":"request.finished","rid":"a","out":{"meta_info":{}},"message":"x"}',
    "2024-01-01 00:00:00.000 | INFO     | module:func:12 - a logger's own columns",
    "INFO     | a logger's own columns",
    "",
    "{",
    "[pod/",
    "(",
]
"""Lines that look a little like wrapped ones."""

LINES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\x1b\ufeff")
) | st.sampled_from((PREFILL, STATS))


@pytest.mark.parametrize("name", WRAPPERS)
@settings(deadline=None)
@given(line=LINES)
def test_a_wrapped_line_comes_out_exact(name: str, line: str) -> None:
    """Byte for byte, with the source and the time that the wrapper tells."""
    assume(unwrap(line) == Unwrapped(line))
    wrap, source, stamp = WRAPPERS[name]
    assert unwrap(wrap(line)) == Unwrapped(line, source, stamp)


@pytest.mark.parametrize("line", BARE)
def test_a_line_that_nothing_wraps_stays_as_it_is(line: str) -> None:
    """What servers print themselves is theirs, also JSON and a process in brackets."""
    assert unwrap(line) == Unwrapped(line)


def test_the_source_is_the_same_for_every_process_of_a_server() -> None:
    """Ranks of one server write under process numbers of their own."""
    assert (
        unwrap(f"Nov 29 23:43:01 a sglang[1]: {PREFILL}").source
        == unwrap(f"Nov 29 23:43:02 a sglang[2]: {PREFILL}").source
    )


def test_stern_puts_pod_and_container_in_front() -> None:
    """Told from words of the line by the shape of a pod's name and of what follows."""
    assert unwrap(f"sglang-7d4b9c6f8-x2x4z server {PREFILL}") == Unwrapped(
        PREFILL, "sglang-7d4b9c6f8-x2x4z/server"
    )
    assert unwrap("llama-server started [now]").source == ""


def test_a_piece_of_a_line_is_marked_partial() -> None:
    """Docker and CRI cut what is longer than 16 KB; the last piece is whole."""
    piece = json.dumps({"log": "first half,", "stream": "stderr", "time": NANO})
    assert unwrap(piece) == Unwrapped("first half,", "", MICRO, partial=True)
    assert unwrap(f"{NANO} stderr P first half,").partial
    assert unwrap(json.dumps({"log": "x", "logtag": "P"})).partial
    assert not unwrap(f"{NANO} stderr F second half").partial
    assert not unwrap(docker("second half")).partial


def test_escapes_of_json_are_decoded() -> None:
    """Quotes, colours and characters beyond ASCII."""
    assert unwrap(docker('a "b" \\ é \t')).text == 'a "b" \\ é \t'
    assert unwrap(docker("\x1b[32ma\x1b[0m")).text == "a"


def test_a_journal_gives_coloured_messages_as_bytes() -> None:
    """systemd exports what isn't printable as a list of numbers."""
    assert unwrap(json.dumps({"MESSAGE": list(b"\x1b[1mhit \xc3\xa9\xff")})).text == "hit é\ufffd"


def test_colours_that_a_syslog_daemon_wrote_out_go() -> None:
    """rsyslog writes the escape character as #033."""
    assert unwrap("Nov 29 23:43:01 a b[1]: #033[36mx#033[0m").text == "x"


def test_the_time_with_a_year_is_kept() -> None:
    """Of two wrappers' times the one that tells more."""
    assert unwrap(f"Nov 29 23:43:01 a b[1]: {NANO} x").timestamp == MICRO


@settings(deadline=None)
@given(
    text=st.text(st.characters(), max_size=200),
    head=st.sampled_from(["", *BARE, *(w(PREFILL) for w, *_ in WRAPPERS.values())]),
)
def test_no_line_breaks_it(text: str, head: str) -> None:
    """Whatever a line holds, and wherever a wrapper is cut off."""
    for line in (text, head + text, head[: len(text)], head[: len(text)] + text):
        assert isinstance(unwrap(line).text, str)
        assert isinstance(strip_ansi(line), str)


@pytest.mark.parametrize(
    "line",
    [
        "a-" + "1" * 200_000,
        "<1>1 a b c d e " + '[a="' * 50_000,
        "(" * 200_000,
        "{" * 200_000,
        '{"log":' * 50_000,
        "\x1b]" * 100_000,
        "\x1b[" + "1;" * 100_000,
        "a " * 100_000 + "|",
        '{"timestamp":' + "9" * 10_000 + ',"msg":"x"}',
        '{"timestamp":1e400,"msg":"x"}',
        '{"timestamp":"' + "9" * 10_000 + '","msg":"x"}',
    ],
    ids=lambda line: line[:12],
)
def test_a_hostile_line_takes_no_time(line: str) -> None:
    """No pattern of the wrappers goes back and forth over a long line; one that did would not end within the test's limit."""
    unwrap(line)
