"""A fixed point for shots in which the camera stands still.

From frame to frame scale and shift are found to a fraction of a per cent, but a chain of such
steps strays. What has not moved since the camera came to rest has not changed its depth
either, and holds the chain.
"""

from __future__ import annotations

import numpy as np

from depthsmith.depth.temporal.affine import IDENTITY, Affine, fit
from depthsmith.depth.temporal.camera import STILL, CameraMotion
from depthsmith.depth.temporal.link import Link
from depthsmith.depth.temporal.values import Affine as Freedom
from depthsmith.types import BoolArray, FloatArray

_PULL = 0.1
"""Share of what it has strayed that is taken back in each frame."""

_LEAST_SHARE = 0.15
"""Of the picture; with less that never moved, a new fixed point is taken."""

_STILL_PX = 0.3
_FARTHEST = 0.1
"""Farther the chain cannot have strayed; that is another scene."""


def held(
    anchor: FloatArray | None,
    small: FloatArray,
    joined: Link,
    camera: CameraMotion,
    freedom: Freedom,
) -> tuple[FloatArray | None, Affine]:
    """The fixed point after a frame, and the correction that it asks for.

    Args:
        anchor: ``(g, k)`` so far, NaN where something moved; None if there is none.
        small: ``(g, k)`` filtered depth before this frame, in the shot's unit.
        joined: the frame and the one before.
        camera: its motion.
        freedom: what may differ.
    """
    if camera != STILL:
        return None, IDENTITY
    resting = np.square(joined.back.flow).max(axis=2) < _STILL_PX**2
    resting &= joined.back.trust > 0.3
    if anchor is None:
        return _only(small, resting), IDENTITY
    kept = _only(anchor, resting)
    sure = np.isfinite(kept)
    if sure.mean() < _LEAST_SHARE:
        return None, IDENTITY
    found = fit(
        small[::3, ::3],
        np.where(sure, kept, 0.0)[::3, ::3],
        sure[::3, ::3].astype(np.float32),
        freedom,
    )
    wide = float(np.nanmax(kept) - np.nanmin(kept))
    if found is None or _strayed(found, small, wide) > _FARTHEST:
        return None, IDENTITY
    return kept, IDENTITY.towards(found, _PULL)


def _only(values: FloatArray, where: BoolArray) -> FloatArray:
    return np.where(where, values, np.float32(np.nan))


def _strayed(found: Affine, small: FloatArray, wide: float) -> float:
    """Largest change that a correction makes, as a share of the range."""
    ends = np.array([small.min(), small.max()], np.float32)
    return float(np.abs(found(ends) - ends).max()) / max(wide, 1e-12)
