"""Tables are read a piece at a time exactly as the whole document would be, or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from radixbench.capture import store, tables
from radixbench.capture.encode import encode
from radixbench.capture.model import Capture
from radixbench.capture.store import load, save
from tests.builders import make_capture, make_request, make_run, prompt_ids
from tests.capture.generated import captures


def small() -> Capture:
    return make_capture([make_run([make_request(0), make_request(1)], order=0)])


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=25, deadline=None)
@given(capture=captures())
def test_what_we_write_is_read_by_tables(tmp_path_factory: pytest.TempPathFactory, capture: Capture) -> None:
    """Every capture in our layout takes the short way, and both ways give the same capture."""
    path = tmp_path_factory.mktemp("capture") / "c.json"
    save(capture, path)
    assert store._by_tables(path) == store._in_one_piece(path) == capture


def test_other_layouts_are_read_in_one_piece(tmp_path: Path) -> None:
    """The same JSON on one line, or indented, is the same capture."""
    document = json.loads(b"".join(encode(small())))
    for indent in (None, 1):
        path = tmp_path / f"{indent}.json"
        path.write_text(json.dumps(document, indent=indent))
        assert load(path) == small()


@pytest.mark.parametrize("block", [1, 300, 5000])
def test_block_size_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """Tables that span many blocks come back whole and in order."""
    prompts = [prompt_ids(0, i, shared=8, question=4) for i in range(40)]
    capture = make_capture(
        [make_run([make_request(i) for i in range(40)], prompts=prompts, seed=s) for s in (0, 1)]
    )
    save(capture, tmp_path / "c.json")
    monkeypatch.setattr(tables, "_BLOCK", block)
    assert store._by_tables(tmp_path / "c.json") == capture


SPOILS: list[Any] = [
    (b'"requests": [\n{', b'"requests": [\n{},\n{'),
    (b'},\n{"rid":"r1"', b'}\n{"rid":"r1"'),
    (b'"cached_tokens":0', b'"cached_tokens":false'),
    (b'"cached_tokens":0', b'"cached_tokens":0.0'),
    (b'"output_ids":[0,1', b'"output_ids":[0,true'),
    (b'"chunk_tokens":[1,1', b'"chunk_tokens":[1,1.0'),
    (b'\n]\n}\n]\n}', b',\n]\n}\n]\n}'),
    (b'"requests": [\n', b'"requests": [\n],\n"requests": [\n'),
    (b'"requests": [\n', b'"steps": [],\n"requests": [\n'),
    (b'"planned_runs"', b'"requests": [\n],\n"planned_runs"'),
    (b'"runs": [', b'"rungs": ['),
    (b'"nodes": [', b'"knots": ['),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), SPOILS)
def test_the_short_way_never_takes_more_than_the_long_one(tmp_path: Path, old: bytes, new: bytes) -> None:
    """Whatever is wrong, or merely different, inside or around a table is left to the whole document's decoder."""
    text = b"".join(encode(small()))
    assert old in text
    (tmp_path / "c.json").write_bytes(text.replace(old, new, 1))
    assert store._by_tables(tmp_path / "c.json") is None


def test_equal_ids_and_chunk_sizes_are_held_once(tmp_path: Path) -> None:
    """Ids repeat over thousands of answers; loaded, equal ones are one object."""
    ids = (70_000, 80_000)
    requests = [make_request(i, output=2, output_ids=ids) for i in range(2)]
    save(make_capture([make_run(requests)]), tmp_path / "c.json")
    first, second = load(tmp_path / "c.json").runs[0].requests
    assert first.output_ids == second.output_ids == ids
    assert first.output_ids is not None
    assert second.output_ids is not None
    assert first.output_ids[0] is second.output_ids[0]
    assert first.chunk_tokens is second.chunk_tokens
