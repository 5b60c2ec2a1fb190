"""``radixbench logs`` as a user runs it: real files, real pipes, one clear line for what can't be read."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from radixbench.clock import MonotonicClock
from radixbench.units import NS_PER_S
from tests.e2e.conftest import Door, Outcome

PREFILL = (
    "[2026-04-05 20:{at}{rank}] Prefill batch, #new-seq: 1, #new-token: {new}, #cached-token: {cached}, "
    "token usage: 0.08, #running-req: 3, #queue-req: {queue}, cuda graph: True, input throughput (token/s): 2074.38"
)
DECODE = (
    "[2026-04-05 20:{at}{rank}] Decode batch, #running-req: 5, #token: 20800, token usage: 0.29, "
    "cuda graph: True, gen throughput (token/s): 144.95, #queue-req: 0"
)
FLUSH = "[2026-04-05 20:{at}{rank}] Cache flushed successfully!"


def prefill(at: str, new: int, cached: int, *, queue: int = 0, rank: str = "") -> str:
    """A prefill line at minutes and seconds past eight."""
    return PREFILL.format(at=at, new=new, cached=cached, queue=queue, rank=rank)


def decode(at: str, *, rank: str = "") -> str:
    """A decode line at minutes and seconds past eight."""
    return DECODE.format(at=at, rank=rank)


FIRST = (
    "INFO:     Started server process [12]",
    prefill("00:00", 1000, 0),
    decode("00:02"),
    prefill("00:15", 600, 400, queue=2),
    decode("00:17"),
)
SECOND = (
    FLUSH.format(at="01:00", rank=""),
    prefill("01:01", 1000, 0),
    prefill("01:05", 400, 600),
    decode("01:06"),
)


def write(path: Path, *lines: str) -> Path:
    """The lines as a file."""
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.fixture
def logs(door: Door) -> Door:
    """A directory with a log in two rotated files, and both in one."""
    write(door.directory / "server.log.1", *FIRST)
    write(door.directory / "server.log", *SECOND)
    write(door.directory / "whole.log", *FIRST, *SECOND)
    return door


def numbers(line: str) -> dict[str, int]:
    """New and cached tokens of a plain window line."""
    words = [cell.split() for cell in line.split(" | ")]
    return {cell[0]: int(cell[1].replace(",", "")) for cell in words if cell[0] in {"new", "cached"}}


def test_the_hit_rate_can_be_followed_from_the_table(logs: Door) -> None:
    """The equation holds the sums of the windows, and the windows those of the lines."""
    outcome = logs("logs", "whole.log", "--window", "10s")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0].startswith("whole.log: SGLang; 2026-04-05 20:00:00 to 20:01:06")
    assert "hit rate 25.0 % = 1,000 cached / (1,000 cached + 3,000 new)" in lines
    windows = [numbers(line) for line in lines if line.startswith("window | 20:")]
    assert sum(window["cached"] for window in windows) == 1000
    assert sum(window["new"] for window in windows) == 3000
    assert any("20:01:00" in line and "flush" in line for line in lines if line.startswith("window | "))
    day = logs("logs", "whole.log", "--window", "1d").out.splitlines()
    assert len([line for line in day if line.startswith("window | 20:")]) <= 1


def test_json_is_exactly_one_document(logs: Door) -> None:
    """Stdout is the document and nothing else; so is several logs' one."""
    one = logs("logs", "whole.log", "--json")
    assert one.err == ""
    assert one.document["schema"] == "radixbench.logs/1"
    assert one.document["prefill"]["hit_rate"] == 0.25
    assert sum(one.document["lines"]["by_kind"].values()) == one.document["lines"]["read"] == 9
    two = logs("logs", "server.log.1", "server.log", "--json")
    assert two.document["schema"] == "radixbench.logs/1"
    assert [log["file"] for log in two.document["files"]] == ["server.log.1", "server.log"]


def test_several_logs_stand_side_by_side_or_are_joined(logs: Door) -> None:
    """A column each, without a verdict; with ``--join`` they are one log."""
    beside = logs("logs", "server.log.1", "server.log")
    assert beside.code == 0
    assert "Hit rate | hit rate | server.log.1 20.0 % | server.log 30.0 %" in beside.out.splitlines()
    assert beside.out.splitlines()[-1].startswith("No verdict")
    joined = logs("logs", "server.log.1", "server.log", "--join", "--json").document
    whole = logs("logs", "whole.log", "--json").document
    assert joined["prefill"] == whole["prefill"]
    assert joined["lines"] == whole["lines"]


def test_stdin_and_compressed_logs_are_read_alike(logs: Door) -> None:
    """From a pipe, and from a rotated file that was compressed."""
    piped = logs.shell(f"cat whole.log | {sys.executable} -m radixbench logs - --json")
    (logs.directory / "whole.log.gz").write_bytes(gzip.compress((logs.directory / "whole.log").read_bytes()))
    packed = logs("logs", "whole.log.gz", "--json")
    assert piped.document["prefill"] == packed.document["prefill"]
    assert packed.document["prefill"]["cached_tokens"] == 1000


def test_records_are_a_line_each(logs: Door) -> None:
    """In a file beside the summary, or alone on stdout."""
    beside = logs("logs", "whole.log", "--records", "records.jsonl")
    kept = [json.loads(line) for line in (logs.directory / "records.jsonl").read_text().splitlines()]
    assert "hit rate 25.0 %" in beside.out
    assert [record["kind"] for record in kept].count("prefill") == 4
    assert kept[0]["line_no"] == 2
    assert (kept[0]["new_token"], kept[0]["cached_token"]) == (1000, 0)
    alone = logs("logs", "whole.log", "--records", "-")
    assert [json.loads(line) for line in alone.out.splitlines()] == kept
    both = logs("logs", "server.log.1", "server.log", "--records", "-")
    named = [json.loads(line) for line in both.out.splitlines()]
    assert {record["file"] for record in named} == {"server.log.1", "server.log"}


def test_a_part_of_a_log(logs: Door) -> None:
    """By time and by rank."""
    assert logs("logs", "whole.log", "--json", "--since", "20:01").document["prefill"]["hit_rate"] == 0.3
    assert logs("logs", "whole.log", "--json", "--until", "20:00:59").document["prefill"]["hit_rate"] == 0.2
    ranks = [
        prefill("00:00", 100, 0, rank=" DP0"),
        prefill("00:01", 100, 300, rank=" DP1"),
        prefill("00:02", 100, 0, rank=" DP0"),
    ]
    write(logs.directory / "ranks.log", *ranks)
    assert logs("logs", "ranks.log", "--json", "--rank", "DP1").document["prefill"]["hit_rate"] == 0.75
    assert "rank | DP1 | new 100 | cached 300 | hit rate 75.0 %" in logs("logs", "ranks.log").out


def test_the_page(logs: Door) -> None:
    """One file, announced on stderr; one log or several."""
    outcome = logs("logs", "whole.log", "--html", "page.html", "--json")
    assert (outcome.code, outcome.err) == (0, "page: page.html\n")
    assert "1,000 cached / (1,000 cached + 3,000 new)" in (logs.directory / "page.html").read_text()
    assert logs("logs", "server.log.1", "server.log", "--html", "pair.html").code == 0
    assert "2 logs, figure by figure" in (logs.directory / "pair.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("whole.log", "--window", "10"), "--window: '10' is no length of time"),
        (("whole.log", "--window", "0s"), "--window: 0s is shorter than 100 ms"),
        (("whole.log", "--window", "-5s"), "--window"),
        (("whole.log", "--window", "nan"), "--window: 'nan' is no length of time"),
        (("whole.log", "--since", "yesterday"), "--since"),
        (("whole.log", "--rank", " , "), "--rank: is empty"),
        (("whole.log", "--rank", "DP0"), "--rank DP0: whole.log has no such rank; its lines name no ranks"),
        (("whole.log", "--json", "--records", "-"), "both want stdout"),
        (("whole.log", "--html", "whole.log"), "whole.log: is named twice"),
        (("whole.log", "--records", "./whole.log"), "whole.log: is named twice"),
        (("whole.log", "--records", "x", "--html", "x"), "x: is named twice"),
        (("whole.log", "--records", "/dev/null"), "/dev/null: is no regular file"),
        (("-", "-"), "- is named more than once"),
        (("-f", "whole.log", "server.log"), "--follow: 2 logs given"),
        (("nowhere.log",), "nowhere.log"),
        (("empty.log",), "empty.log"),
        (("binary.log",), "binary.log"),
        ((".",), ".: is a"),
        (("foreign.log",), "foreign.log: 3 lines read, and none is a scheduler's or a request's"),
        (("foreign.log", "--records", "-"), "give the log of SGLang, vLLM, llama.cpp or radixbench"),
        (("whole.log", "foreign.log"), "foreign.log: 3 lines read"),
    ],
)
def test_what_can_not_be_done_is_one_line(logs: Door, arguments: tuple[str, ...], said: str) -> None:
    """What, where and a remedy; exit 2; inputs are as they were and nothing is on stdout."""
    write(logs.directory / "foreign.log", "May 1 12:00:00 host kernel: eth0 up", "no server", "at all")
    (logs.directory / "empty.log").touch()
    (logs.directory / "binary.log").write_bytes(bytes(range(256)) * 64)
    before = sorted(path.name for path in logs.directory.iterdir())
    outcome = logs("logs", *arguments)
    assert outcome.code == 2
    assert said in outcome.complaint
    assert outcome.out == ""
    assert sorted(path.name for path in logs.directory.iterdir()) == before
    assert (logs.directory / "whole.log").read_text().splitlines() == [*FIRST, *SECOND]


def test_a_log_commands_no_terminal(logs: Door) -> None:
    """Escape sequences of a log and of its name are shown and not obeyed."""
    name = "a\x1b[31m.log"
    write(
        logs.directory / name,
        *FIRST,
        "[2026-04-05 20:01:00] server_args=ServerArgs(model_path='\x1b]0;x\x07')",
    )
    outcome = logs("logs", name)
    assert outcome.code == 0
    assert not [character for character in outcome.out if not character.isprintable() and character != "\n"]


def test_reading_a_log_starts_no_heavy_library(logs: Door) -> None:
    """Start-up counts: neither torch nor what draws pages is loaded for a summary."""
    heavy = (
        "torch",
        "transformers",
        "altair",
        "jinja2",
        "vl_convert",
        "pandas",
        "datasets",
        "scipy.stats",
        "aiohttp",
    )
    block = f"import sys; [sys.modules.__setitem__(name, None) for name in {heavy}]; "
    call = "from radixbench.cli.main import run; sys.exit(run(['logs', 'whole.log']))"
    done = subprocess.run(
        [sys.executable, "-c", block + call], cwd=logs.directory, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


class Followed:
    """A log that is followed while the test writes to it."""

    def __init__(self, door: Door, *flags: str) -> None:
        self.path = write(door.directory / "growing.log", *FIRST)
        self.process = door.start("logs", "-f", "growing.log", *flags)

    def grow(self, *lines: str) -> None:
        """More lines at the log's end."""
        with self.path.open("a") as log:
            log.write("".join(f"{line}\n" for line in lines))

    def interrupt(self) -> Outcome:
        """Ctrl-C, and what then came."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=60)
        return Outcome(self.process.returncode, out, err)


@pytest.fixture
def followed(door: Door) -> Iterator[list[Followed]]:
    """Whatever was started is ended."""
    started: list[Followed] = []
    yield started
    for one in started:
        if one.process.poll() is None:
            os.killpg(one.process.pid, signal.SIGKILL)
            one.process.communicate()


def until(path: Path, lines: int) -> list[str]:
    """The lines of a file once there are so many."""
    clock = MonotonicClock()
    deadline = clock.now_ns() + 60 * NS_PER_S
    while clock.now_ns() < deadline:
        found = path.read_text().splitlines() if path.exists() else []
        if len(found) >= lines:
            return found
        clock.sleep_ns(NS_PER_S // 20)
    raise AssertionError(f"{path} never had {lines} lines")


def test_a_followed_log_is_told_as_it_grows_and_summed_up_at_the_end(
    door: Door, followed: list[Followed]
) -> None:
    """Records arrive while it is written; Ctrl-C prints the summary of all of it and exits with 130."""
    log = Followed(door, "--records", "records.jsonl")
    followed.append(log)
    first = until(door.directory / "records.jsonl", 4)
    log.grow(*SECOND)
    assert until(door.directory / "records.jsonl", 8)[:4] == first
    outcome = log.interrupt()
    assert outcome.code == 130
    assert outcome.err == "radixbench: interrupted\n"
    told, *summary = outcome.out.splitlines()
    assert " | hit rate 20.0 % = 400 cached / (400 cached + 1,600 new) | " in told
    assert "hit rate 25.0 % = 1,000 cached / (1,000 cached + 3,000 new)" in summary


def test_a_followed_log_as_a_document(door: Door, followed: list[Followed]) -> None:
    """Progress goes to stderr; stdout holds the one document that Ctrl-C asks for."""
    log = Followed(door, "--json", "--records", "records.jsonl")
    followed.append(log)
    until(door.directory / "records.jsonl", 4)
    outcome = log.interrupt()
    assert outcome.code == 130
    assert outcome.document["prefill"]["hit_rate"] == 0.2
    assert "hit rate 20.0 %" in outcome.err


def test_a_pipe_that_is_followed_ends_with_its_writer(door: Door) -> None:
    """``kubectl logs -f | radixbench logs -f -`` needs no Ctrl-C when the pod is gone."""
    write(door.directory / "server.log", *FIRST)
    outcome = door.shell(f"cat server.log | {sys.executable} -m radixbench logs -f - --json 2>/dev/null")
    assert outcome.code == 0
    assert outcome.document["prefill"]["hit_rate"] == 0.2


class Piped:
    """``… | radixbench logs -`` with a writer that doesn't end."""

    def __init__(self, door: Door, *flags: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "radixbench", "logs", "-", *flags],
            cwd=door.directory,
            env=door.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def write(self, *lines: str) -> None:
        """Lines into the pipe; back once they are taken out of it and the reader waits for more."""
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in lines))
        self.process.stdin.flush()
        clock = MonotonicClock()
        deadline = clock.now_ns() + 60 * NS_PER_S
        while self._waiting() or not self._sleeps():
            assert clock.now_ns() < deadline
            clock.sleep_ns(NS_PER_S // 20)

    def interrupt(self) -> Outcome:
        """Ctrl-C, and what then came while the pipe is still open."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.stdout.read(), self.process.stderr.read()
        return Outcome(self.process.wait(60), out, err)

    def _waiting(self) -> int:
        """Bytes that lie in the pipe."""
        assert self.process.stdin is not None
        held = fcntl.ioctl(self.process.stdin, termios.FIONREAD, bytes(4))
        return int.from_bytes(held, sys.byteorder)

    def _sleeps(self) -> bool:
        state = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2]
        return state.startswith("S")


@pytest.fixture
def piped() -> Iterator[list[Piped]]:
    """Whatever was started is ended."""
    started: list[Piped] = []
    yield started
    for one in started:
        if one.process.poll() is None:
            os.killpg(one.process.pid, signal.SIGKILL)
        one.process.communicate()


def test_ctrl_c_on_a_pipe_that_goes_on_tells_what_was_read(door: Door, piped: list[Piped]) -> None:
    """``kubectl logs -f | radixbench logs -``: the summary so far, which says that it is one, and exit 130."""
    pipe = Piped(door)
    piped.append(pipe)
    pipe.write(*FIRST)
    outcome = pipe.interrupt()
    assert (outcome.code, outcome.err) == (130, "radixbench: interrupted\n")
    head, hit, *_ = outcome.out.splitlines()
    assert head.endswith("5 lines: 2 prefill, 2 decode, 1 other; reading was interrupted here")
    assert hit == "hit rate 20.0 % = 400 cached / (400 cached + 1,600 new)"


def test_ctrl_c_before_a_pipe_told_anything(door: Door, piped: list[Piped]) -> None:
    """Nothing is made up, and nothing is called wrong with the log."""
    pipe = Piped(door, "--json")
    piped.append(pipe)
    pipe.write("INFO:     Started server process [12]")
    outcome = pipe.interrupt()
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "radixbench: interrupted\n")


def test_a_part_says_what_it_is_of(logs: Door) -> None:
    """In the user's words, with the lines of each kind that lie in it, of all that there are."""
    outcome = logs("logs", "whole.log", "--since", "20:01", "--until", "20:01:05", "--html", "page.html")
    head, part, *_ = outcome.out.splitlines()
    assert head == "whole.log: SGLang; 9 lines: 4 prefill, 3 decode, 2 other"
    told = "selected 20:01 to 20:01:05: 2 of 4 prefill lines, 0 of 3 decode lines, 1 of 1 event"
    assert part.startswith(told)
    assert told in (logs.directory / "page.html").read_text()
