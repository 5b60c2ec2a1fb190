"""The law of an arm: known lines come back, what is unknown stays unknown, and the seeds carry the interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from radixbench.metrics.law import Law, law, points, seed_lines, setting_of
from radixbench.stats.interval import mean_interval
from radixbench.stats.median_plane import median_plane
from radixbench.stats.sample import Absent, Sample
from tests.builders import failed_request, make_request, make_run
from tests.lawful import Cost, lawful_arm, lawful_run

STEADY = Cost(0.004, 2e-4)


def test_a_known_line_comes_back_exactly() -> None:
    """Intercept and slope of a law without noise, and a line that explains everything."""
    found = law(lawful_arm([STEADY] * 3, mode="off"))
    assert isinstance(found, Law)
    assert found.intercept.value == pytest.approx(0.004, rel=1e-6)
    assert found.slope.value == pytest.approx(2e-4, rel=1e-6)
    assert found.r_squared == pytest.approx(1.0)
    assert found.deviation == pytest.approx(0.0, abs=1e-6)
    assert (found.n_requests, found.n_seeds) == (108, 3)
    assert (found.uncached_low, found.uncached_high) == (32, 4128)
    assert found.cached_slope is None
    assert found.bend is not None
    assert found.bend.value == pytest.approx(0.0, abs=1e-6)
    assert not found.is_bent


def test_what_a_cached_token_costs_is_told_apart() -> None:
    """Hits on longer prefixes that wait longer don't bend the line of computed tokens."""
    found = law(lawful_arm([Cost(0.004, 2e-4, cached=6e-6)] * 3, mode="on"))
    assert isinstance(found, Law)
    assert found.slope.value == pytest.approx(2e-4, rel=1e-6)
    assert found.cached_slope is not None
    assert found.cached_slope.value == pytest.approx(6e-6, rel=1e-6)


def test_cached_tokens_that_follow_from_computed_ones_have_no_slope() -> None:
    """With one shared length a token is either computed or cached: one slope is all that shows."""
    found = law(lawful_arm([STEADY] * 3, mode="on", lengths=(1024,)))
    assert isinstance(found, Law)
    assert found.cached_slope is None
    assert found.slope.value == pytest.approx(2e-4, rel=1e-6)


def test_attention_bends_the_law() -> None:
    """Prompts that cost more than in proportion lie below the straight line between the ends, by a known share."""
    cost = Cost(0.004, 1e-4, squared=4e-8)
    found = law(lawful_arm([cost] * 3, mode="off", lengths=(0, 1024, 2048, 4096)))
    assert isinstance(found, Law)
    chord = (cost.of(32, 0) + cost.of(4128, 0)) / 2
    assert found.bend is not None
    assert found.bend.value == pytest.approx(cost.of(2080, 0) / chord - 1, rel=1e-4)
    assert found.is_bent


def test_a_bend_that_nothing_in_the_middle_holds_is_unknown() -> None:
    """Two lengths make a line and no curve."""
    found = law(lawful_arm([STEADY] * 3, mode="off", lengths=(0, 4096)))
    assert isinstance(found, Law)
    assert found.bend is None
    assert not found.is_bent


def test_intervals_are_over_seeds() -> None:
    """Each seed counts once, however many requests it has; one seed has no interval."""
    slopes = (1.9e-4, 2.0e-4, 2.1e-4)
    few = law(lawful_arm([Cost(0.004, slope) for slope in slopes], mode="off"))
    many = law(lawful_arm([Cost(0.004, slope) for slope in slopes], mode="off", requests=60))
    assert isinstance(few, Law)
    assert isinstance(many, Law)
    half = 4.302653 * 1e-5 / np.sqrt(3)
    for found in (few, many):
        assert found.slope.low == pytest.approx(2e-4 - half, rel=1e-4)
        assert found.slope.high == pytest.approx(2e-4 + half, rel=1e-4)
    one = law(lawful_arm([STEADY], mode="off"))
    assert isinstance(one, Law)
    assert (one.slope.low, one.slope.high, one.n_seeds) == (None, None, 1)


def test_a_cold_first_request_moves_nothing() -> None:
    """The first request of a run may pay for kernels that are compiled: the median's line stays."""
    found = law(lawful_arm([STEADY] * 3, mode="off", noise=lambda number: 50.0 if number == 0 else 1.0))
    assert isinstance(found, Law)
    assert found.slope.value == pytest.approx(2e-4, rel=1e-3)
    assert found.intercept.value == pytest.approx(0.004, rel=1e-2)


def test_an_arm_without_its_cache_needs_no_counts() -> None:
    """Off is 0 cached even where the server counts nothing; an arm that is on and says nothing has no law."""
    assert isinstance(law(lawful_arm([STEADY] * 3, mode="off", told=False)), Law)
    silent = law(lawful_arm([STEADY] * 3, mode="on", told=False))
    assert isinstance(silent, Absent)
    assert "doesn't report cached tokens" in silent.reason


def test_the_same_tokens_everywhere_make_no_line() -> None:
    """Without variation there is a reason instead of a slope; a seed without it is left out."""
    flat = law(lawful_arm([STEADY] * 3, mode="off", lengths=(1024,)))
    assert isinstance(flat, Absent)
    assert "same number of tokens" in flat.reason
    runs = lawful_arm([STEADY] * 3, mode="off", lengths=(0, 1024))[:-1]
    found = law(runs)
    assert isinstance(found, Law)
    assert found.n_seeds == 2


def test_constant_times_have_no_slope() -> None:
    """A time that doesn't depend on tokens: a slope of 0 and nothing left to explain."""
    found = law(lawful_arm([Cost(0.1, 0.0)] * 3, mode="off"))
    assert isinstance(found, Law)
    assert (found.slope.value, found.r_squared) == (0.0, 1.0)


def test_failures_and_impossible_counts_stay_out() -> None:
    """What failed, and answers with more cached than prompt tokens, leave the line alone; nothing left is a reason."""
    run = lawful_run(STEADY, mode="on", shared=1024)
    spoilt = replace(
        run,
        requests=(
            *run.requests,
            failed_request(12, send_s=70.0),
            make_request(13, send_s=80.0, ttft_s=9.0, prompt_tokens=32, cached=4000),
        ),
    )
    assert points(spoilt) == points(run)
    nothing = law([make_run([failed_request(0)])])
    assert isinstance(nothing, Absent)
    assert "failed" in nothing.reason
    assert law([]) == Absent("no run")


def test_the_interval_of_the_slope_covers() -> None:
    """Seeds whose true slopes scatter by 5 %, with skewed waits on top: 93 to 97 % of 95 % intervals hold the truth."""
    rng = np.random.default_rng(3)
    xs = np.repeat([32, 1056, 4128], 8)
    held = 0
    worlds = 300
    for _ in range(worlds):
        slopes = []
        for true in 2e-4 * (1 + rng.normal(0, 0.05, 3)):
            plane = median_plane(
                [xs.tolist()], ((0.004 + true * xs) * rng.lognormal(0, 0.1, len(xs))).tolist()
            )
            assert not isinstance(plane, Absent)
            slopes.append(plane.slopes[0])
        found = mean_interval(Sample(slopes), kind="arithmetic")
        assert not isinstance(found, Absent)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 2e-4 <= found.high
    assert 0.92 < held / worlds < 0.98


def test_settings_leave_out_what_only_changes_lengths() -> None:
    """Shared length and turns belong to one law, every other axis to its own."""
    assert setting_of({"shared_tokens": 64, "turns": 4, "max_concurrency": 8}) == {"max_concurrency": 8}


def test_each_seed_has_its_line_and_its_points() -> None:
    """Lines are by seed, over all the cells given."""
    lines = seed_lines(lawful_arm([Cost(0.004, 1e-4), Cost(0.008, 3e-4)], mode="off"))
    assert not isinstance(lines, Absent)
    assert [round(line.slope, 9) for line in lines.values()] == [1e-4, 3e-4]
    assert len(lines[1].points.ttft) == 36
    assert lines[1].at(1000) == pytest.approx(0.308)
