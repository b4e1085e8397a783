"""Filling holes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthsmith.stereo.compiled.jit import compiled
from depthsmith.types import FloatArray, PixelArray

IntArray = NDArray[np.int32]

HOLE = -(1 << 29)
"""Below any position: `spread` adds it to displacements, to tell them apart."""
_HALF = np.float32(0.5)
_u = np.uint64
"""Indices known not to be negative, which numba would ask about: that takes a third longer."""


@compiled
def spread(
    rgb: PixelArray,
    disparity: FloatArray,
    share: float,
    columns: float,
    source: IntArray,
    spans: IntArray,
    counts: IntArray,
    out: PixelArray,
    left: int,
    top: int,
    bottom: int,
) -> None:
    """Fill holes along the rows from the background beside them.

    The pixel at distance k from it takes the mean of the nearest ``1 + columns * k`` pixels
    of the background, as far as that goes on without a jump.

    ``source`` becomes ``HOLE`` plus the displacement of the background, in 1/256 pixel.
    """
    width = disparity.shape[1]
    scale = np.float32(abs(share) * 256.0)
    sign = -1 if share < 0 else 1
    per_pixel = int(columns * 256.0)
    for y in range(top, bottom):
        for n in range(counts[y, 0]):
            start, end = spans[y, n, 0], spans[y, n, 1]
            code = spans[y, n, 2]
            column = code >> 1
            way = -1 if code & 1 else 1
            j = start if way < 0 else end
            moved = HOLE + sign * int(np.floor(disparity[y, column] * scale + _HALF))
            red, green, blue, count = 0, 0, 0, 0
            last = np.float32(0.0)
            going = True
            for k in range(end - start + 1):
                while going and count < 1 + ((per_pixel * k) >> 8):
                    shift = np.floor(disparity[_u(y), _u(column)] * scale + _HALF)
                    if count > 0 and abs(shift - last) > 256.0:
                        going = False
                        break
                    last = shift
                    red += rgb[_u(y), _u(3 * column)]
                    green += rgb[_u(y), _u(3 * column + 1)]
                    blue += rgb[_u(y), _u(3 * column + 2)]
                    count += 1
                    column += way
                    going = 0 <= column < width
                inverse = 1.0 / count
                source[y, j] = moved
                q = left + 3 * j
                out[y, q] = int(red * inverse + 0.5)
                out[y, q + 1] = int(green * inverse + 0.5)
                out[y, q + 2] = int(blue * inverse + 0.5)
                j -= way


@compiled
def smooth(
    reach: float,
    growth: float,
    same: float,
    source: IntArray,
    spans: IntArray,
    counts: IntArray,
    out: PixelArray,
    left: int,
    places: IntArray,
    patch: PixelArray,
    top: int,
    bottom: int,
) -> None:
    """Average filled pixels over the rows above and below, as far as the background goes on.

    The pixel at distance k from the background takes ``reach + growth * k`` rows each way, with
    weights that fall off linearly; a row whose shift differs by more than ``same`` ends it.

    Args:
        source, spans, counts, out: from `draw` and `spread`; are only read.
        places: ``(H,)`` int32, where each row begins in ``patch``.
        patch: ``(N, 3)``, as ``out``, the result in the order of ``spans``, for `put`.
    """
    height = source.shape[0]
    most = int(same * 256.0)
    first, more = int(reach * 256.0), int(growth * 256.0)
    for y in range(top, bottom):
        place = places[y]
        for n in range(counts[y, 0]):
            start, end, code = spans[y, n, 0], spans[y, n, 1], spans[y, n, 2]
            shift = source[y, start] - HOLE
            for j in range(start, end + 1):
                k = j - start if code & 1 else end - j
                rows = (first + more * k) >> 8
                q = left + 3 * j
                here = j << 8
                total = rows + 1
                red, green, blue = total * out[y, q], total * out[y, q + 1], total * out[y, q + 2]
                for way in (-1, 1):
                    yy = y
                    there_are = y if way < 0 else height - 1 - y
                    for weight in range(rows, max(rows - there_are, 0), -1):
                        yy += way
                        there = source[_u(yy), _u(j)]
                        other = there - here if there >= 0 else there - HOLE
                        if abs(other - shift) > most:
                            break
                        total += weight
                        red += weight * out[_u(yy), _u(q)]
                        green += weight * out[_u(yy), _u(q + 1)]
                        blue += weight * out[_u(yy), _u(q + 2)]
                inverse = 1.0 / total
                patch[place, 0] = int(red * inverse + 0.5)
                patch[place, 1] = int(green * inverse + 0.5)
                patch[place, 2] = int(blue * inverse + 0.5)
                place += 1


@compiled
def put(
    spans: IntArray,
    counts: IntArray,
    places: IntArray,
    patch: PixelArray,
    out: PixelArray,
    left: int,
    top: int,
    bottom: int,
) -> None:
    """Put what `smooth` made in its place."""
    for y in range(top, bottom):
        place = places[y]
        for n in range(counts[y, 0]):
            for j in range(spans[y, n, 0], spans[y, n, 1] + 1):
                for c in range(3):
                    out[y, left + 3 * j + c] = patch[place, c]
                place += 1
