"""``radixbench report`` and the names of its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from radixbench.capture.store import save
from tests.builders import make_sweep
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
