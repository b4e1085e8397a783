"""A frame that waits to be finished, with what can be known of it before."""

from __future__ import annotations

from dataclasses import dataclass

import cv2

from depthsmith.depth.temporal.affine import Affine
from depthsmith.depth.temporal.camera import STILL, CameraMotion, camera_motion
from depthsmith.depth.temporal.carry import Whole
from depthsmith.depth.temporal.link import Link, link, step_between
from depthsmith.depth.temporal.motion import brightness, dense, match_exposure
from depthsmith.depth.temporal.recipe import RECIPES
from depthsmith.depth.temporal.shot_range import Span, measure
from depthsmith.depth.temporal.values import DepthSample, SteadySettings
from depthsmith.types import ByteArray, FloatArray

_LONGEST_STEP_S = 0.2
_LONGEST_COARSE = 470  # pixels
"""Longest side that depth is filtered at. Finer than that there is only the frame's own."""


@dataclass(frozen=True, eq=False)
class Earlier:
    """What of a frame the next one is compared with.

    Attributes:
        gray: ``(g, k)`` uint8 at the resolution of flow.
        small: ``(g, k)`` float32 inverse depth; None for a frame known from a state.
    """

    gray: ByteArray
    time_s: float
    small: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame alone and beside the one before it.

    Attributes:
        whole: the sample, with depth.
        gray: ``(g, k)`` uint8, the picture at the resolution of flow.
        coarse: ``(m, n)`` float32, inverse depth at the resolution that it is filtered in.
        small: ``(g, k)`` float32, inverse depth at the resolution of flow.
        span: its percentiles.
        camera: motion since the frame before.
        step_s: time since then, seconds.
        link: to the frame before; None at the start of a shot, and where nothing is filtered.
        step: from this frame's inverse depth to that of the one before, where frames are
            looked ahead to.
    """

    whole: Whole
    gray: ByteArray
    coarse: FloatArray
    small: FloatArray
    span: Span
    camera: CameraMotion = STILL
    step_s: float = 0.0
    link: Link | None = None
    step: Affine | None = None

    @property
    def sample(self) -> DepthSample:
        return self.whole.sample

    @property
    def inverse(self) -> FloatArray:
        return self.whole.inverse

    @property
    def earlier(self) -> Earlier:
        """This frame, as the next one sees it."""
        return Earlier(self.gray, self.sample.time_s, self.small)


def examine(whole: Whole, before: Earlier | None, settings: SteadySettings) -> Frame:
    """Measure a frame, and how it follows from the one before."""
    recipe = RECIPES[settings.mode]
    guide, inverse = whole.sample.guide, whole.inverse
    gray = brightness(guide, recipe.long_side)
    coarse = _coarse(inverse)
    small = cv2.resize(coarse, gray.shape[::-1], interpolation=cv2.INTER_AREA)
    span = measure(inverse, guide, settings.low_percentile, settings.high_percentile)
    if before is None or whole.sample.cut:
        return Frame(whole, gray, coarse, small, span)
    step_s = min(max(whole.sample.time_s - before.time_s, 0.0), _LONGEST_STEP_S)
    if settings.mode == "off":
        earlier = match_exposure(before.gray, gray)
        camera = camera_motion(dense(gray, earlier, recipe.preset), gray, earlier)
        return Frame(whole, gray, coarse, small, span, camera, step_s)
    two_sided = recipe.two_sided and not settings.live
    joined = link(gray, before.gray, recipe.preset, ahead=two_sided)
    step = None
    if before.small is not None and not settings.live:
        step = step_between(small, before.small, joined.back, settings.affine)
    return Frame(whole, gray, coarse, small, span, joined.camera, step_s, joined, step)


def _coarse(inverse: FloatArray) -> FloatArray:
    """Divided by the smallest whole number that makes it `_LONGEST_COARSE` or less."""
    height, width = inverse.shape
    divisor = -(-max(height, width) // _LONGEST_COARSE)
    if divisor == 1:
        return inverse
    size = (max(1, width // divisor), max(1, height // divisor))
    smaller: FloatArray = cv2.resize(inverse, size, interpolation=cv2.INTER_AREA)
    return smaller
