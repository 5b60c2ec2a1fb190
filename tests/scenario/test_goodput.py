"""Targets as people type them and as a file holds them, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from radixbench.errors import ScenarioError
from radixbench.scenario.goodput import parse_goodput
from radixbench.scenario.load import dump, load, override
from radixbench.scenario.model import GoodputSpec, Scenario


@pytest.mark.parametrize("text", ["ttft:500 tpot:50", "ttft:500,tpot:50", " tpot:50.0,  ttft:5e2 "])
def test_targets_as_typed(text: str) -> None:
    """Blanks or commas between them, in any order."""
    assert parse_goodput(text) == GoodputSpec(ttft=500, tpot=50)
    assert str(parse_goodput(text)) == "ttft:500 tpot:50"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "--goodput: NAME:MILLISECONDS is expected, not nothing; write --goodput ttft:500 tpot:50"),
        ("500", "--goodput: NAME:MILLISECONDS is expected, not '500'"),
        ("ttft:", "--goodput: NAME:MILLISECONDS is expected, not 'ttft:'"),
        ("ttft:500,", "--goodput: NAME:MILLISECONDS is expected, not nothing"),
        ("tfft:500", "--goodput: there is no target 'tfft'; did you mean ttft?"),
        ("latency:5", "--goodput: there is no target 'latency'; choose from ttft, tpot, e2el, itl"),
        ("ttft:fast", "--goodput: ttft: 'fast' is not a number"),
        ("ttft:nan", "--goodput: ttft: 'nan' is not a number"),
        ("ttft:0", "--goodput: ttft: must be more than 0, not 0.0; give it in milliseconds"),
        ("ttft:-5", "--goodput: ttft: must be more than 0, not -5.0"),
        ("ttft:1e9", "--goodput: ttft: must be at most 86,400,000"),
        ("ttft:1 ttft:2", "--goodput: ttft stands there twice"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    """One line that begins with the flag and says what to write."""
    with pytest.raises(ScenarioError) as caught:
        parse_goodput(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(ScenarioError, match="--goodput"):
        override(Scenario(name="base"), goodput=text)


def test_a_flag_replaces_all_targets_of_a_file(tmp_path: Path) -> None:
    """A target the flag doesn't name is gone; without the flag the file's stay."""
    path = tmp_path / "slo.yaml"
    path.write_text("name: slo\ngoodput: {ttft: 500, tpot: 50.5}\n")
    scenario = load(path)
    assert scenario.goodput == GoodputSpec(ttft=500, tpot=50.5)
    assert override(scenario, goodput="e2el:900").goodput == GoodputSpec(e2el=900)
    assert override(scenario, goodput=None).goodput == scenario.goodput
    assert dump(scenario)["goodput"] == {"ttft": 500, "tpot": 50.5, "e2el": None, "itl": None}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("goodput: {tfft: 500}", "slo.yaml:2: goodput.tfft: unknown key; did you mean ttft?"),
        ("goodput: {ttft: 0}", "slo.yaml:2: goodput.ttft: must be more than 0, not 0"),
        ("goodput: {ttft: fast}", "slo.yaml:2: goodput.ttft: a number is expected, not the text 'fast'"),
        ("goodput: ttft:500", "slo.yaml:2: goodput: a mapping of keys is expected"),
    ],
)
def test_what_a_file_may_not_say(tmp_path: Path, line: str, message: str) -> None:
    """Refused with file, line and key, as every other section."""
    path = tmp_path / "slo.yaml"
    path.write_text(f"name: slo\n{line}\n")
    with pytest.raises(ScenarioError) as caught:
        load(path)
    assert message in str(caught.value)
