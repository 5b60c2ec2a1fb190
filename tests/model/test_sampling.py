"""Tokens from logits."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from radixbench.engine.batch import Entry, SamplingParams
from radixbench.model.sampling import Sampler, probabilities
from tests.model.builders import entry

LOGITS = torch.log(torch.tensor([0.1, 0.4, 0.2, 0.3]))


def _asking(index: int = 0, key: int = 0, **params: object) -> Entry:
    sampling = SamplingParams(max_tokens=8, **{"temperature": 1.0, **params})
    return entry([1], [1], key=key, output_index=index, sampling=sampling)


def test_greedy_takes_the_highest() -> None:
    """Temperature 0 is argmax, whatever the seed."""
    entries = [_asking(temperature=0.0, seed=seed) for seed in (1, 2)]
    assert Sampler(0).choose(torch.stack([LOGITS, LOGITS.flip(0)]), entries) == [1, 2]


def test_a_seed_fixes_the_tokens_whatever_runs_beside() -> None:
    """A seeded request draws the same tokens alone, in a batch, under another key and in another sampler."""
    alone = [Sampler(1).choose(LOGITS[None], [_asking(i, seed=7)])[0] for i in range(40)]
    rows = LOGITS.repeat(40, 1)
    together = Sampler(2).choose(rows, [_asking(i, key=i, seed=7) for i in range(40)])
    assert alone == together
    assert len(set(alone)) > 1
    assert together != Sampler(2).choose(rows, [_asking(i, seed=8) for i in range(40)])


def test_without_a_seed_requests_differ() -> None:
    """Unseeded requests draw their own numbers, and other ones in the next process."""
    rows = LOGITS.repeat(40, 1)
    first, second = ([_asking(i, key=key) for i in range(40)] for key in (1, 2))
    sampler = Sampler()
    assert sampler.choose(rows, first) != sampler.choose(rows, second)
    assert sampler.choose(rows, first) != Sampler().choose(rows, first)


def test_frequencies_follow_the_distribution() -> None:
    """Over many positions each token comes up as often as its probability says."""
    rows = LOGITS.repeat(4000, 1)
    counts = Counter(Sampler(0).choose(rows, [_asking(i, seed=3) for i in range(4000)]))
    for token, share in enumerate((0.1, 0.4, 0.2, 0.3)):
        assert counts[token] / 4000 == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize(
    ("top_p", "kept"),
    [(1.0, [1, 3, 2, 0]), (0.95, [1, 3, 2, 0]), (0.8, [1, 3, 2]), (0.5, [1, 3]), (1e-9, [1])],
)
def test_top_p_keeps_the_smallest_set_that_reaches_it(top_p: float, kept: list[int]) -> None:
    """The likeliest tokens up to and including the one that reaches ``top_p``, at least one."""
    found = probabilities(LOGITS, SamplingParams(max_tokens=1, temperature=1.0, top_p=top_p))
    assert found.indices.tolist() == kept


def test_low_temperature_sharpens() -> None:
    """Towards temperature 0 the likeliest token takes all."""
    found = probabilities(LOGITS, SamplingParams(max_tokens=1, temperature=0.01))
    assert float(found.values[0]) == pytest.approx(1.0)


def test_seed_zero_and_negative_seeds_are_seeds() -> None:
    """0 is a seed like any other, and so is a negative one."""
    rows = LOGITS.repeat(30, 1)
    for seed in (0, -5):
        entries = [_asking(i, seed=seed) for i in range(30)]
        assert Sampler(1).choose(rows, entries) == Sampler(2).choose(rows, entries)
