"""The inner loops of `compiled` in numpy, for where numba is not there: slower, same numbers.

Each function has the arguments of its namesake and always works on all rows.
"""

from __future__ import annotations

from depthsmith.stereo.plain.edges import snap, toggle
from depthsmith.stereo.plain.fill import put, smooth, spread
from depthsmith.stereo.plain.warp import OPEN, draw

__all__ = ["OPEN", "draw", "put", "smooth", "snap", "spread", "toggle"]
