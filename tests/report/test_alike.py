"""Sentences that differ in numbers only."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from radixbench.report.alike import drawn_together, wording


def test_numbers_that_differ_become_a_range():
    """Each number by itself; equal ones stay, and thousands are compared as numbers."""
    said = [
        "21 prefill lines of 1,024 tokens",
        "9 prefill lines of 1,024 tokens",
        "35 prefill lines of 1,024 tokens",
    ]
    assert drawn_together(said) == ("9–35 prefill lines of 1,024 tokens",)


def test_a_comma_after_a_number_belongs_to_the_sentence():
    """``2,048, all of them`` is one number."""
    assert drawn_together(["of 2,048, all", "of 512, all"]) == ("of 512–2,048, all",)


def test_other_words_stay_another_sentence():
    """What says something else is not swallowed."""
    said = ["8 requests", "no requests", "9 requests"]
    assert drawn_together(said) == ("8–9 requests", "no requests")


@given(st.lists(st.text(max_size=30), max_size=6))
def test_each_wording_is_told_once(said):
    """Whatever the sentences."""
    assert len(drawn_together(said)) == len({wording(one) for one in said})
