"""Captures come back from the disk as they were, whole, and anything else is refused with its place."""

from __future__ import annotations

import gzip
import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from radixbench.capture import store
from radixbench.capture.encode import encode
from radixbench.capture.model import Capture
from radixbench.capture.store import load, save
from radixbench.errors import CaptureError, OutputError
from tests.builders import make_capture, make_request, make_run
from tests.capture.generated import captures

SCHEMA_FILE = Path(store.__file__).with_name("schema.json")


def small(**overrides: Any) -> Capture:
    return make_capture([make_run([make_request(0), make_request(1)], order=0)], **overrides)


def document(**changes: Any) -> Any:
    """A small capture's JSON as plain data, ready to be spoiled."""
    pieces = b"".join(encode(small(**changes)))
    return json.loads(pieces)


def refusal(folder: Path, content: Any) -> str:
    """What ``load`` says of a file with this content, the folder left out."""
    path = folder / "c.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(CaptureError) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2
    return str(caught.value).replace(f"{folder}/", "")


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=25, deadline=None)
@given(capture=captures(), suffix=st.sampled_from([".json", ".json.gz", ".json.zst"]))
def test_round_trip_is_exact(tmp_path_factory: pytest.TempPathFactory, capture: Capture, suffix: str) -> None:
    """Whatever a capture holds, the file gives back, compressed or not."""
    path = tmp_path_factory.mktemp("capture") / f"c{suffix}"
    save(capture, path)
    assert load(path) == capture


def test_suffix_decides_the_compression(tmp_path: Path) -> None:
    """The three names hold the same text; equal captures are equal files."""
    capture = small()
    plain, packed, squeezed = (tmp_path / f"c{suffix}" for suffix in (".json", ".json.gz", ".json.zst"))
    for path in (plain, packed, squeezed):
        save(capture, path)
    text = plain.read_bytes()
    assert gzip.decompress(packed.read_bytes()) == text
    assert zstandard.ZstdDecompressor().decompressobj().decompress(squeezed.read_bytes()) == text
    before = packed.read_bytes()
    save(capture, packed)
    assert packed.read_bytes() == before


def test_a_file_is_read_by_what_it_is(tmp_path: Path) -> None:
    """A compressed capture that lost its suffix on the way still loads."""
    save(small(), tmp_path / "c.json.gz")
    (tmp_path / "c.json.gz").rename(tmp_path / "c.json")
    assert load(tmp_path / "c.json") == small()


def test_one_record_a_line(tmp_path: Path) -> None:
    """Each request stands on a line of its own, without the keys that are absent."""
    path = tmp_path / "c.json"
    save(small(), path)
    lines = [line.rstrip(",") for line in path.read_text().splitlines() if line.startswith('{"rid"')]
    assert [json.loads(line)["rid"] for line in lines] == ["r0", "r1"]
    assert "text" not in json.loads(lines[0])
    assert json.loads(lines[0])["cached_tokens"] == 0


def test_foreign_text_never_costs_a_run(tmp_path: Path) -> None:
    """Half characters become question marks, and integers beyond 64 bits stay exact."""
    request = make_request(0, text="half \ud83d")
    capture = make_capture([make_run([request], args={"seed": 2**80})])
    save(capture, tmp_path / "c.json")
    run = load(tmp_path / "c.json").runs[0]
    assert run.requests[0].text == "half ?"
    assert run.server.args["seed"] == 2**80


def test_schema_file_equals_code() -> None:
    """schema.json is what the code reads; print store.json_schema() with indent 1 to renew it."""
    assert SCHEMA_FILE.read_text() == json.dumps(store.json_schema(), indent=1) + "\n"


def test_save_replaces_its_own_file(tmp_path: Path) -> None:
    """A capture grows run by run under one name, and nothing else is left in the folder."""
    path = tmp_path / "deep" / "c.json"
    save(make_capture([], planned_runs=1), path)
    save(small(), path)
    assert load(path) == small()
    assert [item.name for item in path.parent.iterdir()] == ["c.json"]


def test_failed_save_leaves_the_former_file(tmp_path: Path) -> None:
    """A disk that fills while writing is one clear line, and the runs saved before are still there."""
    path = tmp_path / "c.json"
    save(small(), path)
    grown = make_capture([make_run([make_request(i) for i in range(2000)])])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(OutputError, match=r"c\.json: can't be written: File too large; name a folder"):
            save(grown, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert load(path) == small()
    assert [item.name for item in tmp_path.iterdir()] == ["c.json"]


def test_our_own_fault_leaves_the_former_file_too(tmp_path: Path) -> None:
    """A value that no capture may hold stops the save, not the file."""
    path = tmp_path / "c.json"
    save(small(), path)
    with pytest.raises(AssertionError, match="finite"):
        save(make_capture([make_run([make_request(0)], args={"x": float("nan")})]), path)
    assert load(path) == small()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d.update(extra=1), "c.json: extra: unknown key; captures are evidence"),
        (lambda d: d["runs"][0]["requests"][1].update(ttft=1), "runs[0].requests[1].ttft: unknown key"),
        (lambda d: d["scenario"]["workload"].update(grups=1), "scenario.workload.grups: unknown key"),
        (lambda d: d["runs"][0]["requests"][1].update(cached_tokens="12"),
         'runs[0].requests[1].cached_tokens: must be a valid integer, not "12"'),
        (lambda d: d["runs"][0]["requests"][0].update(cached_tokens=True),
         "runs[0].requests[0].cached_tokens: must be a valid integer, not true"),
        (lambda d: d["runs"][0]["requests"][0].update(send_ns=1.0), "requests[0].send_ns: must be a valid integer"),
        (lambda d: d["runs"][0]["requests"][0]["chunk_ns"].__setitem__(2, None), "requests[0].chunk_ns[2]: must be"),
        (lambda d: d["runs"][0]["requests"][0].pop("rid"), "runs[0].requests[0].rid: this key is missing"),
        (lambda d: d["runs"][0].update(mode="maybe"), "runs[0].mode: must be 'on' or 'off', not \"maybe\""),
        (lambda d: d["runs"][0].update(cell={"shared_tokens": None}), "runs[0].cell.shared_tokens: must be"),
        (lambda d: d["runs"][0].update(requests={}), "runs[0].requests: must be a list, not {}"),
        (lambda d: d.update(runs=[3]), "runs[0]: must be an object, not 3"),
        (lambda d: d.update(environment=None), "environment: must be an object, not null"),
        (lambda d: d["runs"][0]["requests"][0].update(prompt=7), "runs[0].requests[0].prompt: 7 is no prompt of 2"),
        (lambda d: d["runs"][0]["requests"][0].update(chunk_tokens=[1]),
         "runs[0].requests[0].chunk_tokens: 1 entries for 4 arrival times"),
        (lambda d: d["runs"][0]["prompts"]["nodes"][0].update(parent=0),
         "runs[0].prompts.nodes[0].parent: 0 is no earlier node"),
        (lambda d: d["runs"][0]["prompts"]["nodes"][0].update(len=0), "nodes[0].len: must be at least 1, not 0"),
        (lambda d: d["runs"][0]["prompts"]["prompts"].__setitem__(0, 99), "prompts.prompts[0]: 99 is no node of"),
        (lambda d: d["runs"][0]["prompts"]["sequences"].append(None), "prompts.sequences: 3 entries for 2 prompts"),
    ],
)  # fmt: skip
def test_spoiled_captures(tmp_path: Path, spoil: Callable[[Any], Any], message: str) -> None:
    """An unknown key, a wrong type or a contradiction is refused with its JSON path and what stands there."""
    spoiled = document()
    spoil(spoiled)
    assert message in refusal(tmp_path, spoiled)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_not_a_number_is_no_evidence(tmp_path: Path, number: str) -> None:
    """NaN and infinities are refused at their place, as a reading or anywhere else."""
    spoiled = document()
    spoiled["runs"][0]["requests"][1]["cached_tokens"] = "HERE"
    text = json.dumps(spoiled).replace('"HERE"', number).encode()
    assert refusal(tmp_path, text).startswith("c.json: runs[0].requests[1].cached_tokens: must be a")


def test_many_findings_are_one_line(tmp_path: Path) -> None:
    """The first finding is shown and the others are counted."""
    spoiled = document()
    for request in spoiled["runs"][0]["requests"]:
        request["ttft"] = 1
    assert "runs[0].requests[0].ttft: unknown key (and 1 more)" in refusal(tmp_path, spoiled)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "c.json: the file is empty"),
        (b"\n \n", "c.json: the file is empty"),
        (b"not json", "c.json: is not JSON: expected"),
        (b"\xff\xfe", "c.json: is not JSON: expected value"),
        (b"[" * 5000, "c.json: is not JSON: recursion limit exceeded"),
        (b'{"schema":"radixbench.capture/1"}\n{"a":1}', "c.json: is not JSON: trailing characters at line 2"),
        (b"[1, 2]", "c.json: is not a radixbench capture but a list"),
        (b"17", "c.json: is not a radixbench capture but a single value"),
        ({"date": "20261016", "backend": "vllm", "mean_ttft_ms": 41.2},
         "is not a radixbench capture: it has no schema (its keys: date, backend, mean_ttft_ms); give a capture that"),
        ({"schema": "radixbench.compare/1"}, "its schema is 'radixbench.compare/1'"),
        ({"schema": 1}, "its schema is '1'"),
        ({"schema": "radixbench.capture/2"},
         "schema radixbench.capture/2 is newer than radixbench 0.1.0 reads (up to 1); update radixbench"),
        (b"\x1f\x8b\x08\x00cut", "c.json: is damaged or cut off: "),
        (b"\x28\xb5\x2f\xfdcut", "c.json: is damaged or cut off: "),
    ],
)  # fmt: skip
def test_foreign_files(tmp_path: Path, content: Any, message: str) -> None:
    """Somebody else's JSON, another document of ours, a newer schema and plain rubbish are each told apart."""
    assert message in refusal(tmp_path, content)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".json.zst"])
def test_cut_off_files(tmp_path: Path, suffix: str, share: float) -> None:
    """A file that ends in the middle is said to be cut off, compressed or not."""
    path = tmp_path / f"whole{suffix}"
    save(small(), path)
    data = path.read_bytes()
    message = refusal(tmp_path, data[: int(len(data) * share)])
    assert "cut off" in message
    assert "copy or fetch it again" in message


SOUND = b"".join(encode(small()))


@given(at=st.integers(0, len(SOUND)), drop=st.integers(0, 40), put=st.binary(max_size=4))
def test_any_damage_is_a_capture_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, at: int, drop: int, put: bytes
) -> None:
    """However a file is damaged, it is read or refused in one line; nothing else is ever raised."""
    path = tmp_path_factory.mktemp("damage") / "c.json"
    path.write_bytes(SOUND[:at] + put + SOUND[at + drop :])
    try:
        found: Capture | str = load(path)
    except CaptureError as error:
        found = str(error)
    assert isinstance(found, Capture) or "\n" not in found


def test_unreadable_paths(tmp_path: Path) -> None:
    """A folder and a missing file are one line each."""
    with pytest.raises(CaptureError, match="can't be read: Is a directory; name a capture file"):
        load(tmp_path)
    with pytest.raises(CaptureError, match=r"none\.json: can't be read: No such file"):
        load(tmp_path / "none.json")


def test_pretty_printed_captures_load(tmp_path: Path) -> None:
    """The layout is a courtesy: a file that went through ``jq`` is the same capture."""
    path = tmp_path / "c.json"
    path.write_text(json.dumps(document(), indent=2, sort_keys=True))
    assert load(path) == small()
