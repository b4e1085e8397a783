"""Photo files in, 3D pictures out: what the command ``stereo`` does with photos.

::

    plan ─ photo ─ depth (network or file) ─ disparity ─ views ─ files
                                 └ preview, contact sheet
"""

from __future__ import annotations

from depthsmith.stereo_files.depth import Depth, FileDepth, Found, NetworkDepth
from depthsmith.stereo_files.make import Maker
from depthsmith.stereo_files.plan import (
    FORMATS,
    StereoJob,
    StereoPlan,
    check_beside,
    format_of,
    plan_stereo,
)
from depthsmith.stereo_files.sheet import StereoSheet
from depthsmith.stereo_files.views import Look

__all__ = [
    "FORMATS", "Depth", "FileDepth", "Found", "Look", "Maker", "NetworkDepth", "StereoJob",
    "StereoPlan", "StereoSheet", "check_beside", "format_of", "plan_stereo",
]  # fmt: skip
