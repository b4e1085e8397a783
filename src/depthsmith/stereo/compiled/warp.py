"""Where the pixels of a view come from, and drawing it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthsmith.stereo.compiled.jit import compiled
from depthsmith.types import FloatArray, PixelArray

IntArray = NDArray[np.int32]

_UNSET = -(1 << 30)
_HALF = np.float32(0.5)
_ONE = np.float32(1.0)
_WHOLE = np.float32(256.0)
_STEP = np.float32(1.0 / 256.0)
_MOST = np.float32(16_000 * 256)
"""Shifts that leave positions, with as much room on both sides, below 2**24 in 1/256 pixel."""
_u = np.uint64
"""Indices known not to be negative, which numba would ask about: that takes a third longer."""


@compiled
def scatter(
    rgb: PixelArray,
    disparity: FloatArray,
    share: float,
    mixed: float,
    source: IntArray,
    top: int,
    bottom: int,
) -> None:
    """Find what each pixel of a view shows. See `depthsmith.stereo.warp` for the method.

    Everything here is in *logical columns*, which count from the side towards which near
    content moves: from the left for the right eye, from the right for the left eye. A sample
    at logical column x lands at ``x - shift``. In that order what comes later is nearer
    wherever two samples meet, so overwriting needs no depth buffer.

    Args:
        rgb: ``(H, 3 W)`` uint8 or uint16.
        disparity: ``(H, W)`` float32.
        share: of the disparity by which content moves to the left; negative to the right.
        mixed: share of the foreground's colour from which a background pixel at an edge
            counts as a mixture and is dropped.
        source: ``(H, W)`` int32, the result, by column of the view: the column of the picture
            in 1/256 pixel; in holes ``-(2 * anchor + side + 1)``, where anchor is the column
            of the picture at which the background begins, and side is 0 where that lies to
            the right of the hole, 1 where it lies to the left.
    """
    width = disparity.shape[1]
    mirrored = share < 0
    step = -1 if mirrored else 1
    base = width - 1 if mirrored else 0
    scale = np.float32(abs(share) * 256.0)
    least = int(mixed * 256.0)
    # Whole numbers below 2**24 are exact in float32, of which the machine does eight at once.
    columns = np.arange(width).astype(np.float32) * np.float32(256.0)
    shift = np.empty(width, np.float32)
    landing = np.empty(width, np.float32)
    lands = np.empty(width, np.int32)
    shows = np.empty(width, np.int32)
    covers = np.empty(width, np.int32)
    buffer = np.empty(3 * width, np.int32)
    for y in range(top, bottom):
        values = disparity[y]
        if mirrored:
            p = width - 1
            for x in range(width):
                shift[x] = np.floor(values[_u(p)] * scale + _HALF)
                p -= 1
        else:
            for x in range(width):
                shift[x] = np.floor(values[x] * scale + _HALF)
        wrong = 0
        for x in range(width):
            # So that positions are exact below, and for what is not finite.
            wrong += 0 if abs(shift[x]) < _MOST else 1
        if wrong > 0 or width > 32_000:
            raise ValueError(
                "a picture wider than 32000 pixels, or a shift that is 16000 or not a number"
            )
        for x in range(width):
            lands[x] = np.int32(shift[x])
        greatest = 0
        for x in range(width):
            greatest = max(greatest, abs(lands[x]))
        # With this much room on both sides nothing needs clipping.
        pad = (greatest >> 8) + 3
        if width + 2 * pad > buffer.size:
            buffer = np.empty(width + 2 * pad, np.int32)
        row = buffer[: width + 2 * pad]
        row[:] = _UNSET
        offset = np.float32(pad << 8)
        for x in range(width):
            landing[x] = columns[x] + offset - shift[x]
            lands[x] = np.int32(landing[x])
        _between(landing[:-1], landing[1:], columns[1:], shows[1:], covers[1:])
        at = lands[0]
        first = (at + 127) >> 8  # a surface reaches half a pixel beyond its last samples
        for j in range(0, first):
            row[j] = -1
        for j in range(first, (at >> 8) + 1):
            row[j] = 0
        dropped = False  # the last sample is a mixture
        x = 0
        while x < width - 1:
            x += 1
            if not dropped:
                # Nearly everywhere each sample covers one pixel: those are copied.
                j = (lands[x - 1] >> 8) + 1
                while x < width and covers[_u(x)] == 1:
                    row[_u(j)] = shows[_u(x)]
                    j += 1
                    x += 1
                if x == width:
                    break
            count = covers[x]
            last, at = lands[x - 1], lands[x]
            a = (last >> 8) + 1
            if count >= 0:
                b = at >> 8
                if dropped:
                    dropped = False
                    for j in range(a, b + 1):
                        if row[j] == _UNSET:
                            row[j] = -(x + 1)
                elif count == 2:
                    row[a] = shows[x]
                    rest = np.float32(at - (b << 8))
                    weight = np.floor(rest * _WHOLE / np.float32(at - last) + _HALF)
                    row[b] = (x << 8) - int(weight)
                continue
            b = (last + 128) >> 8
            if dropped:
                b = a - 1
            for j in range(a, b + 1):
                row[j] = (x - 1) << 8
            dropped = False
            if at - last > 512:  # background comes to light
                if x + 1 < width and shift[x + 1] - shift[x] <= _WHOLE:
                    p = 3 * (base + step * x)
                    f = 3 * (base + step * max(x - 2, 0))
                    along, length = 0, 0
                    for c in range(3):
                        beyond = int(rgb[y, p + 3 * step + c])
                        whole = int(rgb[y, f + c]) - beyond
                        along += whole * (int(rgb[y, p + c]) - beyond)
                        length += whole * whole
                    dropped = along * 256 > least * length
                anchor = x + 1 if dropped else x
                end = at >> 8 if dropped else ((at + 127) >> 8) - 1
                for j in range(b + 1, end + 1):
                    if row[j] == _UNSET:
                        row[j] = -(anchor + 1)
            if not dropped:
                for j in range((at + 127) >> 8, (at >> 8) + 1):
                    row[j] = x << 8
        at = lands[width - 1]
        for j in range((at >> 8) + 1, ((at + 128) >> 8) + 1):
            row[j] = (width - 1) << 8
        _to_columns(row, pad, mirrored, source[y])


@compiled
def _between(
    last: FloatArray, here: FloatArray, columns: FloatArray, shows: IntArray, covers: IntArray
) -> None:
    """Between a sample and the one before: how many pixels they cover as one surface, which
    is -1 if they are none, and what the first of these shows. Apart, so that it is compiled
    to vector instructions.
    """
    for x in range(last.size):
        gap = here[x] - last[x]
        before = np.floor(last[x] * _STEP)
        rest = here[x] - (before + _ONE) * _WHOLE
        weight = np.floor(rest * _WHOLE / gap + _HALF)
        shows[x] = np.int32(columns[x] - weight)
        covers[x] = np.int32(np.floor(here[x] * _STEP) - before)
    for x in range(last.size):
        gap = here[x] - last[x]
        if gap < np.float32(0.0) or gap > np.float32(512.0):
            covers[x] = -1


@compiled
def _to_columns(row: IntArray, pad: int, mirrored: bool, out: IntArray) -> None:
    """From logical columns to columns of the picture."""
    width = out.size
    if mirrored:
        last = (width - 1) << 8
        p = pad + width - 1
        for j in range(width):
            value = row[_u(p)]
            p -= 1
            hole = -(2 * (width + value) + 2)
            if value == _UNSET:
                hole = -1  # the far border: column 0, and the background lies right of it
            out[j] = last - value if value >= 0 else hole
    else:
        p = pad
        for j in range(width):
            value = row[_u(p)]
            p += 1
            hole = 2 * value + 1
            if value == _UNSET:
                hole = -(2 * (width - 1) + 2)
            out[j] = value if value >= 0 else hole


@compiled
def draw(
    rgb: PixelArray,
    source: IntArray,
    out: PixelArray,
    left: int,
    spans: IntArray,
    counts: IntArray,
    top: int,
    bottom: int,
) -> None:
    """Sample the picture linearly along its rows; holes are left as they are and listed.

    Args:
        rgb: ``(H, 3 W)`` uint8 or uint16.
        source: from `scatter`.
        out: ``(H, >= left + 3 W)``, as ``rgb``, is drawn into from column ``left`` on.
        spans: ``(H, W, 3)`` int32, first and last column of each hole, and ``2 * anchor + side``.
        counts: ``(H, 2)`` int32, number of holes and of their pixels.
    """
    width = source.shape[1]
    for y in range(top, bottom):
        row, pixels, drawn = source[y], rgb[y], out[y]
        holes, missing, last = 0, 0, 0
        for j in range(width):
            position = row[_u(j)]
            if position >= 0:
                i = 3 * (position >> 8)
                w = position & 255
                v = 256 - w
                # The last column has no neighbour, and needs none.
                e = i + 3 if w else i
                k = left + 3 * j
                drawn[_u(k)] = (pixels[_u(i)] * v + pixels[_u(e)] * w + 128) >> 8
                drawn[_u(k + 1)] = (pixels[_u(i + 1)] * v + pixels[_u(e + 1)] * w + 128) >> 8
                drawn[_u(k + 2)] = (pixels[_u(i + 2)] * v + pixels[_u(e + 2)] * w + 128) >> 8
            else:
                if position != last:
                    spans[y, holes, 0] = j
                    spans[y, holes, 2] = -position - 1
                    holes += 1
                spans[y, holes - 1, 1] = j
                missing += 1
            last = position
        counts[y, 0] = holes
        counts[y, 1] = missing
