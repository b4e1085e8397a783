"""From a picture and its depth to two eyes: disparity, warping, packing. numpy, OpenCV, numba.

::

    near or metres ─ disparity ─ edges ─ warp ─ fill ─ borders ─ pack, projection
                                 └───── render_pair, wiggle ─────┘
"""

from __future__ import annotations

from depthsmith.stereo.borders import BORDERS, Border, Margins, margins_of
from depthsmith.stereo.disparity import (
    EYE_DISTANCE_MM,
    MAX_DISPARITY,
    Eyes,
    StereoSettings,
    auto_convergence,
    metres_to_disparity,
    near_to_disparity,
)
from depthsmith.stereo.edges import Align, align_edges, sharpness
from depthsmith.stereo.fill import FILLS
from depthsmith.stereo.kernels import backend
from depthsmith.stereo.names import ENDINGS, EYE_ENDINGS
from depthsmith.stereo.pack import (
    FORMATS,
    Anaglyph,
    anaglyph,
    cross_eyed,
    interlaced_rows,
    pack,
    side_by_side,
    top_bottom,
    with_depth,
)
from depthsmith.stereo.projection import FLAT_FOV_DEG, SPHERES, Projector, natural_side
from depthsmith.stereo.render import render_pair
from depthsmith.stereo.scratch import Scratch
from depthsmith.stereo.warp import warp_view
from depthsmith.stereo.wiggle import wiggle

__all__ = [
    "BORDERS", "ENDINGS", "EYE_DISTANCE_MM", "EYE_ENDINGS", "FILLS", "FLAT_FOV_DEG", "FORMATS",
    "MAX_DISPARITY", "SPHERES", "Align", "Anaglyph", "Border", "Eyes", "Margins", "Projector",
    "Scratch", "StereoSettings", "align_edges", "anaglyph", "auto_convergence", "backend",
    "cross_eyed", "interlaced_rows", "margins_of", "metres_to_disparity", "natural_side",
    "near_to_disparity", "pack", "render_pair", "sharpness", "side_by_side", "top_bottom",
    "warp_view", "wiggle", "with_depth",
]  # fmt: skip
