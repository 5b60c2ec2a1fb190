"""A median regression: half of the points lie above it, half below, each weighed by its distance as a share of it.

Times to the first token scatter by shares and to one side: whoever waits for others waits long. Least squares follow
the few that waited most and foretell times below 0 for short prompts; the median doesn't move for them.
Koenker and Bassett, Econometrica 46 (1978); solved by reweighted least squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from radixbench.stats.sample import Absent

_ROUNDS = 200
_SETTLED = 1e-7
_NOTHING = 1e-10
_CLOSEST = 1e-6
"""Distances below this share of the plane pull no harder than it."""
_ALIKE = 0.95
"""The share of a column that the others may tell, beyond which it has no slope of its own."""

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plane:
    """y = ``intercept`` + the sum of ``slopes`` x columns, in the values' own units."""

    intercept: float
    slopes: tuple[float, ...]

    def at(self, *places: float) -> float:
        """The plane's y at one value for each column."""
        return self.intercept + sum(slope * x for slope, x in zip(self.slopes, places, strict=True))


def median_plane(columns: Sequence[Sequence[float]], ys: Sequence[float]) -> Plane | Absent:
    """The plane through points of ``columns`` and ``ys`` above 0; absent where a column has no slope of its own."""
    y = np.asarray(ys, dtype=np.float64)
    x = np.asarray(columns, dtype=np.float64).reshape(len(columns), len(y))
    if len(y) <= len(columns):
        return Absent(f"{len(y)} of at least {len(columns) + 1} points")
    if not (np.isfinite(x).all() and np.isfinite(y).all() and y.min() > 0):
        return Absent("a value isn't above 0 or isn't finite")
    if not is_independent(columns):
        return Absent("the points don't vary enough for a slope")
    scale: _Floats = np.abs(x).max(axis=1)
    found = _settle(np.vstack([np.ones(len(y)), x / scale[:, None]]), y)
    found[1:][np.abs(found[1:]) < _NOTHING * float(np.median(y))] = 0.0
    return Plane(float(found[0]), tuple(float(slope) for slope in found[1:] / scale))


def is_independent(columns: Sequence[Sequence[float]]) -> bool:
    """No column is constant, and none follows from the others."""
    x = np.asarray(columns, dtype=np.float64)
    if not len(x) or (x.max(axis=1) == x.min(axis=1)).any():
        return bool(not len(x))
    if len(x) == 1:
        return True
    inverse = np.linalg.pinv(np.corrcoef(x), hermitian=True)
    told = 1.0 - 1.0 / np.maximum(np.diag(inverse), 1.0)
    return bool(np.linalg.matrix_rank(np.corrcoef(x), tol=1e-6) == len(x) and told.max() < _ALIKE)


def _settle(rows: _Floats, y: _Floats) -> _Floats:
    """Weights are those of squares, so that a squared distance over itself counts as the distance alone."""
    floor = float(y.min()) / 2.0
    at = _least_squares(rows, y, 1.0 / (y * y))
    for _ in range(_ROUNDS):
        plane = at @ rows
        apart = np.abs(y - plane)
        np.maximum(plane, floor, out=plane)
        np.maximum(apart, _CLOSEST * plane, out=apart)
        following = _least_squares(rows, y, 1.0 / (plane * apart))
        step = float(np.abs(following - at).max())
        at = following
        if step <= _SETTLED * float(np.abs(at).max()):
            break
    return at


def _least_squares(rows: _Floats, y: _Floats, weights: _Floats) -> _Floats:
    """By the normal equations: a handful of columns, scaled to 1, of which none follows from the others."""
    weighted = rows * weights
    found = np.linalg.lstsq(weighted @ rows.T, weighted @ y, rcond=None)[0]
    return np.asarray(found, dtype=np.float64)
