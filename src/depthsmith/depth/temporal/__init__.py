"""Depth of films: steady from frame to frame, carried between key frames, measured.

>>> stabilizer = Stabilizer(SteadySettings(mode="quality"))
>>> for sample in samples:
...     for steady in stabilizer.push(sample):
...         write(steady.near)
>>> for steady in stabilizer.finish():
...     write(steady.near)
"""

from __future__ import annotations

from depthsmith.depth.temporal.flicker import FlickerReport, ShotFlicker, flicker
from depthsmith.depth.temporal.stabilizer import Stabilizer
from depthsmith.depth.temporal.values import (
    LOOK_AHEAD,
    Affine,
    DepthSample,
    Mode,
    State,
    SteadyDepth,
    SteadySettings,
)

__all__ = [
    "LOOK_AHEAD", "Affine", "DepthSample", "FlickerReport", "Mode", "ShotFlicker", "Stabilizer",
    "State", "SteadyDepth", "SteadySettings", "flicker",
]  # fmt: skip
