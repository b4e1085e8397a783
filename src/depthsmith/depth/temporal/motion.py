"""How the picture moves from one frame to the next: dense flow and the camera's share.

Flow is DIS (Kroeger et al. 2016, arXiv:1603.03590), on brightness with the exposure matched.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from depthsmith.types import ByteArray, FloatArray

_LEAST_SIDE = 16
"""Below this DIS has no room for its patches."""

_STILL_PX, _STILL_ZOOM = 0.03, 0.0003
"""Motion from frame to frame that a still camera may seem to have."""

_STILL_LENGTH = 0.05
"""Length of flow, pixels; if as much as 30 % of the picture moves less, the camera is still."""


@dataclass(frozen=True)
class CameraMotion:
    """What of the motion is the whole picture's.

    Attributes:
        novelty: share of the picture that moved out of it or changed its size.
        zoom: growth of the picture's content, per frame; 0.01 is one per cent.
    """

    novelty: float = 0.0
    zoom: float = 0.0


STILL = CameraMotion()


def brightness(guide: ByteArray, long_side: int) -> ByteArray:
    """Gray at the resolution that flow is computed in, uint8.

    That is the guide's, divided by the whole number that brings it nearest to ``long_side``.
    """
    height, width = guide.shape[:2]
    divisor = max(1, round(max(height, width) / long_side))
    small = guide
    if divisor > 1:
        size = (max(1, width // divisor), max(1, height // divisor))
        small = cv2.resize(guide, size, interpolation=cv2.INTER_AREA)
    gray: ByteArray = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY)
    return gray


def coarse_motion(gray: ByteArray, previous: ByteArray) -> CameraMotion:
    """Camera motion between two frames, without anything else."""
    preset = cv2.DISOPTICAL_FLOW_PRESET_ULTRAFAST
    return camera_motion(dense(gray, match_exposure(previous, gray), preset))


def dense(gray: ByteArray, other: ByteArray, preset: int) -> FloatArray:
    """Flow ``(h, w, 2)`` float32 from one picture to another of the same exposure, pixels."""
    height, width = gray.shape
    if min(height, width) < _LEAST_SIDE:
        return np.zeros((height, width, 2), np.float32)
    flow: FloatArray = cv2.DISOpticalFlow.create(preset).calc(gray, other, None)
    return flow


def match_exposure(gray: ByteArray, reference: ByteArray) -> ByteArray:
    """Brightness scaled and shifted to another picture's."""
    ours, theirs = _levels(gray), _levels(reference)
    if np.abs(ours - theirs).max() <= 2:
        return gray
    gain = float(np.clip((theirs[2] - theirs[0]) / max(ours[2] - ours[0], 1), 0.25, 4.0))
    levels = np.arange(256) * gain + (theirs[1] - gain * ours[1])
    table = np.clip(np.rint(levels), 0, 255).astype(np.uint8)
    matched: ByteArray = cv2.LUT(gray, table)
    return matched


def _levels(gray: ByteArray) -> NDArray[np.intp]:
    """Percentiles 10, 50 and 90 of brightness."""
    counts = np.cumsum(np.bincount(gray.ravel(), minlength=256))
    return np.searchsorted(counts, np.array([0.1, 0.5, 0.9]) * gray.size)


def camera_motion(flow: FloatArray) -> CameraMotion:
    """Shift and growth that most of a flow field agrees on.

    A field that is still in most places is a still camera, whatever moves in front of it.
    """
    height, width = flow.shape[:2]
    step = max(1, int(np.sqrt(height * width / 1024)))
    u, v = (flow[::step, ::step, c].ravel().astype(np.float64) for c in (0, 1))
    rows, columns = np.mgrid[0:height:step, 0:width:step]
    y = rows.ravel() - (height - 1) / 2.0
    x = columns.ravel() - (width - 1) / 2.0
    if float(np.percentile(np.hypot(u, v), 30.0)) < _STILL_LENGTH:
        return STILL
    # The median of vectors, not of lengths: noise has a length, but no direction.
    shift_u, shift_v = float(np.median(u)), float(np.median(v))
    reach = np.hypot(x, y)
    outer = reach > 0.4 * float(reach.max())
    growth = ((u - shift_u) * x + (v - shift_v) * y)[outer] / reach[outer] ** 2
    zoom = _beyond(float(np.median(growth)), _STILL_ZOOM)
    across, down = _beyond(shift_u, _STILL_PX) / width, _beyond(shift_v, _STILL_PX) / height
    return CameraMotion(min(abs(across) + abs(down) + 2.0 * abs(zoom), 1.0), zoom)


def _beyond(value: float, still: float) -> float:
    """Nearer to 0 by ``still``."""
    return float(np.sign(value)) * max(abs(value) - still, 0.0)


@lru_cache(maxsize=8)
def grid(height: int, width: int) -> FloatArray:
    """``(h, w, 2)`` float32, every pixel's own ``x, y``; not to be written to."""
    y, x = np.mgrid[0:height, 0:width]
    pixels: FloatArray = np.stack([x, y], axis=-1).astype(np.float32)
    pixels.setflags(write=False)
    return pixels
