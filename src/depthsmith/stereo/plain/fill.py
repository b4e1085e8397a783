"""`compiled.fill` in numpy."""

from __future__ import annotations

import numpy as np

from depthsmith.stereo.plain.arrays import Index, IntArray, Shorts, ranges, shifts
from depthsmith.types import FloatArray, PixelArray


def spread(
    rgb: PixelArray, disparity: FloatArray, share: float, columns: float, moved: Shorts,
    spans: IntArray, counts: IntArray, out: PixelArray, left: int, top: int, bottom: int,
) -> None:  # fmt: skip
    """As `compiled.spread`."""
    height, width = disparity.shape
    y, x, n, code, distance = _holes(spans, counts)
    anchor, leftwards = code >> 1, (code & 1).astype(bool)
    want = 1 + ((int(columns * 256.0) * distance) >> 8)
    shift = shifts(disparity, share)
    jump = np.abs(np.diff(shift, axis=1)) > 256
    # How far the background goes on: the first jump to the right, the last to the left.
    index = np.arange(width - 1)[None]
    right = np.full((height, width), width - 1, np.int64)
    right[:, :-1] = np.minimum.accumulate(np.where(jump, index, width - 1)[:, ::-1], axis=1)[
        :, ::-1
    ]
    begin = np.zeros((height, width), np.int64)
    begin[:, 1:] = np.maximum.accumulate(np.where(jump, index + 1, 0), axis=1)
    there = np.where(leftwards, anchor - begin[y, anchor], right[y, anchor] - anchor) + 1
    count = np.minimum(want, there)
    low = np.where(leftwards, anchor - count + 1, anchor)
    sums = np.zeros((height, width + 1, 3), np.int64)
    np.cumsum(rgb.reshape(height, width, 3), axis=1, dtype=np.int64, out=sums[:, 1:])
    total = sums[y, low + count] - sums[y, low]
    mean = (total * (1.0 / count)[:, None] + 0.5).astype(out.dtype)
    for c in range(3):
        out[y, left + 3 * x + c] = mean[:, c]
    moved[y, x] = -shift[y, anchor] >> 8
    spans[y, n, 3] = -shift[y, anchor]


def smooth(
    reach: float, growth: float, same: float, moved: Shorts, spans: IntArray,
    counts: IntArray, out: PixelArray, left: int, places: IntArray, patch: PixelArray,
    top: int, bottom: int,
) -> None:  # fmt: skip
    """As `compiled.smooth`."""
    height = moved.shape[0]
    y, x, n, _, distance = _holes(spans, counts)
    if not y.size:
        return
    there = (moved.astype(np.int64) << 8) + 128
    here = spans[y, n, 3]
    rows = (int(reach * 256.0) + int(growth * 256.0) * distance) >> 8
    colours = [left + 3 * x + c for c in range(3)]
    total = rows + 1
    sums = [total * out[y, q] for q in colours]
    for way in (-1, 1):
        going = np.ones(y.size, bool)
        for d in range(1, int(rows.max()) + 1):
            yy = y + way * d
            going &= (d <= rows) & (yy >= 0) & (yy < height)
            safe = yy.clip(0, height - 1)
            going &= np.abs(there[safe, x] - here) <= int(same * 256.0)
            if not going.any():
                break
            weight = np.where(going, rows + 1 - d, 0)
            total = total + weight
            for c, q in enumerate(colours):
                sums[c] = sums[c] + weight * out[safe, q]
    for c in range(3):
        patch[:, c] = (sums[c] * (1.0 / total) + 0.5).astype(out.dtype)


def put(
    spans: IntArray, counts: IntArray, places: IntArray, patch: PixelArray, out: PixelArray,
    left: int, top: int, bottom: int,
) -> None:  # fmt: skip
    """As `compiled.put`."""
    y, x, _, _, _ = _holes(spans, counts)
    for c in range(3):
        out[y, left + 3 * x + c] = patch[:, c]


def _holes(spans: IntArray, counts: IntArray) -> tuple[Index, Index, Index, Index, Index]:
    """Of every pixel in a hole: row, column, number and code of its span, distance from the
    background."""
    listed = np.arange(spans.shape[1])[None] < counts[:, :1]
    rows, n = np.nonzero(listed)
    first, last, code = np.moveaxis(spans[rows, n, :3].astype(np.int64), -1, 0)
    y, x, which = ranges(rows, first, last)
    distance = np.where(code[which] & 1, x - first[which], last[which] - x)
    return y, x, n[which], code[which], distance
