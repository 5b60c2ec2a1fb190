"""Prompt heads that carry the time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.corpus.clock_text import HeadWatch

HEAD = "You are a helpful assistant. "


def findings(*prompts: str) -> tuple[str, ...]:
    watch = HeadWatch()
    for prompt in prompts:
        watch.see(prompt)
    return watch.findings()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026-10-16", "2026-10-17"),
        ("2026-10-16T09:00:01Z", "2026-10-16T09:00:02Z"),
        ("2026-10-16 09:00:01.123 +02:00", "2026-10-16 09:00:02.124 +02:00"),
        ("10/16/2026", "10/17/2026"),
        ("16.10.2026", "17.10.2026"),
        ("October 16, 2026", "November 1, 2026"),
        ("Oct 16th", "Oct 17th"),
        ("16 October 2026", "2 May 2026"),
        ("October 2026", "November 2026"),
        ("Friday", "Saturday"),
        ("9:00 AM", "10:30 PM"),
        ("14:01:59", "14:02:00"),
        ("1790000000", "1790000001"),
        ("2026年10月16日", "2026年1月6日"),
    ],
)
def test_times_are_found_where_they_begin(one: str, other: str) -> None:
    """Whatever the form, the line names the character up to which heads are shared."""
    (line,) = findings(f"{HEAD}It is {one}. Be brief.", f"{HEAD}It is {other}. Be brief.")
    assert line.startswith(f"prompt head changes over time at char {len(HEAD) + 6} (2 conversations): ")


def test_the_first_time_that_differs_counts() -> None:
    """A date that stays is shared; the clock behind it isn't."""
    (line,) = findings("On 2026-10-16 at 09:00 we", "On 2026-10-16 at 09:01 we")
    assert "at char 17 (2 conversations): '09:00 we'" in line


def test_an_unfilled_template_is_found_by_itself() -> None:
    """One prompt is enough where its place for the time is still open."""
    for place in ("{now}", "{{ current_date }}", "{datetime:%Y}", "{{ strftime_now('%d %b %Y') }}"):
        (line,) = findings(f"{HEAD}{place} go")
        assert f"at char {len(HEAD)} (1 conversation)" in line


def test_heads_that_stay_and_heads_that_differ_otherwise_pass() -> None:
    """A date in all prompts alike breaks nothing, and other prompts are other prompts."""
    assert findings(*["Knowledge cutoff: 2023-10-01."] * 3) == ()
    assert findings("You are Ann. John 3:16.", "You are Bob. John 3:16.") == ()
    assert findings("{name} is your name", "{name} is your name") == ()


@given(st.lists(st.text(alphabet="a1:-/ \0{}now2026Mayo.", max_size=24), max_size=6))
def test_any_head_can_be_watched(prompts: list[str]) -> None:
    """A position is always one within a prompt."""
    for line in findings(*prompts):
        assert 0 <= int(line.split("char ")[1].split()[0]) <= 24
