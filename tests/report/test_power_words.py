"""The power of a comparison, said whatever was found."""

from __future__ import annotations

from radixbench.compare.change import Power
from radixbench.report.details import details
from radixbench.report.power_words import power_words
from radixbench.report.verdict import comparison_headline
from tests.report.rows import change, comparison


def of(detectable, spread=0.012, n=3, more=0.021):
    return Power(n, spread, detectable, {0.05: 0.9}, {5: more, 10: more / 2})


def test_one_row_says_what_it_could_have_shown_and_the_remedy():
    """The smallest effect, the spread, and what five seeds of the same spread would detect."""
    (told,) = power_words([change(power=of(0.041))])
    assert told == (
        "Power: with 3 paired seeds this comparison could have detected ≥ 4.1 % in time to first token (spread 1.2 %);"
        " at this spread 5 seeds: ≥ 2.1 %."
    )


def test_of_several_cells_the_noisiest_speaks():
    """A claim about all rows is that of the one that could show least; both metrics are told."""
    (told,) = power_words(
        [
            change(shared=0, power=of(0.30, 0.09)),
            change(shared=4096, power=of(0.04)),
            change("output_throughput", shared=0, power=of(0.05)),
        ]
    )
    assert told == (
        "Power: with 3 paired seeds, all 3 gated figures judged together, this comparison could have detected ≥ 30.0 % in"
        " time to first token (spread 9.0 %) and ≥ 5.0 % in output throughput (spread 1.2 %), in the noisiest cell of"
        " each; at this spread 5 seeds: ≥ 2.1 % and ≥ 2.1 %."
    )


def test_too_few_seeds_name_how_many_would_do():
    """Two can detect nothing; the remedy is told with the spread they show."""
    few = Power(2, 0.02, None, {}, {3: 0.07, 5: 0.031})
    assert list(power_words([change(verdict="undecided", power=few)])) == [
        "Power: 2 paired seeds can detect nothing; at the spread they show (2.0 % in time to first token) 3 seeds: ≥ 7.0 %."
    ]


def test_rows_without_a_spread_say_nothing():
    """One seed has no power to tell of."""
    assert list(power_words([change(verdict="undecided")])) == []
    assert list(power_words([])) == []


def test_it_is_said_when_something_was_found_and_when_nothing_was():
    """Under the headline of every comparison that was judged."""
    for verdict, detectable in (("better", None), ("worse", None), ("within-noise", 0.041)):
        row = change(verdict=verdict, detectable=detectable, power=of(0.041))
        told = comparison_headline(comparison(row), "tiny")
        assert told.details[-1].startswith(
            "Power: with 3 paired seeds this comparison could have detected ≥ 4.1 %"
        )
        assert list(details(comparison(row), [row], []))[-1] == told.details[-1]
