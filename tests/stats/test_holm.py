"""Holm's correction: by hand, and its guarantees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.stats.holm import holm


def test_by_hand() -> None:
    """The smallest counts m times, the next m − 1 times, and none falls below one before it."""
    assert holm((0.01, 0.04, 0.03)) == pytest.approx((0.03, 0.06, 0.06))
    assert holm(()) == ()
    assert holm((0.5,)) == (0.5,)
    assert holm((0.9, 0.8)) == (1.0, 1.0)


@settings(deadline=None, derandomize=True)
@given(st.lists(st.floats(0, 1), max_size=12))
def test_never_easier_than_uncorrected_never_harder_than_bonferroni(p_values: list[float]) -> None:
    """Each adjusted p lies between the raw one and Bonferroni's, in the order of the raw ones."""
    adjusted = holm(p_values)
    for raw, corrected in zip(p_values, adjusted, strict=True):
        assert raw <= corrected <= min(1.0, raw * len(p_values))
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    assert [adjusted[i] for i in order] == sorted(adjusted)


def test_a_family_errs_at_most_once_in_twenty() -> None:
    """Six rows without any effect: at least one false rejection in at most 5 % of 20,000 families."""
    families = np.random.default_rng(0).uniform(size=(20_000, 6))
    false = sum(min(holm(family.tolist())) <= 0.05 for family in families)
    assert 0.045 <= false / 20_000 <= 0.055
