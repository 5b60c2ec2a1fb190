"""``radixbench mock`` as a process: ready line, signals, exit codes, refusals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request

import pytest

from radixbench.cli.main import run
from tests.mock.start import mock_process

COMMAND = (sys.executable, "-m", "radixbench", "mock")


def started(*flags: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it(number: signal.Signals, code: int) -> None:
    """One ready line on stdout; SIGTERM is a normal end, SIGINT an interruption, said in one line."""
    with started() as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("mock ready on http://127.0.0.1:")
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (code, "")
    assert err == ("radixbench: interrupted\n" if code == 130 else "")


def test_it_doesn_t_outlive_its_parent() -> None:
    """When standard input ends, so does the mock."""
    with started("--exit-on-stdin-eof", "--json") as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert ready["mock"] is True
        assert ready["pid"] == process.pid
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=20) == 0


def test_the_options_reach_the_mock() -> None:
    """What is asked for on the command line is what /mock tells."""
    flags = "--ttft 0.01 --gap 0.002 --tokens-per-frame 2 --fail 429=1/3 --page-size 16 --dialect vllm --flush lies"
    with (
        mock_process(*flags.split(), "--no-role-chunk", "--stall-after", "3", "--stall", "2") as url,
        urllib.request.urlopen(f"{url}/mock") as response,
    ):
        settings = json.load(response)["settings"]
    assert settings["dialect"] == "vllm"
    assert settings["pace"] == {"ttft_s": 0.01, "ttft_per_token_s": 0.0, "gap_s": 0.002, "jitter": 0.0}
    assert settings["shape"]["tokens_per_frame"] == 2
    assert settings["shape"]["role_chunk"] is False
    assert settings["faults"]["failures"] == [{"status": 429, "which": "1/3"}]
    assert settings["faults"]["stall_s"] == 2.0
    assert settings["cache"]["page_size"] == 16
    assert settings["lies"]["flush"] == "lies"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--dialect tgi", "--dialect is 'tgi'; give one of sglang, vllm, llamacpp"),
        ("--fail often", "--fail holds 'often'; give STATUS=WHICH, such as 429=1/3"),
        ("--fail 200", "--fail names status 200; give one from 400 to 599"),
        ("--empty 3", "--empty holds '3', which is no share from 0 to 1; give all, never"),
        ("--gap -1", "--gap is -1; give a number from 0"),
        ("--gap nan", "--gap is nan; give a number from 0"),
        ("--ttft inf", "--ttft is inf; give a number from 0"),
        ("--tokens-per-frame 0", "--tokens-per-frame is 0; give a number from 1"),
        ("--jitter 1", "--jitter is 1; give a share from 0 to below 1"),
        ("--cache-tokens 3 --page-size 4", "--cache-tokens is 3, less than a page of 4"),
        ("--port 99999", "Invalid value for '--port'"),
        ("--nonsense", "No such option"),
        ("--write-log /no/such/folder/x", "/no/such/folder/x can't be written"),
    ],
)
def test_a_wrong_option_is_one_line(flags: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Refused before anything is served: exit code 2 and what would be right."""
    assert run(["mock", *flags.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert message in err


def test_help_needs_no_engine() -> None:
    """The help page shows its panels without importing numpy, torch or transformers."""
    block = (
        "import sys; [sys.modules.__setitem__(name, None) for name in ('torch', 'transformers', 'numpy')]; "
    )
    call = "from radixbench.cli.main import run; sys.exit(run(['mock', '--help']))"
    done = subprocess.run(
        [sys.executable, "-c", block + call],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"COLUMNS": "120"},
    )
    assert done.returncode == 0, done.stderr
    assert "What goes wrong" in done.stdout


def test_serving_needs_no_torch() -> None:
    """A mock starts where torch, transformers and aiohttp can't be imported."""
    heavy = ("torch", "transformers", "aiohttp", "scipy", "pandas")
    block = f"import sys; [sys.modules.__setitem__(name, None) for name in {heavy}]; "
    call = "from radixbench.cli.main import run; sys.exit(run(['mock', '--exit-on-stdin-eof']))"
    done = subprocess.run(
        [sys.executable, "-c", block + call], input="", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
