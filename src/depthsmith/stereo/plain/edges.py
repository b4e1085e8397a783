"""`compiled.edges` in numpy."""

from __future__ import annotations

import numpy as np

from depthsmith.stereo.plain.arrays import ranges
from depthsmith.types import FloatArray, PixelArray


def toggle(
    values: FloatArray, low: FloatArray, high: FloatArray, least: float, out: FloatArray,
    top: int, bottom: int,
) -> None:  # fmt: skip
    """As `compiled.toggle`."""
    closer = np.where(values - low < high - values, low, high)
    out[:] = np.where(high - low > np.float32(least), closer, values)


def snap(
    values: FloatArray, rgb: PixelArray, grow: int, steepness: float, least: float,
    longest: int, out: FloatArray, top: int, bottom: int,
) -> None:  # fmt: skip
    """As `compiled.snap`."""
    height, width = values.shape
    for _ in range(grow):
        beside = np.pad(values, ((0, 0), (1, 1)), mode="edge")
        values = np.maximum(values, np.maximum(beside[:, :-2], beside[:, 2:]))
    out[:] = values
    if width < 2:
        return
    rise = np.diff(values, axis=1)
    sign = np.where(np.abs(rise) < np.float32(steepness), 0, np.sign(rise)).astype(np.int8)
    edge = np.zeros((height, 1), np.int8)
    begins = (sign != 0) & (sign != np.concatenate([edge, sign[:, :-1]], axis=1))
    ends = (sign != 0) & (sign != np.concatenate([sign[:, 1:], edge], axis=1))
    rows, first = np.nonzero(begins)
    last = np.nonzero(ends)[1] + 1
    length = last - first
    total = np.abs(values[rows, last] - values[rows, first])
    ramps = (length >= 2) & (length <= longest) & (total >= np.float32(least))
    rows, first, last, length = rows[ramps], first[ramps], last[ramps], length[ramps]
    if not rows.size:
        return
    pixels = rgb.reshape(height, width, 3).astype(np.int64)
    strength = (np.diff(pixels, axis=1) ** 2).sum(axis=2)
    inner = (length > 2).astype(np.int64)
    y, k, which = ranges(rows, first + inner, last - inner - 1)
    # The strongest, and of equals the first: one number orders both.
    weight = 5 * length[which] - 4 * np.abs(2 * k + 1 - first[which] - last[which])
    order = strength[y, k] * weight * width + (width - 1 - k)
    begin = np.flatnonzero(np.diff(which, prepend=-1))
    at = width - 1 - np.maximum.reduceat(order, begin) % width
    y, k, which = ranges(rows, first, last)
    near_side = k <= at[which]
    out[y, k] = np.where(
        near_side, values[rows[which], first[which]], values[rows[which], last[which]]
    )
