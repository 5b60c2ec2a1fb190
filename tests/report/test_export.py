"""Exported files: what their rows say, that nothing in them becomes a formula, and that they are written whole."""

from __future__ import annotations

import csv
import json
import statistics
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.compare.comparison import compare
from radixbench.errors import OutputError
from radixbench.metrics.registry import METRICS
from radixbench.report.export import write_csv, write_flat
from radixbench.report.sheet import harmless, written
from radixbench.scenario.model import GoodputSpec, Scenario
from tests.builders import failed_request, make_capture, make_request, make_run, make_sweep

ON, OFF = make_sweep(shared=(0, 64))
PAIR = (("on.json", ON), ("off.json", OFF))


def table(path: Path) -> list[dict[str, str]]:
    """A CSV file as any other program reads it."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_one_row_a_run(tmp_path: Path) -> None:
    """Every registered metric under its name and unit, and the flat keys; empty where there is none."""
    runs, requests = write_csv(PAIR, tmp_path / "new" / "csv")
    rows = table(runs)
    assert len(rows) == len(ON.runs) + len(OFF.runs)
    assert {row["capture"] for row in rows} == {"on.json", "off.json"}
    first = rows[0]
    assert {"ttft_p50_s", "output_throughput_tokens_per_s", "hit_rate_ratio", "cached_tokens"} <= set(first)
    assert len([name for name in METRICS if any(key.startswith(name) for key in first)]) == len(METRICS)
    assert float(first["ttft_p50_s"]) == pytest.approx(float(first["median_ttft_ms"]) / 1000)
    assert (first["shared_tokens"], first["seed"], first["goodput_requests_per_s"]) == ("0", "0", "")
    assert len(table(requests)) == sum(len(run.requests) for side in (ON, OFF) for run in side.runs)


def test_one_row_a_request(tmp_path: Path) -> None:
    """Stamps from the run's start, latencies in seconds; a failed one has no latency, and its error."""
    run = make_run([make_request(0, send_s=2.0, ttft_s=0.5, cached=8), failed_request(1)], start_ns=10**9)
    capture = make_capture([run], scenario=Scenario(name="slo", goodput=GoodputSpec(ttft=400)))
    _, path = write_csv([("a", capture)], tmp_path)
    good, failed = table(path)
    assert float(good["send_s"]) == pytest.approx(1.0)
    assert float(good["first_token_s"]) == pytest.approx(1.5)
    assert (float(good["ttft_s"]), float(good["tpot_s"])) == (pytest.approx(0.5), pytest.approx(0.01))
    assert (good["prompt_tokens"], good["cached_tokens"], good["output_tokens"]) == ("32", "8", "4")
    assert (good["met_goodput"], failed["met_goodput"]) == ("false", "false")
    assert (failed["ttft_s"], failed["cached_tokens"], failed["error"]) == ("", "", "connection lost")


def test_one_row_a_figure_of_a_comparison(tmp_path: Path) -> None:
    """Factor, interval and verdict, as the JSON document has them."""
    comparison = compare(ON, OFF)
    *_, path = write_csv(PAIR, tmp_path, comparisons=[comparison])
    rows = table(path)
    assert len(rows) == len(comparison.changes)
    for row, change in zip(rows, comparison.changes, strict=True):
        assert (row["metric"], row["verdict"]) == (change.metric, change.verdict or "")
        assert row["factor"] == ("" if change.factor is None else str(change.factor.value))


def test_axes_of_all_captures_are_columns(tmp_path: Path) -> None:
    """A capture without an axis has an empty place under it; a run that isn't there has no row."""
    plain = make_capture([make_run([make_request(0)], cell={})])
    level = make_capture([make_run([make_request(0)], cell={"max_concurrency": 8})])
    runs, _ = write_csv([("a", plain), ("b", level), ("c", make_capture([], planned_runs=1))], tmp_path)
    assert [row["max_concurrency"] for row in table(runs)] == ["", "8"]
    empty, _ = write_csv([("c", make_capture([], planned_runs=1))], tmp_path / "empty")
    assert table(empty) == []


def test_flat_json_has_runs_and_cells(tmp_path: Path) -> None:
    """A document of one object a run and one a cell, without a list for every request."""
    path = tmp_path / "flat.json"
    write_flat(PAIR, path)
    document = json.loads(path.read_text())
    assert document["schema"] == "radixbench.flat/1"
    assert len(document["runs"]) == len(ON.runs) + len(OFF.runs)
    assert [(cell["capture"], cell["shared_tokens"]) for cell in document["cells"]] == [
        ("on.json", 0),
        ("on.json", 64),
        ("off.json", 0),
        ("off.json", 64),
    ]
    assert document["cells"][0]["n_runs"] == 3
    assert document["runs"][0]["request_goodput"] is None
    assert "ttfts" not in document["runs"][0]


def plotted(path: Path) -> tuple[str, list[float], list[float]]:
    """What a script for the files of ``vllm bench serve --save-result --save-detailed`` reads to draw its points and bars."""
    with path.open() as file:
        result = json.load(file)
    assert result["completed"] == result["num_prompts"]
    rate = float(result["request_rate"])
    label = (
        f"{result['backend']} {result['model_id']} {rate} {result['max_concurrency']} {result['date'][:8]}"
    )
    bars = [
        result[f"{figure}_{name}_ms"]
        for name in ("ttft", "tpot", "itl", "e2el")
        for figure in ("mean", "median", "std", "p99")
    ]
    points = [
        result[name]
        for name in ("duration", "request_throughput", "output_throughput", "total_token_throughput")
    ]
    assert result["total_input_tokens"] == sum(result["input_lens"])
    assert result["total_output_tokens"] == sum(result["output_lens"])
    assert statistics.median(result["ttfts"]) * 1000 == pytest.approx(result["median_ttft_ms"])
    gaps = [gap for gaps in result["itls"] for gap in gaps]
    assert statistics.fmean(gaps) * 1000 == pytest.approx(result["mean_itl_ms"])
    assert points[1] == pytest.approx(result["completed"] / points[0])
    return label, bars, points


def test_a_script_for_vllms_files_reads_a_file_of_ours(tmp_path: Path) -> None:
    """A directory gets a file a run, with the keys, units and lists of theirs: no line of the script has to change."""
    written_ = write_flat(PAIR, tmp_path / "flat")
    assert len(written_) == len(set(written_)) == len(ON.runs) + len(OFF.runs)
    assert [path.name for path in written_[:1]] == ["001-on-seed0-shared_tokens0.json"]
    for path in written_:
        label, bars, points = plotted(path)
        assert "inf" in label
        assert all(value >= 0.0 for value in (*bars, *points))


def test_files_of_runs_stay_in_their_directory(tmp_path: Path) -> None:
    """Two captures of one name, and axes that read like paths: a file for each, none elsewhere."""
    run = make_run([make_request(0)], cell={"model": "../../etc/passwd" + "x" * 500})
    capture = make_capture([run])
    paths = write_flat([("on.json", capture), ("on.json", capture)], tmp_path / "flat")
    assert len(set(paths)) == 2
    assert sorted((tmp_path / "flat").iterdir()) == sorted(paths)


def test_flat_lines_are_runs(tmp_path: Path) -> None:
    """``.jsonl`` has one object a line, one line a run, and nothing else."""
    path = tmp_path / "flat.jsonl"
    write_flat(PAIR, path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["seed"] for line in lines] == [run.seed for side in (ON, OFF) for run in side.runs]
    write_flat([], path)
    assert path.read_text() == ""


HOSTILE = [
    "＝1+1",
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    " =1",
    "\t=1",
    "\r=1",
    "\n-2",
    '=HYPERLINK("http://x","y")',
]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_never_becomes_a_formula(text: str, tmp_path: Path) -> None:
    """A server's error, a file's name and an axis' value are text, whatever they begin with."""
    error = make_request(0, status="failed", error=text, finish_reason=text, output=0)
    run = make_run([error], cell={"schedule_policy": text, text: 1})
    _, path = write_csv([(text, make_capture([run]))], tmp_path)
    (row,) = table(path)
    for name in ("capture", "error", "finish_reason", "schedule_policy"):
        assert row[name] == f"'{text}"
    assert f"'{text}" in row


@given(st.text())
def test_a_cell_of_text_is_text(text: str) -> None:
    """Nothing that a spreadsheet would compute begins a cell, nothing in it moves a cursor; the rest stays as it is."""
    cell = harmless(text)
    assert isinstance(cell, str)
    assert not cell.lstrip().startswith(("=", "+", "-", "@"))
    kept = cell[1:] if len(cell) > len(text) else cell
    assert len(kept) == len(text)
    assert all(ours in (theirs, "\ufffd") for ours, theirs in zip(kept, text, strict=True))
    assert not set("\x1b\x07\x9b\u202e") & set(cell)


def test_numbers_stay_numbers(tmp_path: Path) -> None:
    """A negative number is no formula; half characters, quotes and line ends pass unharmed or as escapes."""
    path = written(tmp_path / "t.csv", ("n", "text"), [(-0.5, "\ud800"), (7, 'a "b",\nc'), (None, "ü")])
    assert [tuple(row.values()) for row in table(path)] == [
        ("-0.5", "\\ud800"),
        ("7", 'a "b",\nc'),
        ("", "ü"),
    ]


def test_half_characters_in_flat_keys(tmp_path: Path) -> None:
    """JSON holds them as escapes, so that the file is UTF-8."""
    path = tmp_path / "flat.json"
    write_flat([("\ud800=1", ON)], path)
    assert json.loads(path.read_bytes().decode())["runs"][0]["capture"] == "\ud800=1"


def test_what_cant_be_written(tmp_path: Path) -> None:
    """A file where a folder has to be: one line, and nothing left behind."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(OutputError, match="can't be written"):
        write_csv(PAIR, blocked)
    with pytest.raises(OutputError, match="can't be written"):
        write_flat(PAIR, blocked / "flat.json")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_factors_have_the_verdict_among_all_gated_rows(tmp_path: Path) -> None:
    """A row that is worse only by itself: both verdicts; rows that aren't gated have their own alone."""
    noise = (1.0, 1.03, 0.98)
    pair = make_sweep(on=lambda seed: 1.1 * noise[seed], off=1.0, shared=(0, 16, 32))
    *_, path = write_csv((), tmp_path, comparisons=[compare(*pair)], gate=("ttft_p50",))
    rows = table(path)
    gated = [row for row in rows if row["metric"] == "ttft_p50"]
    found = {one["metric"]: one for one in gated}
    assert [row["verdict"] for row in gated] == ["worse"] * 3
    assert {row["verdict_together"] for row in gated} == {"within-noise"}
    assert {row["verdict_together"] for row in rows if row["metric"] not in found} == {""}
