"""The few lines for a terminal and a pull request."""

from __future__ import annotations

from radixbench.report.console.printing import plain_lines
from radixbench.report.markdown import render
from tests.report.views import view


def told(name):
    """The lines of a scene."""
    return [one.text for one in view(name).brief]


def test_the_cache_of_each_arm_comes_first():
    """Always: on, off or unknown, and how an off arm came about."""
    assert told("laptop")[:2] == [
        "A (cache on), prefix cache: on; state cold → verified in 9 of 9 runs",
        "B (cache off), prefix cache: off; state off → verified in 9 of 9 runs",
    ]
    assert "prefix cache: off, by a salt of its own on every request" in told("measured")[1]


def test_efficiency_witnesses_client_and_losses_follow():
    """One line each."""
    lines = told("measured")
    assert any(
        line.startswith("A (cache on), hit efficiency: ") and "not reused, in tokens: " in line
        for line in lines
    )
    assert "All who counted cached tokens agree." in lines
    assert any(line.startswith("against a mock it saw first tokens ") for line in lines)
    assert any("1 of 13 planned runs is missing, 1 of them failed" in line for line in lines)


def test_turns_say_which_level_was_met():
    """In the terminal too."""
    assert any("the level met was prompt and answer" in line for line in told("multi_turn"))


def test_terminal_and_markdown_carry_them():
    """Every line, in both."""
    plain, markdown = list(plain_lines(view("measured"))), render(view("measured"))
    for one in view("measured").brief:
        assert any(line.endswith(one.text) for line in plain)
    assert markdown.count("\n- ") >= len(view("measured").brief)
