"""One step of the filter along motion: a depth map, and what is remembered of it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from depthsmith.depth.temporal.link import Field, sample
from depthsmith.depth.temporal.motion import grid
from depthsmith.types import FloatArray

_AROUND = np.ones((5, 5), np.uint8)


@dataclass(frozen=True, eq=False)
class Belief:
    """A depth map and how many frames' worth of evidence is in it.

    Attributes:
        depth: ``(h, w)`` float32 inverse depth.
        count: ``(g, k)`` float32 at the resolution of flow.
    """

    depth: FloatArray
    count: FloatArray


def carried(belief: Belief, field: Field, interpolation: int) -> Belief:
    """A belief about one frame, brought to the frame that ``field`` starts from."""
    height, width = belief.depth.shape
    low, wide = field.trust.shape
    flow = cv2.resize(field.flow, (width, height), interpolation=cv2.INTER_LINEAR)
    flow *= np.float32([width / wide, height / low])
    depth = sample(belief.depth, grid(height, width) + flow, interpolation)
    count = sample(belief.count, grid(low, wide) + field.flow) * field.trust
    return Belief(depth, count)


def blend(now: Belief, past: Belief, calm: FloatArray, wide: float, limit: float) -> Belief:
    """Two beliefs about one frame as one.

    The difference is taken apart. Its low-frequency base is believed wherever the
    surroundings are, so that depth does not swim, and what has just come into view fits in
    with what was there. The rest is believed pixel by pixel, and not where it is too large to
    be an error of the network: there something else is seen.

    Args:
        now: of the frame alone; it gives the detail.
        past: the other, carried to this frame.
        calm: `Field.calm`.
        wide: range of depth in the picture, the unit of tolerances.
        limit: most frames' worth of evidence that are kept.
    """
    height, width = now.depth.shape
    low, across = now.count.shape
    differs = past.depth - now.depth
    small = cv2.resize(differs, (across, low), interpolation=cv2.INTER_AREA)
    base, gain = _base(small, past.count, now.count, wide)
    full = cv2.resize(base, (width, height), interpolation=cv2.INTER_LINEAR)
    rest = differs - full
    small_now = cv2.resize(now.depth, (across, low), interpolation=cv2.INTER_AREA)
    local = cv2.dilate(small_now, _AROUND) - cv2.erode(small_now, _AROUND)
    bound = np.float32(0.03 * wide) + np.float32(0.6) * local * calm
    bound = cv2.resize(bound, (width, height), interpolation=cv2.INTER_LINEAR)
    alike = np.exp(-np.square(rest / bound))
    count = cv2.resize(past.count, (width, height), interpolation=cv2.INTER_LINEAR) * alike
    mine = cv2.resize(now.count, (width, height), interpolation=cv2.INTER_LINEAR)
    given = cv2.resize(base * gain, (width, height), interpolation=cv2.INTER_LINEAR)
    depth = now.depth + given + rest * (count / (count + mine))
    kept = cv2.resize(count, (across, low), interpolation=cv2.INTER_AREA) + now.count
    return Belief(depth, np.minimum(kept, np.float32(limit)))


def _base(
    differs: FloatArray, past: FloatArray, now: FloatArray, wide: float
) -> tuple[FloatArray, FloatArray]:
    """Low-frequency part of a difference and how far the past is to be believed there."""
    low, across = differs.shape
    size = (max(1, across // 4), max(1, low // 4))
    bounded = np.clip(differs, -0.1 * wide, 0.1 * wide)
    cells = [
        cv2.resize(part, size, interpolation=cv2.INTER_AREA)
        for part in (past * bounded, past, now)
    ]
    total, weight, mine = (cv2.blur(part, (7, 7)) for part in cells)
    base = total / (weight + np.float32(1e-3))
    gain = weight / (weight + mine)
    return (
        cv2.resize(base, (across, low), interpolation=cv2.INTER_LINEAR),
        cv2.resize(gain, (across, low), interpolation=cv2.INTER_LINEAR),
    )
