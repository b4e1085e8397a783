"""What of the motion from frame to frame is the whole picture's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from depthsmith.types import ByteArray, FloatArray

_STILL_PX, _STILL_ZOOM = 0.03, 0.0003
"""Motion from frame to frame that a still camera may seem to have."""

_STILL_SHARE = 30.0
"""Per cent of the picture that must not move for the camera to be still."""

_STILL_LENGTH, _STILL_ACROSS = 0.05, 0.06
"""Length of flow, and motion across contours, in pixels, that is none."""


@dataclass(frozen=True)
class CameraMotion:
    """Motion of the whole picture since the frame before.

    Attributes:
        novelty: share of the picture that moved out of it or changed its size.
        zoom: growth of the picture's content; 0.01 is one per cent.
    """

    novelty: float = 0.0
    zoom: float = 0.0


STILL = CameraMotion()


def camera_motion(flow: FloatArray, gray: ByteArray, before: ByteArray) -> CameraMotion:
    """Shift and growth that most of a flow field agrees on.

    A picture that is still in enough places shows that the camera is, whatever moves in front
    of it. Flow alone is no witness: it spreads from what moves into what has little texture.

    Args:
        flow: ``(g, k, 2)`` from the picture to the one before.
        gray, before: ``(g, k)`` uint8, the two pictures in one exposure.
    """
    height, width = flow.shape[:2]
    step = max(1, int(np.sqrt(height * width / 1024)))
    u, v = (flow[::step, ::step, c].ravel().astype(np.float64) for c in (0, 1))
    if float(np.percentile(np.hypot(u, v), _STILL_SHARE)) < _STILL_LENGTH:
        return STILL
    if _moved_across(gray, before) < _STILL_ACROSS:
        return STILL
    rows, columns = np.mgrid[0:height:step, 0:width:step]
    y = rows.ravel() - (height - 1) / 2.0
    x = columns.ravel() - (width - 1) / 2.0
    # The median of vectors, not of lengths: noise has a length, but no direction.
    shift_u, shift_v = float(np.median(u)), float(np.median(v))
    reach = np.hypot(x, y)
    outer = reach > 0.4 * float(reach.max())
    growth = ((u - shift_u) * x + (v - shift_v) * y)[outer] / reach[outer] ** 2
    zoom = _beyond(float(np.median(growth)), _STILL_ZOOM)
    across, down = _beyond(shift_u, _STILL_PX) / width, _beyond(shift_v, _STILL_PX) / height
    return CameraMotion(min(abs(across) + abs(down) + 2.0 * abs(zoom), 1.0), zoom)


def typical(motions: Sequence[CameraMotion]) -> CameraMotion:
    """The median of some frames' motion: a camera neither starts nor stops for one frame."""
    novelty = float(np.median([motion.novelty for motion in motions]))
    zoom = float(np.median([motion.zoom for motion in motions]))
    return CameraMotion(novelty, zoom) if novelty > 0.0 else STILL


def _moved_across(gray: ByteArray, before: ByteArray) -> float:
    """How far the stiller of the strong contours moved across themselves, pixels."""
    now, then = (cv2.blur(picture, (3, 3)).astype(np.float32) for picture in (gray, before))
    slope = cv2.magnitude(
        cv2.Sobel(now, cv2.CV_32F, 1, 0, scale=0.125),
        cv2.Sobel(now, cv2.CV_32F, 0, 1, scale=0.125),
    )
    step = max(1, int(np.sqrt(gray.size / 8192)))
    steep = slope[::step, ::step].ravel()
    changed = np.abs(now - then)[::step, ::step].ravel()
    strong = steep >= max(float(np.percentile(steep, 70.0)), 2.0)
    if np.count_nonzero(strong) < 50:
        return float("inf")
    return float(np.percentile(changed[strong] / steep[strong], _STILL_SHARE))


def _beyond(value: float, still: float) -> float:
    """Nearer to 0 by ``still``."""
    return float(np.sign(value)) * max(abs(value) - still, 0.0)
