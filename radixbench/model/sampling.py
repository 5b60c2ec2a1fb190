"""From logits to tokens.

Greedy is one argmax for the whole batch. A sampled token is the inverse of the distribution at one uniform
number that depends on the request's seed and the output index alone, so a request draws the same
tokens whatever runs beside it and however often it was retracted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from radixbench.engine.batch import Entry, SamplingParams


class Sampler:
    """Chooses tokens; ``entropy`` seeds the requests that bring no seed of their own."""

    def __init__(self, entropy: int | None = None) -> None:
        self._entropy = np.random.SeedSequence(entropy).entropy

    def choose(self, logits: Tensor, entries: Sequence[Entry]) -> list[int]:
        """One token id per row of ``[row, vocabulary]`` logits."""
        tokens: list[int] = logits.argmax(dim=-1).tolist()
        for row, entry in enumerate(entries):
            if entry.sampling.temperature > 0:
                tokens[row] = self._sample(logits[row], entry)
        return tokens

    def _sample(self, logits: Tensor, entry: Entry) -> int:
        ordered = probabilities(logits, entry.sampling)
        cumulative = ordered.values.cumsum(dim=-1)
        point = torch.tensor(self._uniform(entry) * float(cumulative[-1]), dtype=cumulative.dtype)
        place = int(torch.searchsorted(cumulative, point.to(cumulative.device), right=True))
        return int(ordered.indices[min(place, len(cumulative) - 1)])

    def _uniform(self, entry: Entry) -> float:
        """In [0, 1), a function of seed (or of this sampler and the request) and output index."""
        seed = entry.sampling.seed
        source = (self._entropy, 1, entry.key) if seed is None else (seed % 2**64, 0)
        return float(np.random.default_rng((*_words(source), entry.output_index)).random())


def probabilities(logits: Tensor, sampling: SamplingParams) -> torch.return_types.sort:
    """Probabilities in falling order with their ids, cut to the smallest set that reaches ``top_p``."""
    scaled = logits.double() / sampling.temperature
    ordered = torch.sort(torch.softmax(scaled, dim=-1), descending=True, stable=True)
    if sampling.top_p >= 1:
        return ordered
    before = ordered.values.cumsum(dim=-1) - ordered.values
    kept = max(int((before < sampling.top_p).sum()), 1)
    return torch.return_types.sort((ordered.values[:kept], ordered.indices[:kept]))


def _words(source: tuple[object, ...]) -> tuple[int, ...]:
    return tuple(int(str(number)) for number in source)
