"""Drawing a view."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthsmith.jit import compiled
from depthsmith.types import FloatArray, PixelArray

Bytes = NDArray[np.uint8]
Shorts = NDArray[np.int16]
IntArray = NDArray[np.int32]
Wide = NDArray[np.uint16] | NDArray[np.uint32]
"""Unsigned, of twice the bits of a picture's values; arrays of it only say so, to the compiler,
which would compute in 64 bits otherwise."""

OPEN = -(1 << 15)
"""Instead of a shift, where a view shows nothing yet."""
_HALF = np.float32(0.5)
_WHOLE = np.float32(256.0)
_MOST = np.float32(16_000 * 256)
"""Shifts that fit into 16 bits as whole pixels."""
_MAGNITUDE = np.int32(0x7FFFFFFF)
_u = np.uint64
"""Indices known not to be negative, which numba would ask about: that takes a third longer."""


@compiled
def draw(
    rgb: PixelArray,
    disparity: FloatArray,
    share: float,
    mixed: float,
    wide: Wide,
    moved: Shorts,
    spans: IntArray,
    counts: IntArray,
    out: PixelArray,
    left: int,
    top: int,
    bottom: int,
) -> None:
    """Draw a view; holes are left as they are and listed. See `depthsmith.stereo.warp` for the
    method.

    Everything here is in *logical columns*, which count from the side towards which near
    content moves: from the left for the right eye, from the right for the left eye. A sample
    at logical column x lands at ``x - shift``. In that order what comes later is nearer
    wherever two samples meet, so overwriting needs no depth buffer. Arrays are in the order
    of the picture: ``base + step * x``.

    Nearly everywhere the next sample lands in the next pixel. There a view is made of runs of
    the picture, blended with itself moved by one column; the samples where a run breaks are
    the rest of the work.

    Args:
        rgb: ``(H, 3 W)`` uint8 or uint16.
        disparity: ``(H, W)`` float32.
        share: of the disparity by which content moves to the left; negative to the right.
        mixed: share of the foreground's colour from which a background pixel at an edge
            counts as a mixture and is dropped.
        wide: empty, see `Wide`.
        moved: ``(H, W)`` int16, the result, by column of the view: the whole pixels by which
            what is there has moved, in logical columns; `OPEN` in holes.
        spans: ``(H, W, 4)`` int32, the result: first and last column of each hole, and
            ``2 * anchor + side``, where anchor is the column of the picture at which the
            background begins, and side is 0 where that lies to the right of the hole, 1 where
            it lies to the left. The last number is left for `spread`.
        counts: ``(H, 2)`` int32, the result: number of holes and of their pixels.
        out: ``(H, >= left + 3 W)``, as ``rgb``, is drawn into from column ``left`` on.
    """
    width = disparity.shape[1]
    mirrored = share < 0
    step = -1 if mirrored else 1
    base = width - 1 if mirrored else 0
    scale = np.float32(abs(share) * 256.0)
    least = int(mixed * 256.0)
    limit = np.array([_MOST / scale]).view(np.int32)[0]
    whole = np.empty(width, np.int16)
    rest = np.empty(width, np.uint8)
    weights = np.zeros(width, np.uint8)
    triples = np.zeros(3 * width, np.uint8)
    blended = np.empty(3 * width, rgb.dtype)
    flags = np.zeros((width // 8 + 1) * 8, np.int8)
    breaks = np.empty(width + 8, np.int32)
    holes = np.empty((width + 3, 3), np.int32)
    # One more, for what is not to be seen: cheaper than to ask.
    row = np.empty(3 * width + 3, rgb.dtype)
    shown = np.empty(width + 1, np.int16)
    for y in range(top, bottom):
        pixels = rgb[y]
        if _split(disparity[y], scale, whole, rest) >= limit or width > 32_000:
            raise ValueError(
                "a picture wider than 32000 pixels, or a shift that is 16000 or not a number"
            )
        if mirrored:
            _between(whole[1:], whole[:-1], rest[1:], rest[:-1], flags[:-1], weights[:-1])
            _blend(pixels[3:], pixels[:-3], weights[:-1], wide, triples[:-3], blended[:-3])
        else:
            _between(whole[:-1], whole[1:], rest[:-1], rest[1:], flags[1:], weights[1:])
            _blend(pixels[:-3], pixels[3:], weights[1:], wide, triples[3:], blended[3:])
        number = _list(flags, breaks)
        shown[:] = OPEN
        at = (int(whole[base]) << 8) + int(rest[base])
        reached = max(at >> 8, -1)  # the last pixel that was drawn, or is in a hole
        found = _open(holes, 0, 0, min(((at + 127) >> 8) - 1, width - 1), 0)
        # A surface reaches half a pixel beyond its last samples.
        seen = (at & 255) <= 128 and 0 <= (at >> 8) < width
        _show(pixels, whole, base, base + step * (at >> 8) if seen else width, row, shown)
        dropped = False  # the last sample is a mixture
        start = 1  # of a run
        for n in range(number + 1):
            x = width
            if n < number:
                x = base + step * breaks[_u(n if step > 0 else number - 1 - n)]
            if dropped and start < x:
                dropped = False
                b = start + int(whole[_u(base + step * start)])
                found = _open(holes, found, reached + 1, min(b, width - 1), start)
                reached = max(reached, b)
                start += 1
            if start < x:
                ahead = int(whole[_u(base + step * start)])
                reached = max(reached, x + ahead - 1)
                low, high = max(start, -ahead), min(x, width - ahead)
                of, to = low, low + ahead
                if mirrored:
                    of, to = width - high, width - high - ahead
                for k in range(3 * (high - low)):
                    row[_u(3 * to + k)] = blended[_u(3 * of + k)]
                for k in range(high - low):
                    shown[_u(to + k)] = ahead
            if x == width:
                break
            start = x + 1
            c = base + step * x
            last = (int(whole[_u(c - step)]) << 8) + int(rest[_u(c - step)]) + ((x - 1) << 8)
            at = (int(whole[_u(c)]) << 8) + int(rest[_u(c)]) + (x << 8)
            a, b = (last >> 8) + 1, at >> 8
            gap = at - last
            if 0 <= gap <= 512:  # one surface
                if dropped:
                    dropped = False
                    found = _open(holes, found, reached + 1, min(b, width - 1), x)
                else:
                    for j in range(max(a, 0), min(b, width - 1) + 1):
                        to = base + step * j
                        part = np.float32(at - (j << 8))
                        weight = int(part * _WHOLE / np.float32(gap) + _HALF)
                        shown[_u(to)] = whole[_u(c)]
                        for k in range(3):
                            row[_u(3 * to + k)] = (
                                pixels[_u(3 * (c - step) + k)] * weight
                                + pixels[_u(3 * c + k)] * (256 - weight)
                                + 128
                            ) >> 8
                reached = max(reached, b)
                continue
            ends = not dropped and (last & 255) >= 128
            seen = ends and 0 <= a < width
            _show(pixels, whole, c - step, base + step * a if seen else width, row, shown)
            reached = max(reached, a if ends else a - 1)
            dropped = False
            if gap > 512:  # background comes to light
                if x + 1 < width:
                    after = (int(whole[_u(c + step)]) << 8) + int(rest[_u(c + step)])
                    if after + ((x + 1) << 8) - at >= 0:
                        dropped = _is_mixed(pixels, c, step, base + step * max(x - 2, 0), least)
                end = min(b if dropped else ((at + 127) >> 8) - 1, width - 1)
                found = _open(holes, found, reached + 1, end, x + 1 if dropped else x)
            seen = (at & 255) <= 128 and not dropped and 0 <= b < width
            _show(pixels, whole, c, base + step * b if seen else width, row, shown)
            reached = max(reached, b)
        c = base + step * (width - 1)
        at = (int(whole[c]) << 8) + int(rest[c]) + ((width - 1) << 8)
        if (at & 255) >= 128:
            a = (at >> 8) + 1
            reached = max(reached, a)
            _show(pixels, whole, c, base + step * a if 0 <= a < width else width, row, shown)
        found = _open(holes, found, reached + 1, width - 1, width)
        _list_holes(holes, found, shown, mirrored, spans[y], counts[y])
        drawn, kept = out[y], moved[y]
        for k in range(3 * width):
            drawn[_u(left + k)] = row[k]
        for x in range(width):
            kept[x] = shown[x]


@compiled
def _split(values: FloatArray, scale: float, whole: Shorts, rest: Bytes) -> int:
    """Where samples land, from their own column on: whole pixels and 1/256 pixels.

    Returns the bits of the largest magnitude among the values; these order as the numbers do,
    and what is not finite comes last.
    """
    bits = values.view(np.int32)
    most = np.int32(0)
    for x in range(values.size):
        ahead = np.int32(-np.floor(values[x] * scale + _HALF))
        whole[x] = ahead >> 8
        rest[x] = ahead & 255
        most = np.int32(max(most, np.int32(bits[x] & _MAGNITUDE)))
    return int(most)


@compiled
def _between(
    whole_last: Shorts, whole: Shorts, rest_last: Bytes, rest: Bytes, flags: Shorts, weights: Bytes
) -> None:
    """How much of the sample before goes into the pixel between it and a sample, in 1/256, if
    they cover one. Where they do not, or it is all of it, a run breaks."""
    for x in range(weights.size):
        last, here = np.float32(rest_last[x]), np.float32(rest[x])
        weight = np.int32(here * _WHOLE / (_WHOLE + here - last) + _HALF)
        weights[x] = weight
        flags[x] = (whole_last[x] != whole[x]) | (weight == 256)


@compiled
def _blend(
    last: PixelArray, here: PixelArray, weights: Bytes, wide: Wide, triples: Bytes,
    blended: PixelArray,
) -> None:  # fmt: skip
    """Each pixel with the one before it, by these weights."""
    number = wide.dtype.type
    for x in range(weights.size):
        weight = weights[x]
        triples[3 * x] = weight
        triples[3 * x + 1] = weight
        triples[3 * x + 2] = weight
    for k in range(blended.size):
        difference = number(number(last[k]) - number(here[k]))
        whole = number(number(here[k]) << 8)
        blended[k] = number(whole + number(difference * number(triples[k])) + number(128)) >> 8


@compiled
def _list(flags: Bytes, breaks: IntArray) -> int:
    """The columns of flags, and how many they are."""
    eights = flags.view(np.int64)
    number = 0
    for n in range(eights.size):
        if eights[_u(n)] != 0:
            for x in range(8 * n, 8 * n + 8):
                breaks[_u(number)] = x
                number += 1 if flags[_u(x)] != 0 else 0
    return number


@compiled
def _show(
    pixels: PixelArray, whole: Shorts, column: int, to: int, row: PixelArray, shown: Shorts
) -> None:
    """A pixel as it is."""
    shown[_u(to)] = whole[_u(column)]
    for k in range(3):
        row[_u(3 * to + k)] = pixels[_u(3 * column + k)]


@compiled
def _is_mixed(pixels: PixelArray, column: int, step: int, before: int, least: int) -> bool:
    """Whether a background pixel at an edge has the foreground's colour in it."""
    along, length = 0, 0
    for k in range(3):
        beyond = int(pixels[_u(3 * (column + step) + k)])
        full = int(pixels[_u(3 * before + k)]) - beyond
        along += full * (int(pixels[_u(3 * column + k)]) - beyond)
        length += full * full
    return along * 256 > least * length


@compiled
def _open(holes: IntArray, found: int, first: int, last: int, anchor: int) -> int:
    """Add to the list of holes, if it is one; returns how many there are now."""
    holes[_u(found), 0] = first
    holes[_u(found), 1] = last
    holes[_u(found), 2] = anchor
    return found + 1 if first <= last else found


@compiled
def _list_holes(
    holes: IntArray, found: int, shown: Shorts, mirrored: bool, spans: IntArray, counts: IntArray
) -> None:
    """What nothing nearer has covered since, in columns of the picture."""
    width = shown.size - 1
    listed, missing = 0, 0
    n = 0
    while n < found:
        first, last, anchor = holes[_u(n), 0], holes[_u(n), 1], holes[_u(n), 2]
        n += 1
        while n < found and holes[_u(n), 2] == anchor and holes[_u(n), 0] == last + 1:
            last = holes[_u(n), 1]  # they are one
            n += 1
        side = 1 if mirrored else 0
        if anchor == width:  # the far border, of which the background lies on the other side
            anchor, side = width - 1, 1 - side
        code = 2 * (width - 1 - anchor if mirrored else anchor) + side
        a, b = (width - 1 - last, width - 1 - first) if mirrored else (first, last)
        j = a
        while j <= b:
            while j <= b and shown[_u(j)] != OPEN:
                j += 1
            begin = j
            while j <= b and shown[_u(j)] == OPEN:
                j += 1
            if j > begin:
                spans[_u(listed), 0] = begin
                spans[_u(listed), 1] = j - 1
                spans[_u(listed), 2] = code
                listed += 1
                missing += j - begin
    counts[0] = listed
    counts[1] = missing
