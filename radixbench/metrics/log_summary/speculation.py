"""How many tokens a speculating server accepted, weighted by what each line stands for."""

from __future__ import annotations


class Speculation:
    """Weighted means of accept length (tokens for each request and step, the bonus token included) and accept rate."""

    __slots__ = ("_len_sum", "_len_weight", "_rate_sum", "_rate_weight")

    def __init__(self) -> None:
        self._len_sum = self._rate_sum = 0.0
        self._len_weight = self._rate_weight = 0.0

    def add_length(self, length: float, weight: float) -> None:
        """An accept length that stands for ``weight`` requests or drafts."""
        self._len_sum += length * weight
        self._len_weight += weight

    def add_rate(self, rate: float, weight: float) -> None:
        """An accept rate, 0 to 1."""
        self._rate_sum += rate * weight
        self._rate_weight += weight

    def merge(self, other: Speculation) -> None:
        """Take in another rank's lines."""
        self._len_sum += other._len_sum
        self._len_weight += other._len_weight
        self._rate_sum += other._rate_sum
        self._rate_weight += other._rate_weight

    @property
    def accept_len(self) -> float | None:
        """The mean, ``None`` without speculation."""
        return self._len_sum / self._len_weight if self._len_weight else None

    @property
    def accept_rate(self) -> float | None:
        """The mean, ``None`` where no line prints one."""
        return self._rate_sum / self._rate_weight if self._rate_weight else None
