"""Sharpening the edges of a depth map."""

from __future__ import annotations

import numpy as np

from depthsmith.jit import compiled
from depthsmith.types import FloatArray, PixelArray

_u = np.uint64
"""Indices known not to be negative, which numba would ask about: that takes a third longer."""


@compiled
def toggle(
    values: FloatArray,
    low: FloatArray,
    high: FloatArray,
    least: float,
    out: FloatArray,
    top: int,
    bottom: int,
) -> None:
    """Whichever of ``low`` and ``high`` is closer, where they differ by more than ``least``."""
    gap = np.float32(least)
    for y in range(top, bottom):
        for x in range(values.shape[1]):
            value, a, b = values[y, x], low[y, x], high[y, x]
            closer = a if value - a < b - value else b
            out[y, x] = closer if b - a > gap else value


@compiled
def snap(
    values: FloatArray,
    rgb: PixelArray,
    grow: int,
    steepness: float,
    least: float,
    longest: int,
    out: FloatArray,
    top: int,
    bottom: int,
) -> None:
    """Widen what is near along the rows, by ``grow`` pixels each way; then make short ramps
    along the rows steps, at the strongest colour edge inside.

    The strength of an edge is the squared difference of the colours, weighted towards the
    middle of the ramp.

    A ramp is a run of columns between which the values rise (or fall) by at least
    ``steepness`` each, by ``least`` in all, and that is at most ``longest`` columns wide.

    Args:
        rgb: ``(H, 3 W)`` uint8 or uint16.
        out: ``(H, W)`` float32, the result.
    """
    width = values.shape[1]
    steep = np.float32(steepness)
    enough = np.float32(least)
    widened, other = np.empty(width, np.float32), np.empty(width, np.float32)
    signs = np.zeros((width // 8 + 1) * 8, np.int8)
    eights = signs.view(np.int64)
    for y in range(top, bottom):
        pixels, new, row = rgb[y], out[y], values[y]
        for _ in range(grow):
            _widen(row, widened)
            row, widened, other = widened, other, widened
        for x in range(width - 1):
            rise = row[x + 1] - row[x]
            new[x] = row[x]
            signs[x] = (1 if rise >= steep else 0) - (1 if rise <= -steep else 0)
        new[width - 1] = row[width - 1]
        x = 0
        while x < width - 1:
            sign = signs[_u(x)]
            if sign == 0:
                x += 1
                while x & 7 == 0 and x < width and eights[_u(x >> 3)] == 0:
                    x += 8
                continue
            end = x + 1
            while signs[_u(end)] == sign:  # the last is 0
                end += 1
            if 2 <= end - x <= longest and abs(row[end] - row[x]) >= enough:
                # The outermost steps of a long ramp are where it begins and ends, not its edge.
                inner = 1 if end - x > 2 else 0
                best, edge = -1, x
                for k in range(x + inner, end - inner):
                    strength = 0
                    for c in range(3 * k, 3 * k + 3):
                        difference = int(pixels[_u(c + 3)]) - int(pixels[_u(c)])
                        strength += difference * difference
                    # Full weight in the middle, a fifth of it at the ends.
                    strength *= 5 * (end - x) - 4 * abs(2 * k + 1 - x - end)
                    if strength > best:
                        best, edge = strength, k
                for k in range(x, end + 1):
                    new[_u(k)] = row[x] if k <= edge else row[end]
            x = end


@compiled
def _widen(values: FloatArray, out: FloatArray) -> None:
    """The largest of each value and its neighbours. Apart, so that it is compiled to vector
    instructions."""
    last = values.size - 1
    for x in range(1, last):
        most = values[x - 1] if values[x - 1] > values[x] else values[x]
        out[x] = values[x + 1] if values[x + 1] > most else most
    out[0] = max(values[0], values[min(1, last)])
    out[last] = max(values[max(last - 1, 0)], values[last])
