"""The inner loops, compiled by numba. `plain` holds the same in numpy, number for number.

Compiled functions call nothing outside their file: numba watches the file of a function for
changes, not those of what it calls, and would keep a stale copy. All run on the calling thread
and release the interpreter, on the rows ``top <= y < bottom``; callers decide how many threads
work. Positions are whole numbers of 1/256 pixel, so the result is the same everywhere.
"""

from __future__ import annotations

from depthsmith.stereo.compiled.edges import snap, toggle
from depthsmith.stereo.compiled.fill import put, smooth, spread
from depthsmith.stereo.compiled.warp import OPEN, draw

__all__ = ["OPEN", "draw", "put", "smooth", "snap", "spread", "toggle"]
