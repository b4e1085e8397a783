"""Which of two points is nearer: the score that needs no scale.

As in DIW (Chen et al. 2016, arXiv:1604.03901), whose disagreement rate is 1 minus this
accuracy, and DA-2K (Yang et al. 2024, arXiv:2406.09414).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.errors import DatasetError, InputError
from depthsmith.types import BoolArray, DepthKind


@dataclass(frozen=True)
class PointPair:
    """Two pixels of one picture of which the first is the nearer one.

    Attributes:
        nearer, farther: ``row, column``, pixels from 0.
    """

    nearer: tuple[int, int]
    farther: tuple[int, int]


def ordinal_accuracy(
    prediction: NDArray[Any], pairs: Sequence[PointPair], *, kind: DepthKind
) -> float:
    """Share of the pairs that the prediction puts in the right order, 0 to 1.

    A tie is wrong: a flat prediction scores 0, not a half.

    Args:
        prediction: ``(H, W)``, values of ``kind``, which tells what nearer means.

    Raises:
        DatasetError: if there is no pair, or one lies outside of the picture.
        InputError: if the prediction is not finite at a point.
    """
    if not pairs:
        raise DatasetError("no point pair to compare")
    points = np.array([(*pair.nearer, *pair.farther) for pair in pairs], np.int64)
    height, width = prediction.shape
    rows, columns = points[:, 0::2], points[:, 1::2]
    outside = (rows < 0) | (rows >= height) | (columns < 0) | (columns >= width)
    if outside.any():
        first = pairs[int(np.argmax(outside.any(axis=1)))]
        raise DatasetError(f"{first} lies outside of a picture of {width}x{height}")
    values = prediction[rows, columns].astype(np.float64)
    if not np.isfinite(values).all():
        raise InputError("the prediction is NaN or infinite at a point of a pair")
    if not kind.larger_is_nearer:
        values = -values
    return float(np.mean(values[:, 0] > values[:, 1]))


def sample_pairs(
    truth_m: NDArray[Any],
    valid: BoolArray,
    *,
    count: int = 2000,
    ratio: float = 1.05,
    seed: int = 0,
) -> list[PointPair]:
    """Random pairs whose true depths differ by more than a factor ``ratio``.

    The same for the same arguments. Fewer than ``count`` come back where few pixels differ;
    none from a flat picture.

    Args:
        truth_m: ``(H, W)``, metres, positive where ``valid``.

    Raises:
        DatasetError: if no pixel is valid.
    """
    pixels = np.flatnonzero(valid)
    if len(pixels) == 0:
        raise DatasetError("no valid pixel to take point pairs from")
    rng = np.random.default_rng(seed)
    picked = pixels[rng.integers(0, len(pixels), (4 * count, 2))]  # two points a row
    depth = truth_m.ravel()[picked].astype(np.float64)
    differ = np.flatnonzero(depth.max(axis=1) > ratio * depth.min(axis=1))[:count]
    first_nearer = depth[:, 0] < depth[:, 1]
    width = valid.shape[1]
    result = []
    for k in differ:
        a, b = picked[k] if first_nearer[k] else picked[k, ::-1]
        result.append(PointPair(divmod(int(a), width), divmod(int(b), width)))
    return result
