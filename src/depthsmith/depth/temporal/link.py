"""Two frames in a row: where each pixel went, and how far that can be believed."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from depthsmith.depth.temporal.motion import (
    CameraMotion,
    camera_motion,
    dense,
    grid,
    match_exposure,
)
from depthsmith.types import ByteArray, FloatArray

_AROUND = np.ones((5, 5), np.uint8)


@dataclass(frozen=True, eq=False)
class Field:
    """Where the pixels of one frame are in another, at the resolution of flow.

    Attributes:
        flow: ``(g, k, 2)`` float32, pixels of that resolution, to the right and down.
        trust: ``(g, k)`` float32, 0 (hidden, outside, or wrong) to 1.
        calm: ``(g, k)`` float32, 0 where flow changes at a contour of motion, 1 elsewhere.
    """

    flow: FloatArray
    trust: FloatArray
    calm: FloatArray


@dataclass(frozen=True, eq=False)
class Link:
    """A frame and the one before it.

    Attributes:
        back: from this frame to the one before.
        ahead: from the one before to this.
        camera: motion of the whole picture.
    """

    back: Field
    ahead: Field
    camera: CameraMotion


def link(gray: ByteArray, previous: ByteArray, preset: int) -> Link:
    """Flow in both directions, and where the two agree with each other and the pictures."""
    before = match_exposure(previous, gray)
    back, ahead = dense(gray, before, preset), dense(before, gray, preset)
    return Link(
        _field(back, ahead, gray, before),
        _field(ahead, back, before, gray),
        camera_motion(back),
    )


def _field(flow: FloatArray, other: FloatArray, gray: ByteArray, target: ByteArray) -> Field:
    height, width = gray.shape
    where = grid(height, width) + flow
    returned = sample(other, where)
    away = np.square(flow + returned).sum(axis=2)
    length = np.square(flow).sum(axis=2)
    # Sundaram et al. 2010: a share of the length may be lost, and half a pixel.
    trust = np.exp(-away / (0.02 * length + 0.3))
    x, y = where[..., 0], where[..., 1]
    trust *= (x >= -0.5) & (x <= width - 0.5) & (y >= -0.5) & (y <= height - 0.5)
    found = sample(cv2.GaussianBlur(target, (3, 3), 0), where).astype(np.float32)
    ours = cv2.GaussianBlur(gray, (3, 3), 0).astype(np.float32)
    contrast = cv2.morphologyEx(gray, cv2.MORPH_GRADIENT, _AROUND[:3, :3])
    trust *= np.exp(-np.square((found - ours) / (8.0 + 0.2 * contrast)))
    jump = cv2.dilate(flow, _AROUND) - cv2.erode(flow, _AROUND)
    calm = np.exp(-np.square(jump).sum(axis=2) / 0.5)
    return Field(flow, trust.astype(np.float32), calm.astype(np.float32))


def sample(values: FloatArray, where: FloatArray, interpolation: int = cv2.INTER_LINEAR):  # type: ignore[no-untyped-def]
    """Values at ``where`` ``(h, w, 2)``, pixels ``x, y``; the border goes on outside."""
    return cv2.remap(values, where, None, interpolation, borderMode=cv2.BORDER_REPLICATE)
