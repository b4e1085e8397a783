"""Two frames in a row: where each pixel went, and how far that can be believed."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from depthsmith.depth.temporal.affine import Affine, fit, match_quantiles
from depthsmith.depth.temporal.camera import CameraMotion, camera_motion
from depthsmith.depth.temporal.motion import (
    dense,
    grid,
    match_exposure,
)
from depthsmith.depth.temporal.values import Affine as Freedom
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
        ahead: from the one before to this; None where only the past counts.
        camera: motion of the whole picture.
    """

    back: Field
    ahead: Field | None
    camera: CameraMotion


def link(
    gray: ByteArray, previous: ByteArray, preset: int, *, ahead: bool, to_the_pixel: bool = False
) -> Link:
    """Flow in both directions, and where the two agree with each other and the pictures.

    Args:
        preset, to_the_pixel: see `dense`.
        ahead: whether `Link.ahead` is wanted.
    """
    before = match_exposure(previous, gray)
    there = dense(gray, before, preset, to_the_pixel=to_the_pixel)
    here = dense(before, gray, preset, to_the_pixel=to_the_pixel)
    return Link(
        _field(there, here, gray, before),
        _field(here, there, before, gray) if ahead else None,
        camera_motion(there, gray, before),
    )


def _field(flow: FloatArray, other: FloatArray, gray: ByteArray, target: ByteArray) -> Field:
    height, width = gray.shape
    where = grid(height, width) + flow
    u, v = cv2.split(flow)
    away = _square_length(*cv2.split(sample(other, where) + flow))
    # Sundaram et al. 2010: a share of the length may be lost, and half a pixel.
    doubt = away / (_square_length(u, v) * np.float32(0.02) + np.float32(0.3))
    smooth, theirs = (cv2.blur(picture, (3, 3)) for picture in (gray, target))
    differs = cv2.absdiff(sample(theirs, where), smooth).astype(np.float32)
    contrast = cv2.dilate(gray, _AROUND[:3, :3]) - cv2.erode(gray, _AROUND[:3, :3])
    differs /= contrast * np.float32(0.2) + np.float32(8.0)
    np.square(differs, out=differs)
    doubt += differs
    np.negative(doubt, out=doubt)
    trust = cv2.exp(doubt)
    inside = cv2.inRange(where, (-0.5, -0.5, 0, 0), (width - 0.5, height - 0.5, 0, 0))
    trust *= inside > 0
    jump = _square_length(*(cv2.dilate(f, _AROUND) - cv2.erode(f, _AROUND) for f in (u, v)))
    calm = cv2.exp(jump * np.float32(-2.0))
    return Field(flow, trust, calm)


def _square_length(u: FloatArray, v: FloatArray) -> FloatArray:
    square = u * u
    square += v * v
    return square


def sample(
    values: FloatArray, where: FloatArray, interpolation: int = cv2.INTER_LINEAR
) -> FloatArray:
    """Values at ``where`` ``(h, w, 2)``, pixels ``x, y``; the border goes on outside."""
    found: FloatArray = cv2.remap(
        values, where, None, interpolation, borderMode=cv2.BORDER_REPLICATE
    )
    return found


def step_between(small: FloatArray, before: FloatArray, back: Field, freedom: Freedom) -> Affine:
    """From the inverse depth of a frame to that of an earlier one.

    Args:
        small, before: ``(g, k)`` inverse depth of the two at the resolution of flow.
        back: flow from the frame to the earlier one.
    """
    target = sample(before, grid(*small.shape) + back.flow)
    found = fit(small[::3, ::3], target[::3, ::3], back.trust[::3, ::3], freedom)
    return match_quantiles(small, before, freedom) if found is None else found
