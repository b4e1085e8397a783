"""How the picture moves from one frame to the next.

Flow is DIS (Kroeger et al. 2016, arXiv:1603.03590), on brightness with the exposure matched.
"""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from depthsmith.types import ByteArray, FloatArray

_LEAST_SIDE = 16
"""Below this DIS has no room for its patches."""


def brightness(guide: ByteArray, long_side: int) -> ByteArray:
    """Gray at the resolution that flow is computed in, uint8.

    That is the guide's, divided by the whole number that brings it nearest to ``long_side``.
    """
    height, width = guide.shape[:2]
    divisor = max(1, round(max(height, width) / long_side))
    gray: ByteArray = cv2.cvtColor(guide, cv2.COLOR_RGB2GRAY)
    # In two steps where that can be: OpenCV is quick at halves.
    for part in (2, divisor) if divisor % 2 == 0 else (divisor,):
        if part > 1:
            size = (max(1, width // part), max(1, height // part))
            gray = cv2.resize(gray, size, interpolation=cv2.INTER_AREA)
    return gray


def dense(
    gray: ByteArray, other: ByteArray, preset: int, *, to_the_pixel: bool = False
) -> FloatArray:
    """Flow ``(h, w, 2)`` float32 from one picture to another of the same exposure, pixels.

    Args:
        preset: of DIS; they all stop at half the resolution or less.
        to_the_pixel: go on to all of it, so that contours of motion come to lie on those of
            the picture. Takes about twice as long as the medium preset.
    """
    height, width = gray.shape
    if min(height, width) < _LEAST_SIDE:
        return np.zeros((height, width, 2), np.float32)
    method = cv2.DISOpticalFlow.create(preset)
    if to_the_pixel:
        method.setFinestScale(0)
        method.setPatchStride(4)
        method.setGradientDescentIterations(12)
        method.setVariationalRefinementIterations(2)
    flow: FloatArray = method.calc(gray, other, None)
    return flow


def match_exposure(gray: ByteArray, reference: ByteArray) -> ByteArray:
    """Brightness scaled and shifted to another picture's.

    Unless that has hardly any contrast, or all of it: then the two show different things.
    """
    ours, theirs = _levels(gray), _levels(reference)
    if np.abs(ours - theirs).max() <= 2:
        return gray
    gain = float((theirs[2] - theirs[0]) / max(ours[2] - ours[0], 1))
    if not 0.25 <= gain <= 4.0:
        return gray
    levels = np.arange(256) * gain + (theirs[1] - gain * ours[1])
    table = np.clip(np.rint(levels), 0, 255).astype(np.uint8)
    matched: ByteArray = cv2.LUT(gray, table)
    return matched


def _levels(gray: ByteArray) -> NDArray[np.intp]:
    """Percentiles 10, 50 and 90 of brightness."""
    counts = np.cumsum(np.bincount(gray.ravel(), minlength=256))
    return np.searchsorted(counts, np.array([0.1, 0.5, 0.9]) * gray.size)


@lru_cache(maxsize=8)
def grid(height: int, width: int) -> FloatArray:
    """``(h, w, 2)`` float32, every pixel's own ``x, y``; not to be written to."""
    y, x = np.mgrid[0:height, 0:width]
    pixels: FloatArray = np.stack([x, y], axis=-1).astype(np.float32)
    pixels.setflags(write=False)
    return pixels
