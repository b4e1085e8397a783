"""Scale and shift between two depth maps of one scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.depth.temporal.values import Affine as Freedom
from depthsmith.types import FloatArray

_ROUNDS = 3
_LEAST_WEIGHT = 60.0
"""Fewer pixels than this say nothing."""


@dataclass(frozen=True)
class Affine:
    """``scale * value + shift``."""

    scale: float = 1.0
    shift: float = 0.0

    def __call__(self, values: FloatArray) -> FloatArray:
        if self == IDENTITY:
            return values
        mapped: FloatArray = values * np.float32(self.scale) + np.float32(self.shift)
        return mapped

    def after(self, first: Affine) -> Affine:
        """This one of the result of ``first``."""
        return Affine(self.scale * first.scale, self.scale * first.shift + self.shift)

    def inverse(self) -> Affine:
        return Affine(1.0 / self.scale, -self.shift / self.scale)

    def towards(self, other: Affine, share: float) -> Affine:
        """Between this (``share`` 0) and another (1)."""
        scale = self.scale + share * (other.scale - self.scale)
        return Affine(scale, self.shift + share * (other.shift - self.shift))


IDENTITY = Affine()


def fit(
    values: FloatArray,
    target: FloatArray,
    weights: FloatArray,
    freedom: Freedom,
    *,
    noise: float = 1.0,
    expected_scale: float = 1.0,
) -> Affine | None:
    """The map from ``values`` to ``target`` that most pixels agree on.

    Both carry errors. Least squares takes errors of ``values`` for contrast that is not
    there, gives a scale too small, and a chain of such scales shrinks to nothing. So this is
    Deming's regression, with outliers weighed down (Tukey).

    Args:
        values, target: arrays of one shape.
        weights: of the pixels, 0 to 1.
        freedom: what may differ.
        noise: variance of the errors of ``target``, as a multiple of that of ``values``.
        expected_scale: taken where contrast tells nothing about the scale.

    Returns:
        None if too few pixels count.
    """
    if freedom == "none":
        return IDENTITY
    x, y = values.ravel().astype(np.float64), target.ravel().astype(np.float64)
    base = weights.ravel().astype(np.float64)
    w = base
    found: Affine | None = None
    for _ in range(_ROUNDS):
        total = float(w.sum())
        if total < _LEAST_WEIGHT:
            return found
        found = _weighted(x, y, w, total, freedom, noise, expected_scale)
        wrong = np.abs(found.scale * x + found.shift - y)
        size = 1.4826 * _weighted_median(wrong, base)
        if size <= 1e-9 * float(np.abs(y).max()):
            return found
        w = base * np.maximum(1.0 - (wrong / (4.0 * size)) ** 2, 0.0) ** 2
    return found


def _weighted(
    x: NDArray[Any],
    y: NDArray[Any],
    w: NDArray[Any],
    total: float,
    freedom: Freedom,
    noise: float,
    expected_scale: float,
) -> Affine:
    # Sums, not BLAS products, which differ with the number of threads.
    x_mean, y_mean = float((w * x).sum()) / total, float((w * y).sum()) / total
    if freedom == "scale":
        xx, yy, xy = (float((w * a * b).sum()) for a, b in ((x, x), (y, y), (x, y)))
        return Affine(_deming(xx, yy, xy, noise, expected_scale), 0.0)
    dx, dy = x - x_mean, y - y_mean
    xx, yy, xy = (float((w * a * b).sum()) for a, b in ((dx, dx), (dy, dy), (dx, dy)))
    scale = _deming(xx, yy, xy, noise, expected_scale)
    return Affine(scale, y_mean - scale * x_mean)


def _deming(xx: float, yy: float, xy: float, noise: float, expected: float) -> float:
    if xy <= 0.5 * np.sqrt(xx * yy):  # the two hardly have anything in common
        return expected
    ratio = noise * yy / xx
    half = (yy - ratio * xx) / 2.0
    return float((half + np.sqrt(half**2 + ratio * xy**2)) / xy)


def _weighted_median(values: NDArray[Any], weights: NDArray[Any]) -> float:
    used = values[weights > 0.1]
    return float(np.median(used if used.size else values))


def match_quantiles(values: FloatArray, target: FloatArray, freedom: Freedom) -> Affine:
    """The map between two distributions, where no pixel can be matched with another."""
    if freedom == "none":
        return IDENTITY
    marks = (10.0, 30.0, 50.0, 70.0, 90.0)
    x, y = np.percentile(values[::4, ::4], marks), np.percentile(target[::4, ::4], marks)
    if freedom == "scale":
        power = float(x @ x)
        return Affine(float(np.sqrt((y @ y) / power)) if power > 0 else 1.0, 0.0)
    wide = float(x[-1] - x[0])
    scale = float(y[-1] - y[0]) / wide if wide > 0 else 1.0
    scale = scale if scale > 0 else 1.0
    return Affine(scale, float(y.mean() - scale * x.mean()))
