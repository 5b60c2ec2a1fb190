"""``radixbench report`` and the names of its outputs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from radixbench.capture.store import save
from tests.builders import make_capture, make_request, make_run, make_sweep
from tests.cli.conftest import Command


@pytest.fixture
def pair(tmp_path: Path) -> Sequence[str]:
    """A sweep's two captures."""
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for capture, path in zip(make_sweep(), paths, strict=True):
        save(capture, path)
    return [str(path) for path in paths]


@pytest.mark.parametrize("name", ["x.png", "x", "x.md", "x.json"])
def test_a_page_is_written_under_no_other_name(command: Command, pair: Sequence[str], name: str) -> None:
    """HTML in a file called a picture would be opened by nothing."""
    place = Path(pair[0]).parent / name
    outcome = command("report", *pair, "-o", str(place))
    assert outcome.code == 2
    assert (
        outcome.err == f"radixbench: -o {place}: a report is an HTML page; -o takes .html; PNGs: --png DIR\n"
    )
    assert not place.exists()


def test_html_is_another_name_of_report(command: Command, pair: Sequence[str], tmp_path: Path) -> None:
    """``logs`` calls it so; the help shows one name, and both at once are refused."""
    page = tmp_path / "page.html"
    assert command("compare", *pair, "--html", str(page)).code == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    both = command("compare", *pair, "--html", str(page), "--report", str(tmp_path / "other.html"))
    assert (both.code, both.err) == (2, "radixbench: --report and --html are one option; give one of them\n")
    for name in ("compare", "sweep"):
        assert "--html" not in command(name, "--help").out


def test_every_output_of_a_pair_is_written_at_once(
    command: Command, pair: Sequence[str], tmp_path: Path
) -> None:
    """A page, Markdown, pictures, tables and flat keys, each told with its path."""
    page, markdown, flat = tmp_path / "page.html", tmp_path / "page.md", tmp_path / "flat.json"
    png, svg, csv = tmp_path / "png", tmp_path / "svg", tmp_path / "csv"
    outcome = command(
        *("report", *pair, "-o", str(page), "--markdown", str(markdown), "--png", str(png)),
        *("--svg", str(svg), "--csv", str(csv), "--flat", str(flat)),
    )
    assert (outcome.code, outcome.out) == (0, "")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert markdown.stat().st_size
    assert {one.stem for one in png.iterdir()} == {one.stem for one in svg.iterdir()}
    assert all(one.read_bytes().startswith(b"\x89PNG") for one in png.iterdir())
    assert all(one.read_text(encoding="utf-8").startswith("<svg") for one in svg.iterdir())
    assert {one.name for one in csv.iterdir()} == {"runs.csv", "requests.csv", "factors.csv"}
    document = json.loads(flat.read_text(encoding="utf-8"))
    assert document["runs"][0]["median_ttft_ms"] > 0
    assert {"report", "markdown", "figure", "table", "flat keys"} == {
        line.split(":")[0] for line in outcome.err.splitlines()
    }


def test_one_capture_has_no_factors_to_write(command: Command, pair: Sequence[str], tmp_path: Path) -> None:
    """Its runs and requests are tables; flat keys may be a line a run."""
    csv, flat = tmp_path / "csv", tmp_path / "flat.jsonl"
    assert command("report", pair[0], "--csv", str(csv), "--flat", str(flat)).code == 0
    assert {one.name for one in csv.iterdir()} == {"runs.csv", "requests.csv"}
    assert all("median_ttft_ms" in json.loads(line) for line in flat.read_text(encoding="utf-8").splitlines())


def test_flat_keys_may_be_a_file_a_run(command: Command, pair: Sequence[str], tmp_path: Path) -> None:
    """A name without an ending is a directory; what was written is told."""
    flat = tmp_path / "flat"
    outcome = command("report", *pair, "--flat", str(flat))
    assert outcome.code == 0
    assert outcome.err.splitlines() == [f"flat keys: {path}" for path in sorted(flat.iterdir())]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--flat", "x.csv"),
            "--flat x.csv: flat keys are JSON; --flat takes .json, .jsonl or a directory; CSV: --csv DIR",
        ),
        (("--svg", "{a}"), "--svg {a}: is a file; name a directory"),
        (("--csv", "{a}"), "--csv {a}: is a file; name a directory"),
        (("--flat", "{a}"), None),
        (("--goodput", "ttft"), None),
    ],
)
def test_what_cant_be_written_is_refused_before_any_work(
    command: Command, pair: Sequence[str], arguments: Sequence[str], said: str | None
) -> None:
    """One line, and the captures stay as they are."""
    before = [Path(path).read_bytes() for path in pair]
    outcome = command("report", *pair, *(one.format(a=pair[0]) for one in arguments))
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    if said is not None:
        assert outcome.err == f"radixbench: {said.format(a=pair[0])}\n"
    assert [Path(path).read_bytes() for path in pair] == before


def test_targets_of_the_command_line_replace_the_captures_own(
    command: Command, pair: Sequence[str], tmp_path: Path
) -> None:
    """``--goodput`` is judged anew from the records."""
    flat = tmp_path / "flat.json"
    command("report", *pair, "--flat", str(flat), "--goodput", "ttft:100000", "tpot:100000")
    runs = json.loads(flat.read_text(encoding="utf-8"))["runs"]
    assert all(run["request_goodput"] > 0 for run in runs)


def test_report_and_compare_tell_one_story(command: Command, tmp_path: Path) -> None:
    """The same two captures under the same options: the same Markdown, whichever command writes it."""
    on, off = make_sweep(on=0.96, off=1.0, shared=(0, 64))
    other = replace(off, runs=tuple(replace(run, workload_digest="f" * 64) for run in off.runs))
    paths = [str(tmp_path / name) for name in ("a.json", "b.json")]
    for capture, path in zip((on, other), paths, strict=True):
        save(capture, Path(path))
    plain = command("report", *paths, "--markdown", "-").out
    assert plain.startswith("**✕ Incomparable.**")
    for options in (
        (),
        ("--allow", "prompts"),
        ("--allow", "prompts", "--threshold", "0.1", "--gate", "e2e_p50"),
    ):
        told = [command(name, *paths, "--markdown", "-", *options).out for name in ("compare", "report")]
        assert told[0] == told[1]
    assert "an effect of 10 % or more" in told[1]
    assert told[1].startswith("**≈ No difference seen, differences allowed by hand.**")


def test_one_capture_takes_no_terms_of_a_comparison(command: Command, pair: Sequence[str]) -> None:
    """What would do nothing is refused."""
    for flags in (("--allow", "prompts"), ("--threshold", "0.1"), ("--clock-floor", "900")):
        outcome = command("report", pair[0], *flags)
        assert (
            outcome.err
            == f"radixbench: {flags[0]}: one capture is compared with nothing; name a second one\n"
        )
        assert outcome.code == 2
    assert "end-to-end latency" in command("report", pair[0], "--gate", "e2e_p50", "--markdown", "-").out


def test_a_measured_zero_is_shown_as_zero(command: Command, tmp_path: Path) -> None:
    """No request met its target: 0 requests per second, alone and against another; nothing is absent."""
    paths = [str(tmp_path / name) for name in ("a.json", "b.json")]
    for side, path in enumerate(paths):
        runs = [make_run([make_request()], seed=seed, order=2 * seed + side) for seed in range(3)]
        save(make_capture(runs), Path(path))
    alone = command("report", paths[0], "--goodput", "ttft:50", "--gate", "goodput", "--markdown", "-").out
    both = command("compare", *paths, "--goodput", "ttft:50", "--gate", "goodput", "--markdown", "-").out
    assert "| Goodput | 0 requests/s |" in alone
    assert "| Goodput | 0 requests/s | 0 requests/s | – |" in both
    assert "it is 0, which leaves no factor" in both
