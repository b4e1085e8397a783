"""Filling holes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthsmith.jit import compiled
from depthsmith.types import FloatArray, PixelArray

Shorts = NDArray[np.int16]
IntArray = NDArray[np.int32]

_HALF = np.float32(0.5)
_WHOLE = np.float32(256.0)
_u = np.uint64
"""Indices known not to be negative, which numba would ask about: that takes a third longer."""


@compiled
def spread(
    rgb: PixelArray,
    disparity: FloatArray,
    share: float,
    columns: float,
    moved: Shorts,
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

    ``moved`` becomes that of the background, in whole pixels, and the last number of each span
    the same in 1/256 pixel.
    """
    width = disparity.shape[1]
    scale = np.float32(abs(share) * 256.0)
    per_pixel = int(columns * 256.0)
    for y in range(top, bottom):
        values, pixels, drawn, shown = disparity[y], rgb[y], out[y], moved[y]
        for n in range(counts[y, 0]):
            start, end, code = spans[y, n, 0], spans[y, n, 1], spans[y, n, 2]
            column = code >> 1
            way = -1 if code & 1 else 1
            j = start if way < 0 else end
            last = np.floor(values[_u(column)] * scale + _HALF)
            ahead = -int(last)
            spans[y, n, 3] = ahead
            ahead >>= 8
            red, green, blue, count = 0, 0, 0, 0
            r, g, b = 0, 0, 0
            going = True
            for k in range(end - start + 1):
                if going and count < 1 + ((per_pixel * k) >> 8):
                    while count < 1 + ((per_pixel * k) >> 8):
                        if not 0 <= column < width:
                            going = False
                            break
                        shift = np.floor(values[_u(column)] * scale + _HALF)
                        if abs(shift - last) > _WHOLE:
                            going = False
                            break
                        last = shift
                        red += pixels[_u(3 * column)]
                        green += pixels[_u(3 * column + 1)]
                        blue += pixels[_u(3 * column + 2)]
                        count += 1
                        column += way
                    inverse = 1.0 / count
                    r = int(red * inverse + 0.5)
                    g = int(green * inverse + 0.5)
                    b = int(blue * inverse + 0.5)
                shown[_u(j)] = ahead
                q = left + 3 * j
                drawn[_u(q)] = r
                drawn[_u(q + 1)] = g
                drawn[_u(q + 2)] = b
                j -= way


@compiled
def smooth(
    reach: float,
    growth: float,
    same: float,
    moved: Shorts,
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
        moved, spans, counts, out: from `draw` and `spread`; are only read.
        places: ``(H,)`` int32, where each row begins in ``patch``.
        patch: ``(N, 3)``, as ``out``, the result in the order of ``spans``, for `put`.
    """
    height = moved.shape[0]
    most = int(same * 256.0)
    first, more = int(reach * 256.0), int(growth * 256.0)
    for y in range(top, bottom):
        place = places[y]
        for n in range(counts[y, 0]):
            start, end, code = spans[y, n, 0], spans[y, n, 1], spans[y, n, 2]
            ahead = spans[y, n, 3] - 128  # the middle of a whole pixel
            for j in range(start, end + 1):
                k = j - start if code & 1 else end - j
                rows = (first + more * k) >> 8
                q = left + 3 * j
                total = rows + 1
                red, green, blue = total * out[y, q], total * out[y, q + 1], total * out[y, q + 2]
                for way in (-1, 1):
                    yy = y
                    there_are = y if way < 0 else height - 1 - y
                    for weight in range(rows, max(rows - there_are, 0), -1):
                        yy += way
                        if abs((int(moved[_u(yy), _u(j)]) << 8) - ahead) > most:
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
        place, drawn = places[y], out[y]
        for n in range(counts[y, 0]):
            for j in range(spans[y, n, 0], spans[y, n, 1] + 1):
                for c in range(3):
                    drawn[_u(left + 3 * j + c)] = patch[_u(place), _u(c)]
                place += 1
