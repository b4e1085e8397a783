"""One step of the filter along motion: a depth map, and what is remembered of it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from depthsmith.depth.temporal.link import Field, sample
from depthsmith.depth.temporal.motion import grid
from depthsmith.types import FloatArray

_AROUND = np.ones((3, 3), np.uint8)

_TOLERANCE = 0.05
"""Share of the range beyond which a difference is no error of a network."""

_SWIM = 0.15
"""The same for soft differences over large areas."""


@dataclass(frozen=True, eq=False)
class Belief:
    """A depth map and how many frames' worth of evidence is in it.

    Attributes:
        depth: ``(m, n)`` float32 inverse depth.
        count: ``(g, k)`` float32 at the resolution of flow.
    """

    depth: FloatArray
    count: FloatArray


def carried(belief: Belief, field: Field, interpolation: int) -> Belief:
    """A belief about one frame, brought to the frame that ``field`` starts from."""
    height, width = belief.depth.shape
    low, across = field.trust.shape
    where = _up(field.flow * np.array([width / across, height / low], np.float32), belief.depth)
    where += grid(height, width)
    count = sample(belief.count, grid(low, across) + field.flow)
    count *= field.trust
    return Belief(sample(belief.depth, where, interpolation), count)


@dataclass(frozen=True)
class Limits:
    """What is believed.

    Attributes:
        evidence: most frames' worth that are kept.
        contour: difference at a contour of depth that may be an error of the network, as a
            share of its height.
    """

    evidence: float
    contour: float


def blend(now: Belief, past: Belief, calm: FloatArray, wide: float, limits: Limits) -> Belief:
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
        limits: see there.
    """
    rest = past.depth - now.depth
    base, given = _base(_down(rest, calm), past.count, now.count, wide)
    rest -= _up(base, rest)
    # Where nothing changes its motion, contours of depth may wander as networks make them.
    small = _down(now.depth, calm)
    bound = cv2.dilate(small, _AROUND) - cv2.erode(small, _AROUND)
    bound *= calm
    bound *= np.float32(limits.contour)
    bound += np.float32(_TOLERANCE * wide)
    alike = rest * _up(1.0 / bound, rest)
    np.square(alike, out=alike)
    np.subtract(np.float32(1.0), alike, out=alike)
    np.maximum(alike, np.float32(0.0), out=alike)
    alike *= alike  # Tukey's weight
    alike *= _up(past.count * calm, rest)
    count = _down(alike, calm)
    count += now.count
    alike /= alike + _up(now.count, rest)
    rest *= alike
    rest += _up(given, rest)
    rest += now.depth
    return Belief(rest, np.minimum(count, np.float32(limits.evidence), out=count))


def _base(
    differs: FloatArray, past: FloatArray, now: FloatArray, wide: float
) -> tuple[FloatArray, FloatArray]:
    """Low-frequency part of a difference, and as much of it as the past is believed."""
    low, across = differs.shape
    size = (max(1, across // 4), max(1, low // 4))
    # Larger differences are another object, not a soft error.
    sure = differs * np.float32(1.0 / (_SWIM * wide))
    np.square(sure, out=sure)
    np.subtract(np.float32(1.0), sure, out=sure)
    np.maximum(sure, np.float32(0.0), out=sure)
    sure *= past
    bounded = differs * sure
    cells = [cv2.resize(part, size, interpolation=cv2.INTER_AREA) for part in (bounded, sure, now)]
    total, weight, mine = (cv2.blur(part, (7, 7)) for part in cells)
    base = total / (weight + np.float32(1e-3))
    given = base * (weight / (weight + mine))
    return _up(base, differs), _up(given, differs)


def _up(values: FloatArray, like: FloatArray) -> FloatArray:
    height, width = like.shape[:2]
    larger: FloatArray = cv2.resize(values, (width, height), interpolation=cv2.INTER_LINEAR)
    return larger


def _down(values: FloatArray, like: FloatArray) -> FloatArray:
    height, width = like.shape[:2]
    # By up to 2, where this is the mean as well, and by far the quickest.
    smaller: FloatArray = cv2.resize(values, (width, height), interpolation=cv2.INTER_LINEAR)
    return smaller
