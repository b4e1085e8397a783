"""What the modes do."""

from __future__ import annotations

from dataclasses import dataclass

import cv2

from depthsmith.depth.temporal.smooth import Limits
from depthsmith.depth.temporal.values import Mode

_ULTRAFAST, _FAST = cv2.DISOPTICAL_FLOW_PRESET_ULTRAFAST, cv2.DISOPTICAL_FLOW_PRESET_FAST


@dataclass(frozen=True)
class Recipe:
    """The numbers behind a mode.

    Attributes:
        preset: of DIS.
        long_side: of the pictures that flow is computed on, about.
        two_sided: whether the frames after count too, where they may be looked at.
        interpolation: of depth carried along.
        limits: of belief.
    """

    preset: int
    long_side: int
    two_sided: bool
    interpolation: int
    limits: Limits


RECIPES: dict[Mode, Recipe] = {
    "off": Recipe(_ULTRAFAST, 260, False, cv2.INTER_LINEAR, Limits(0.0, 0.0)),
    "fast": Recipe(_ULTRAFAST, 260, False, cv2.INTER_LINEAR, Limits(6.0, 0.3)),
    # Linear interpolation of what was interpolated before softens contours.
    "quality": Recipe(_FAST, 260, True, cv2.INTER_CUBIC, Limits(8.0, 0.8)),
}
