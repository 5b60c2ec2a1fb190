"""Flags override a scenario through the checks a file passes, and messages name the flag."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.errors import ScenarioError
from radixbench.scenario.flags import KEY_OF_FLAG, FlagValue
from radixbench.scenario.load import override, parse_int_list
from radixbench.scenario.model import Scenario

BASE = Scenario(name="base")


def test_given_flags_win_and_others_change_nothing() -> None:
    """``None`` means that a flag wasn't given; the scenario itself stays as it was."""
    changed = override(BASE, shared="0, 512", seeds=5, model="smollm2-135m", threads=None, page_size=4)
    assert changed.workload.shared == (0, 512)
    assert (changed.seeds, changed.model.name, changed.engine.threads) == (5, "smollm2-135m", None)
    assert changed.engine.page_size == 4
    assert override(BASE, **dict.fromkeys(KEY_OF_FLAG)) == BASE
    assert Scenario(name="base") == BASE


def test_lists_may_be_numbers_too() -> None:
    """A caller that has numbers needs no text."""
    assert override(BASE, shared=(0, 8), workload="multi-turn", turns=[1, 2]).workload.turns == (1, 2)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"shared": "0,many"}, "--shared: 'many' is not a whole number; write whole numbers with commas"),
        ({"shared": "-1"}, "--shared: -1 is negative"),
        ({"shared": "0,1.5"}, "--shared: '1.5' is not a whole number"),
        ({"shared": ""}, "--shared: the list is empty"),
        ({"shared": "0,,1"}, "--shared: a value is missing in '0,,1'"),
        ({"shared": "0,0"}, "--shared: 0 stands there twice"),
        ({"shared": "9" * 30}, "is far too large"),
        ({"shared": "٣"}, "is not a whole number"),
        ({"shared": [0, 99_999_999]}, "--shared: must be at most 10,000,000, not 99,999,999"),
        ({"seeds": 0}, "--seeds: must be at least 1, not 0"),
        ({"prompts_per_group": -3}, "--prompts-per-group: must be at least 1, not -3"),
        ({"max_concurrency": 0}, "--max-concurrency: must be at least 1, not 0"),
        ({"device": "gpu"}, "--device: must be 'auto', 'cpu' or 'cuda'"),
        ({"workload": "multi_turn"}, "--workload: must be 'shared-prefix' or 'multi-turn'"),
        ({"turns": "4"}, "--turns: the shared-prefix workload has no turns"),
        ({"page_size": 16, "chunked_prefill_size": 100}, "--chunked-prefill-size: 100 is no multiple"),
        ({"model": " "}, "--model: is empty"),
        ({"seeds": True}, "--seeds: a whole number is expected"),
    ],
)
def test_bad_flags(flags: dict[str, FlagValue], message: str) -> None:
    """A bad value is refused in one line that begins with the flag."""
    with pytest.raises(ScenarioError) as caught:
        override(BASE, **flags)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.lists(st.integers(0, 10**9), min_size=1, unique=True))
def test_number_lists_read_back(values: list[int]) -> None:
    """Numbers joined by commas are those numbers, in their order."""
    assert parse_int_list(",".join(map(str, values)), flag="--shared") == tuple(values)


@given(st.text(max_size=12))
def test_any_text_is_numbers_or_one_line(text: str) -> None:
    """Whatever is typed, the answer is a list of numbers or one error."""
    try:
        values = parse_int_list(text, flag="--shared")
    except ScenarioError as error:
        said = str(error)
    else:
        said = "--shared: " if len(values) == text.count(",") + 1 and min(values) >= 0 else "wrong"
    assert said.startswith("--shared: ")
