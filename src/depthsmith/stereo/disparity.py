"""From depth to disparity: how far apart the two eyes see each point.

``disparity_px = x_left - x_right`` at output width. It is positive for what comes out of the
screen: near content lies further right in the left eye and further left in the right eye. It
is zero on the convergence plane, and negative behind it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

from depthsmith.errors import InputError, UsageError
from depthsmith.types import FloatArray

Eyes = Literal["both", "left", "right"]

EYE_DISTANCE_MM = 63.0
"""Mean distance between the pupils of adults: N. A. Dodgson, "Variation and extrema of human
interpupillary distance", Proc. SPIE 5291 (2004)."""

MAX_DISPARITY = 3.0
"""Per cent of the width between the nearest and the farthest point, where no metres say how
much it really is. 3 % is what television allows in all: 2 % behind the screen and 1 % in front
of it (BSkyB, "Technical Guidelines for Plano Stereoscopic (3D) Programme Content")."""


@dataclass(frozen=True)
class StereoSettings:
    """How deep a pair is and who sees what.

    Attributes:
        strength: multiplies all disparity; 0 is flat, 1 as described below.
        eye_distance_mm: of the viewer. Disparity is proportional to it.
        max_disparity: in per cent of the output width, the disparity between the nearest and
            the farthest point, at strength 1 and the mean eye distance. None is
            `MAX_DISPARITY` for relative depth and whatever physics says for metres. Nothing
            is ever clipped.
        convergence: which plane shows no disparity: 0 the farthest, 1 the nearest, or
            ``auto``, see `auto_convergence`.
        eyes: whose view is made: both, each moved by half the disparity; or only one, and
            the other eye gets the picture as it is.
        swap: exchange the two views, for cross-eyed viewing.

    Raises:
        UsageError: for a value out of range.
    """

    strength: float = 1.0
    eye_distance_mm: float = EYE_DISTANCE_MM
    max_disparity: float | None = None
    convergence: float | Literal["auto"] = 0.5
    eyes: Eyes = "both"
    swap: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.strength) and self.strength >= 0):
            raise UsageError(f"the strength is {self.strength:g}; it must be 0 or more")
        if not (math.isfinite(self.eye_distance_mm) and self.eye_distance_mm > 0):
            raise UsageError(
                f"the eye distance is {self.eye_distance_mm:g} mm; it must be positive"
            )
        if self.max_disparity is not None and not 0 < self.max_disparity <= 100:
            raise UsageError(
                f"the greatest disparity is {self.max_disparity:g} % of the width; "
                "it must lie between 0 and 100"
            )
        plane: object = self.convergence
        if not (plane == "auto" or (isinstance(plane, (int, float)) and 0 <= plane <= 1)):
            raise UsageError(
                f"the convergence is {self.convergence}; "
                "it must lie between 0 (farthest) and 1 (nearest), or be 'auto'"
            )
        if self.eyes not in ("both", "left", "right"):
            raise UsageError(f"the eyes are 'both', 'left' or 'right', not {self.eyes!r}")

    @property
    def shares(self) -> tuple[float, float]:
        """Of the disparity, by which content moves to the left in the left and right view."""
        return {"both": (-0.5, 0.5), "left": (-1.0, 0.0), "right": (0.0, 1.0)}[self.eyes]


def near_to_disparity(near: FloatArray, width: int, settings: StereoSettings) -> FloatArray:
    """Disparity of relative depth.

    ``strength * eye_distance / 63 mm * max_disparity / 100 * width * (near - convergence)``

    Args:
        near: ``(h, w)`` float32 from 0 to 1, 1 is nearest; linear in inverse depth, as
            disparity is. Of any size.
        width: of the output, in pixels, in which the result is measured.

    Returns:
        ``(h, w)`` float32, pixels.

    Raises:
        InputError: if ``near`` is not that.
        UsageError: if the width is not positive.
    """
    _check(near)
    _check_width(width)
    if not (near.min() >= 0 and near.max() <= 1):
        raise InputError(
            f"near must lie between 0 and 1, and this is {near.min():.4g} to {near.max():.4g}; "
            "use to_near"
        )
    convergence = (
        auto_convergence(near) if settings.convergence == "auto" else settings.convergence
    )
    percent = MAX_DISPARITY if settings.max_disparity is None else settings.max_disparity
    span = settings.strength * settings.eye_distance_mm / EYE_DISTANCE_MM * percent / 100 * width
    disparity: FloatArray = (near - np.float32(convergence)) * np.float32(span)
    return disparity


def metres_to_disparity(
    depth_m: FloatArray, width: int, focal_px: float, settings: StereoSettings
) -> FloatArray:
    """Disparity as two eyes at the place of the camera would see it.

    ``strength * focal_px * eye_distance * (1/z - 1/z_convergence)``, for parallel cameras
    whose images are shifted. The convergence plane lies between the farthest and the nearest
    point in inverse depth. ``max_disparity``, where given, scales all down until the nearest
    and the farthest point are at most that far apart.

    Args:
        depth_m: ``(h, w)`` float32, metres; infinite in the sky. Of any size.
        width: of the output, pixels.
        focal_px: focal length in pixels of the output.

    Returns:
        ``(h, w)`` float32, pixels of the output.

    Raises:
        InputError: if ``depth_m`` is not that.
        UsageError: if the width or the focal length is not positive.
    """
    _check(depth_m, infinite=True)
    _check_width(width)
    if not (math.isfinite(focal_px) and focal_px > 0):
        raise UsageError(f"the focal length is {focal_px:g} px; it must be positive")
    if not depth_m.min() > 0:
        raise InputError("depth in metres must be positive")
    inverse = np.float32(1.0) / depth_m
    far, nearest = float(inverse.min()), float(inverse.max())
    near = (inverse - np.float32(far)) / np.float32(max(nearest - far, 1e-12))
    convergence = (
        auto_convergence(near) if settings.convergence == "auto" else settings.convergence
    )
    scale = settings.strength * focal_px * settings.eye_distance_mm / 1000
    if settings.max_disparity is not None:
        widest = settings.max_disparity / 100 * width
        scale = min(scale, widest / max(nearest - far, 1e-12))
    plane = far + convergence * (nearest - far)
    disparity: FloatArray = (inverse - np.float32(plane)) * np.float32(scale)
    return disparity


def auto_convergence(near: FloatArray) -> float:
    """The plane of what the picture is about: the median of near, the middle weighing most.

    The weight is a Gaussian whose deviation is a quarter of each side.

    Args:
        near: ``(h, w)`` float32 from 0 to 1.
    """
    height, width = near.shape
    # A small copy tells as much.
    small = cv2.resize(near, (min(width, 96), min(height, 96)), interpolation=cv2.INTER_AREA)
    weights = [np.exp(-0.5 * ((np.arange(n) + 0.5) / n - 0.5) ** 2 / 0.25**2) for n in small.shape]
    weight = np.outer(*weights).ravel()
    order = np.argsort(small, axis=None, kind="stable")
    half = np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2)
    return float(small.ravel()[order[min(half, order.size - 1)]])


def _check_width(width: float) -> None:
    if not (math.isfinite(width) and width > 0):
        raise UsageError(f"the width is {width:g} pixels; it must be positive")


def _check(values: FloatArray, infinite: bool = False) -> None:
    if not isinstance(values, np.ndarray):
        raise InputError(f"depth is an array here, as DepthMap.values, not {values!r}")
    if values.dtype != np.float32 or values.ndim != 2 or not values.size:
        raise InputError(f"the depth is {values.shape} {values.dtype}; it must be (h, w) float32")
    if np.isnan(values).any() or not (infinite or np.isfinite(values).all()):
        raise InputError("the depth map holds values that are not finite")
