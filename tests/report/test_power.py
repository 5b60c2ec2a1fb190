"""What the seeds could have shown, as a section tells it."""

from __future__ import annotations

from dataclasses import replace

from radixbench.compare.change import Power
from radixbench.report.power import power_section
from radixbench.report.words import HEADLINE_METRICS
from radixbench.stats.power import chance
from tests.report import scenes


def of(power: Power | None, *, threshold: float = 0.03):
    """The section of a comparison all of whose rows have this power, at the level of a row by itself."""
    comparison, _, _ = scenes.compared(scenes.laptop())
    changes = tuple(replace(one, power=power, pairs=()) for one in comparison.changes)
    return power_section(replace(comparison, changes=changes, threshold=threshold), HEADLINE_METRICS)


def test_every_gated_row_says_what_it_could_have_shown():
    """Pairs, spread, the smallest effect with a good chance, the chances of three effects, and the seeds for a small one."""
    section = of(Power(5, 0.05, 0.113, {0.05: 0.12, 0.1: 0.8, 0.2: 0.999}))
    assert section is not None
    (_, grid), *_ = section.grids
    assert len(grid.rows) == 6
    assert grid.rows[0][2:8] == ("5", "5.0 %", "≥ 11.3 %", "12 %", "80 %", "> 99 %")
    assert "a true change of 11.3 % or more had a chance of at least 80 %" in section.says[0].text


def test_the_seeds_it_would_take_are_the_fewest_that_do():
    """One fewer would not have had the chance."""
    section = of(Power(3, 0.02, 0.05, {}))
    assert section is not None
    seeds = int(section.grids[0][1].rows[0][-1])
    assert chance(0.05, sd=0.02, n=seeds, threshold=0.03) >= 0.8
    assert chance(0.05, sd=0.02, n=seeds - 1, threshold=0.03) < 0.8


def test_a_spread_no_number_of_seeds_overcomes_is_said():
    """More than a hundred seeds is no advice; a threshold above the effect never shows it."""
    wide = of(Power(3, 0.9, None, {}))
    assert wide is not None
    assert wide.grids[0][1].rows[0][-1] == "more than 100"
    assert wide.says[0].word == "blind"
    strict = of(Power(3, 0.01, 0.2, {}), threshold=0.1)
    assert strict is not None
    assert strict.grids[0][1].rows[0][-1] == "never: below the threshold"


def test_rows_without_pairs_have_no_power():
    """Nothing is said of what nothing is known of."""
    assert of(None) is None
