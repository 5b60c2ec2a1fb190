"""Printed times on one axis: every form, midnight, New Year, restarts, and a user's words for a moment."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.errors import UsageError
from radixbench.logs.timeline import Timeline

DAY_S = 86_400
WALL = datetime(2026, 8, 26, 11, 17, 1, tzinfo=UTC).timestamp()
ORDERED = st.lists(st.integers(0, DAY_S // 2 - 1), min_size=1, max_size=40)
"""Seconds between lines: never twelve hours."""


def placed(*texts: str) -> list[float]:
    """Where a log that prints these times has them."""
    timeline = Timeline()
    moments = [timeline.at(text) for text in texts]
    assert None not in moments
    return [at for at in moments if at is not None]


def fed(*texts: str) -> Timeline:
    timeline = Timeline()
    for text in texts:
        timeline.at(text)
    return timeline


@pytest.mark.parametrize(
    ("text", "after_s"),
    [
        ("2026-08-26 11:17:01", 0),
        ("2026-08-26 11:17:01.250", 0.25),
        ("2026-08-26 11:17:01,250", 0.25),
        ("2026-08-26 11:17:01.250125", 0.250125),
        ("2026-08-26 11:17:01.250125999", 0.250125),
        ("2026-08-26T11:17:01Z", 0),
        ("2026-08-26T11:17:01.250Z", 0.25),
        ("2026-08-26T11:17:01+08:00", 0),
        ("2026-08-26T11:17:01+0000", 0),
        ("2026-08-26 11:17:01 UTC", 0),
        ("2026-08-26|11:17:01", 0),
        (f"{WALL:.0f}", 0),
        (f"{WALL:.0f}.25", 0.25),
        (f"{WALL * 1000:.0f}", 0),
        (f"{WALL * 1_000_000 + 250_000:.0f}", 0.25),
    ],
)
def test_a_full_date_is_the_time_on_the_wall(text: str, after_s: float) -> None:
    """Seconds since 1970, zones passed over, whichever of the forms is printed."""
    assert placed(text) == [pytest.approx(WALL + after_s, abs=1e-6)]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "x",
            "nan",
            "inf",
            "-inf",
            "1e9",
            "00:00",
            "24:00:00",
            "11:60:00",
            "2026-02-29 11:17:01",
            "12-32 00:00:00",
        ),
        *(
            "00-10 00:00:00",
            "02-30 00:00:00",
            "2026-08-26",
            "2026-08-26x11:17:01",
            "1.2.3.4",
            "-1723514998",
            "٢٠٢٦-08-26 11:17:01",
        ),
        *(
            "2026-08-26 11:17:01 and more",
            "9" * 400,
            "2026-13-26 11:17:01",
            "\x00",
            "\ud800" * 20,
            "11:17:01 PM",
        ),
    ],
)
def test_what_is_no_time_has_no_place(text: str) -> None:
    """Nor does it move those after it."""
    timeline = fed("23:59:59")
    assert timeline.at(text) is None
    assert timeline.at("00:00:00") == DAY_S


def test_a_time_of_day_passes_midnight() -> None:
    """A fall of more than twelve hours is the next day, again and again."""
    assert placed("23:59:58", "00:00:01", "12:00:00", "23:59:59", "00:00:00") == [
        DAY_S - 2,
        DAY_S + 1,
        1.5 * DAY_S,
        2 * DAY_S - 1,
        2 * DAY_S,
    ]


def test_a_small_step_back_stays() -> None:
    """Processes write out of order; a clock that is set back is not hidden."""
    assert placed("10:00:05", "10:00:04", "09:00:00") == [36_005, 36_004, 32_400]


def test_a_late_line_of_the_evening_stays_in_the_evening() -> None:
    """Just after midnight, and only if the log has seen a midnight."""
    assert placed("23:59:59", "00:00:00", "23:59:59", "00:00:01") == [DAY_S - 1, DAY_S, DAY_S - 1, DAY_S + 1]
    assert placed("00:00:01", "23:59:59") == [1, DAY_S - 1]


@settings(deadline=None)
@given(start=st.integers(0, DAY_S - 1), steps=ORDERED, ms=st.booleans())
def test_times_of_day_in_order_never_go_back(start: int, steps: list[int], ms: bool) -> None:
    """Whatever midnights lie between, the distances are those of the clock."""
    moments = [start]
    for step in steps:
        moments.append(moments[-1] + step)
    texts = [f"{s // 3600 % 24:02}:{s // 60 % 60:02}:{s % 60:02}{'.500' if ms else ''}" for s in moments]
    assert placed(*texts) == [s + 0.5 * ms for s in moments]


@settings(deadline=None)
@given(
    start=st.datetimes(datetime(2019, 1, 1), datetime(2030, 1, 1)),  # noqa: DTZ001 - a wall's time has no zone
    steps=st.lists(st.integers(0, 60 * DAY_S), min_size=1, max_size=5),
    dated=st.booleans(),
)
def test_times_without_a_year_in_order_never_go_back(start: datetime, steps: list[int], dated: bool) -> None:
    """New Year and leap days included, whether a date was seen before or not."""
    moments = [start.replace(microsecond=0)]
    for step in steps:
        moments.append(moments[-1] + timedelta(seconds=step))
    texts = [f"{at:%m-%d %H:%M:%S}" for at in moments]
    if dated:
        texts[0] = f"{moments[0]:%Y-%m-%d %H:%M:%S}"
    found = placed(*texts)
    assert found == sorted(found)
    error_s = found[-1] - found[0] - (moments[-1] - moments[0]).total_seconds()
    assert error_s in ((0,) if dated else (0, -DAY_S))  # a leap day may pass unseen


def test_a_leap_day_is_believed() -> None:
    """A log without years may hold a 29 February, also right after New Year."""
    february, leap, march = placed("02-28 23:59:59", "02-29 00:00:00", "03-01 00:00:00")
    assert (leap - february, march - leap) == (1, DAY_S)
    before, after = placed("12-31 00:00:00", "02-29 00:00:00")
    assert after - before == 60 * DAY_S
    timeline = fed("02-28 23:59:59", "02-29 10:00:00")
    assert timeline.label(timeline.at("02-29 10:00:00") or 0) == "02-29 10:00:00"
    assert placed("02-28 23:59:59", "03-01 00:00:00")[1] - placed("02-28 23:59:59")[0] == 1


def test_an_undated_time_is_of_the_last_date() -> None:
    """A line without a date between dated ones."""
    assert placed("2026-08-26 11:17:01", "11:17:03", "08-26 11:17:04", "2026-08-26 11:17:05") == [
        WALL + s for s in (0, 2, 3, 4)
    ]
    assert placed("2026-12-31 23:59:59", "01-01 00:00:00", "00:00:01")[2] == placed("2027-01-01 00:00:01")[0]


@pytest.mark.parametrize(
    ("before", "after_s"), [("11:17:00", 1), ("08-26 11:17:00", 1), ("3.44.875.509", 0), ("23:17:02", 43_199)]
)
def test_the_axis_goes_on_when_the_date_becomes_known(before: str, after_s: float) -> None:
    """What came before keeps its distance and, looking back, has its date."""
    timeline = Timeline()
    first = timeline.at(before)
    then = timeline.at("2026-08-26 11:17:01")
    assert first is not None
    assert then == pytest.approx(first + after_s)
    assert timeline.label(then or 0) == "2026-08-26 11:17:01"
    assert timeline.at("2026-08-26 11:17:02") == pytest.approx(first + after_s + 1)
    assert timeline.at("11:17:03") == pytest.approx(first + after_s + 2)


def test_an_uptime_counts_from_the_start() -> None:
    """Minutes, seconds, milliseconds, microseconds, as llama.cpp prints them."""
    assert placed("0.06.895.980", "3.44.875.509", "61.00.000.000") == pytest.approx(
        [6.89598, 224.875509, 3660]
    )


def test_an_uptime_that_begins_again_is_a_restart() -> None:
    """It goes on after the last moment seen; lines a little out of order are none."""
    assert placed("3.44.000.000", "3.43.999.000", "0.00.500.000", "0.01.500.000") == pytest.approx(
        [224, 223.999, 223.999, 224.999]
    )


def test_uptimes_of_two_servers_run_beside_each_other() -> None:
    """A router's children: each has a start of its own."""
    timeline = Timeline()
    moments = [timeline.at(text, source) for text, source in (("3.44.000.000", "a"), ("0.10.000.000", "b"))]
    moments += [timeline.at(text, source) for text, source in (("3.45.000.000", "a"), ("0.12.000.000", "b"))]
    assert moments == pytest.approx([224, 224, 225, 226])


@pytest.mark.parametrize(
    ("texts", "label"),
    [
        (["2026-08-26 11:17:01"], "2026-08-26 11:17:01"),
        (["2026-08-26T11:17:01.250+02:00"], "2026-08-26 11:17:01.250"),
        (["06:48:06"], "06:48:06"),
        (["23:48:06", "06:48:06"], "06:48:06 +1d"),
        (["12-07 20:24:14"], "12-07 20:24:14"),
        (["12-31 20:24:14", "01-01 00:00:00.5"], "01-01 00:00:00.500"),
        (["3.44.875.509"], "+00:03:44.876"),
        (["61.00.000.000"], "+01:01:00.000"),
        (["1787742999"], "2026-08-26 11:16:39"),
        ([], "0.000 s"),
    ],
)
def test_a_label_is_in_the_style_of_the_log(texts: list[str], label: str) -> None:
    """As the log prints a time, so that it can be found again."""
    timeline = Timeline()
    at_s = 0.0
    for text in texts:
        at_s = timeline.at(text) or 0.0
    assert timeline.label(at_s) == label


@pytest.mark.parametrize(
    ("log", "words", "label"),
    [
        ("2026-08-26 11:17:01", "2026-08-26 11:20", "2026-08-26 11:20:00"),
        ("2026-08-26 11:17:01", "2026-08-27", "2026-08-27 00:00:00"),
        ("2026-08-26 11:17:01", "2026-08-26T11:20:30Z", "2026-08-26 11:20:30"),
        ("2026-08-26 11:17:01", "11:20", "2026-08-26 11:20:00"),
        ("2026-08-26 11:17:01", "9:05", "2026-08-26 09:05:00"),
        ("2026-08-26 23:17:01", "00:30:15.5", "2026-08-27 00:30:15.500"),
        ("2026-12-31 23:17:01", "01-01", "2027-01-01 00:00:00"),
        ("2026-08-26 11:17:01", "+10m", "2026-08-26 11:27:01"),
        ("2026-08-26 11:17:01", "+1d2h3m4.5s", "2026-08-27 13:20:05.500"),
        ("2026-08-26 11:17:01", "+90", "2026-08-26 11:18:31"),
        ("2026-08-26 11:17:01", "+00:10:00", "2026-08-26 11:27:01"),
        ("2026-08-26 11:17:01", "1787743001", "2026-08-26 11:16:41"),
        ("11:17:01", "11:20", "11:20:00"),
        ("23:17:01", "01:00", "01:00:00 +1d"),
        ("23:17:01", "01:00:30 +2d", "01:00:30 +2d"),
        ("12-07 20:24:14", "12-08 06:00", "12-08 06:00:00"),
        ("12-07 20:24:14", "2023-12-08 06:00", "12-08 06:00:00"),
        ("12-07 20:24:14", "21:00", "12-07 21:00:00"),
        ("3.44.875.000", "+00:04:00", "+00:04:00.000"),
        ("3.44.875.000", "4.00.000.000", "+00:04:00.000"),
        ("3.44.875.000", "+10m", "+00:13:44.875"),
    ],
)
def test_a_user_names_a_moment(log: str, words: str, label: str) -> None:
    """In the log's own words, in part of them, or counted from its first line."""
    timeline = fed(log)
    assert timeline.label(timeline.moment(words)) == label


def test_the_end_lies_after_the_beginning() -> None:
    """A time of day for --until is never before the first line."""
    timeline = fed("2026-08-26 14:00:00")
    assert timeline.label(timeline.moment("11:17")) == "2026-08-26 11:17:00"
    assert timeline.label(timeline.moment("11:17", end=True)) == "2026-08-27 11:17:00"
    assert timeline.label(timeline.moment("15:00", end=True)) == "2026-08-26 15:00:00"


@pytest.mark.parametrize("log", ["2026-08-26 11:17:01", "12-07 20:24:14", "11:17:01", "3.44.875.000"])
def test_a_label_names_its_own_moment(log: str) -> None:
    """What the tables print can be given back as --since."""
    timeline = Timeline()
    at_s = timeline.at(log)
    assert at_s is not None
    assert timeline.moment(timeline.label(at_s)) == pytest.approx(at_s)


@pytest.mark.parametrize(
    ("log", "words", "message"),
    [
        ("11:17:01", "yesterday", "--since 'yesterday': is no moment of a log"),
        ("11:17:01", "", "--since '': is no moment of a log"),
        ("11:17:01", "+", "--since '+': is no moment of a log"),
        ("11:17:01", "+10x", "--since '+10x': is no moment of a log"),
        ("11:17:01", "25:00", "--since '25:00': is no moment of a log"),
        ("11:17:01", "-10m", "--since -10m: where a log ends is not known while it is read"),
        ("11:17:01", "2026-08-26 11:17", "the log prints times of day without a date"),
        ("11:17:01", "08-26", "the log prints times of day without a date"),
        ("3.44.875.000", "11:17", "the log prints only the time since the server's start"),
        ("2026-08-26 11:17:01", "3.44.875.000", "the log prints dates"),
        ("", "+10m", "no line of the log prints a time"),
    ],
)
def test_what_is_no_moment_is_refused(log: str, words: str, message: str) -> None:
    """In one line that says what can be given."""
    with pytest.raises(UsageError) as refusal:
        fed(log).moment(words)
    assert message in str(refusal.value)
    assert refusal.value.remedy


def test_a_full_date_needs_no_log() -> None:
    """It lies where it lies."""
    assert Timeline().moment("2026-08-26 11:17:01") == WALL


@settings(deadline=None)
@given(
    st.lists(
        st.text(max_size=30)
        | st.from_regex(
            r"(\d{4}-)?(\d\d-\d\d )?\d\d?:\d\d:\d\d([.,]\d{1,7})?|\d{1,7}\.\d\d\.\d{3}\.\d{3}|\d{9,19}",
            fullmatch=True,
        )
        | st.sampled_from(
            [
                "0001-01-01 00:00:00",
                "9999-12-31 23:59:59",
                "00:00:00",
                "23:59:59",
                "02-29 10:00:00",
                "0.00.000.001",
            ]
        ),
        max_size=12,
    ),
    st.text(max_size=12) | st.from_regex(r"\+?(\d{1,4}[-:. hms]?){1,6}", fullmatch=True),
)
def test_no_text_breaks_the_axis(texts: list[str], words: str) -> None:
    """Any texts in any order are placed or have no place; every place has a label."""
    timeline = Timeline()
    for text in texts:
        at_s = timeline.at(text)
        assert at_s is None or timeline.label(at_s)
    with suppress(UsageError):
        assert timeline.label(timeline.moment(words))
    for at_s in (float("nan"), float("inf"), 1e300, -1e300):
        assert timeline.label(at_s)
