"""``radixbench serve`` as a process: start, ready line, signals, exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence

import psutil
import pytest

from radixbench.cli.main import run

COMMAND = (sys.executable, "-m", "radixbench", "serve", "--runner", "fake", "--port", "0")


@contextlib.contextmanager
def serving(
    *flags: str, command: Sequence[str] = COMMAND, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """A server process that is ready, its address and the lines it printed up to there."""
    process = subprocess.Popen(
        [*command, *flags],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )
    lines: list[str] = []
    try:
        assert process.stderr is not None
        for line in process.stderr:
            lines.append(line)
            if "fired up and ready to roll!" in line:
                break
        (url,) = re.findall(r"Listening on (\S+)", "".join(lines))
        yield process, url, lines
    finally:
        process.kill()
        process.communicate()


def complete(url: str, **fields: object) -> dict[str, object]:
    """The body of one completion."""
    request = urllib.request.Request(f"{url}/v1/completions", data=json.dumps(fields).encode())
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it(number: signal.Signals, code: int) -> None:
    """SIGTERM is a normal end, SIGINT an interruption; neither leaves a traceback."""
    with serving() as (process, url, _):
        assert complete(url, prompt=[1], max_tokens=2)["usage"]
        process.send_signal(number)
        _, rest = process.communicate(timeout=10)
        assert process.returncode == code, rest
        assert "Traceback" not in rest


def test_requests_under_way_are_told() -> None:
    """A server that leaves answers what is pending with 503 instead of finishing it."""
    with serving("--fake-step-cost", "decode_base=5000") as (process, url, _):
        host, _, port = url.removeprefix("http://").partition(":")
        body = json.dumps({"prompt": [1], "max_tokens": 10_000}).encode()
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(
                b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body
            )
            while not json.load(urllib.request.urlopen(f"{url}/server_info"))["internal_states"][0][
                "running_req"
            ]:
                pass
            process.send_signal(signal.SIGTERM)
            assert connection.recv(65536).startswith(b"HTTP/1.1 503")
        assert process.wait(timeout=10) == 0


def test_it_leaves_when_its_input_closes() -> None:
    """With --exit-on-stdin-eof a server can't outlive whoever started it."""
    with serving("--exit-on-stdin-eof") as (process, _, _):
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
        assert process.wait(timeout=10) == 0


def test_it_starts_without_torch_and_says_what_people_grep_for() -> None:
    """The start-up lines are SGLang's, and the scripted runner needs neither torch nor transformers."""
    with serving("--api-key", "k3y-of-mine", PYTHONPROFILEIMPORTTIME="1") as (_, url, lines):
        text = "".join(lines)
        assert re.search(r"\| +radixbench\.server\.app\n", text)
        assert not re.search(r"\| +(torch|transformers|datasets|scipy)\b", text)
        assert "server_args={'model_path': 'tiny'" in text
        assert f"'port': {url.rpartition(':')[2]}" in text
        assert "k3y-of-mine" not in text
        assert "max_total_num_tokens=65536, chunked_prefill_size=4096" in text
        assert "Tree cache initialized: source=default impl=RadixCache" in text


def test_only_this_host_can_reach_it_by_default() -> None:
    """Without --host a server listens on 127.0.0.1 alone: another address of the same host finds nobody."""
    with serving() as (_, url, _):
        host, _, port = url.removeprefix("http://").rpartition(":")
        assert host == "127.0.0.1"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", int(port)), timeout=5)


def test_it_serves_without_uvloop() -> None:
    """A platform without the faster event loop gets Python's own: requests, signals and exit code are the same."""
    script = (
        "import sys\n"
        "sys.modules['uvloop'] = None\n"
        "from radixbench.cli.main import run\n"
        "sys.exit(run(['serve', '--runner', 'fake', '--port', '0']))\n"
    )
    with serving(command=[sys.executable, "-c", script]) as (process, url, _):
        assert complete(url, prompt=[1], max_tokens=2)["usage"]
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=10)
        assert process.returncode == 0, rest
        assert "Traceback" not in rest


TINY = (sys.executable, "-m", "radixbench", "serve", "--threads", "2", "--port", "0")


@pytest.mark.parametrize("command", [COMMAND, TINY], ids=["scripted", "tiny"])
def test_an_idle_server_does_not_spin(command: Sequence[str]) -> None:
    """Between requests all its threads sleep: they take less than a tenth of one core's time."""
    with serving(command=command) as (process, url, _):
        complete(url, prompt=[1] * 64, max_tokens=8)
        server = psutil.Process(process.pid)
        before = server.cpu_times()
        time.sleep(1.5)
        after = server.cpu_times()
        assert after.user + after.system - before.user - before.system < 0.15


def refused(capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    """The one line a server that must refuse to start prints, run in this process."""
    assert run(["serve", *flags]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    return line


def test_a_taken_port_is_refused_before_the_model_is_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit code 2, although the model named doesn't exist either."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        line = refused(capsys, "--port", str(port), "--model", "/nowhere")
    assert line == f"radixbench: port {port} on 127.0.0.1 is taken; give another --port, or 0 for any"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--port", "70000"), "port is 70000"),
        (("--page-size", "0"), "page_size is 0"),
        (("--max-total-tokens", "-5"), "max_total_tokens is -5"),
        (("--decode-log-interval", "0"), "decode_log_interval is 0"),
        (("--schedule-policy", "lifo"), "--schedule-policy is 'lifo'; give one of fcfs, lpm"),
        (("--schedule-conservativeness", "nan"), "schedule_conservativeness is nan"),
        (("--runner", "real"), "--runner is 'real'"),
        (("--device", "tpu"), "--device is 'tpu'"),
        (("--dtype", "int4"), "--dtype is 'int4'"),
        (("--api-key", ""), "api_key is empty"),
        (("--fake-step-cost", "decode=1"), "--fake-step-cost holds 'decode=1'"),
        (("--fake-step-cost", "decode_base=-1"), "--fake-step-cost holds 'decode_base=-1'"),
        (("--host", "no.such.host.invalid"), "host 'no.such.host.invalid' is unknown"),
    ],
)
def test_a_bad_flag_is_one_line(
    capsys: pytest.CaptureFixture[str], flags: tuple[str, ...], words: str
) -> None:
    """A value no server could run with is refused in one line with the remedy."""
    assert words in refused(capsys, "--runner", "fake", "--port", "0", *flags)


def test_a_crashed_engine_ends_the_process_with_its_traceback() -> None:
    """The client gets a 500, the log the traceback, whoever started the server a non-zero exit code."""
    script = (
        "import sys\n"
        "from radixbench.cli.main import run\n"
        "from radixbench.engine.runner import ScriptedRunner\n"
        "def fail(self, batch): raise RuntimeError('the card fell off')\n"
        "ScriptedRunner.run = fail\n"
        "sys.exit(run(['serve', '--runner', 'fake', '--port', '0']))\n"
    )
    with serving(command=[sys.executable, "-c", script]) as (process, url, _):
        with pytest.raises(urllib.error.HTTPError) as caught:
            complete(url, prompt=[1])
        assert caught.value.code == 500
        assert "the card fell off" in json.load(caught.value)["error"]["message"]
        caught.value.close()
        _, rest = process.communicate(timeout=10)
        assert process.returncode == 70
        assert "RuntimeError: the card fell off" in rest
