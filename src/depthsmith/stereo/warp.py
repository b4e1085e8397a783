"""One eye's view from a picture and its disparity.

Every pixel goes where its disparity takes it (forward warping), row by row and in whole
1/256 pixels. Neighbours whose shifts differ by at most one pixel belong to one surface, which
is drawn without gaps, sampled linearly; elsewhere it is torn, and nearer covers farther. Rows
are scanned from the side towards which near content moves, so that what is nearer always comes
later: no depth buffer is needed, no surface is bent, and nothing is drawn twice. What is left
open is filled from the background (`depthsmith.stereo.fill`).
"""

from __future__ import annotations

import numpy as np

from depthsmith.stereo.fill import Fill
from depthsmith.stereo.kernels import Backend, load, over_rows
from depthsmith.stereo.scratch import Scratch
from depthsmith.types import BoolArray, FloatArray, PixelArray

_MIXED = 0.15
"""Share of foreground in a pixel at an edge that is seen as a fringe."""


def warp_view(
    rgb: PixelArray,
    disparity_px: FloatArray,
    share: float,
    *,
    fill: Fill | None = None,
    threads: int = 1,
    backend: Backend | None = None,
    canvas: PixelArray | None = None,
    left: int = 0,
    holes: BoolArray | None = None,
    scratch: Scratch | None = None,
) -> PixelArray:
    """The view of one eye.

    Args:
        rgb: ``(H, W, 3)`` uint8 or uint16.
        disparity_px: ``(H, W)`` float32.
        share: of the disparity by which content moves to the left: 0.5 for the right eye,
            -0.5 for the left, if each takes half.
        fill: how holes are filled.
        threads: that work on it.
        canvas: ``(H, C, 3)``, as ``rgb``, C-contiguous, where the view is drawn from column
            ``left`` on; a new picture without.
        holes: ``(H, W)`` bool, where given, is set to True where the view is filled in.
        scratch: memory to work in, kept from frame to frame.

    Returns:
        ``(H, W, 3)``, of the type of ``rgb``.

    Raises:
        ValueError: for arrays of other shapes or types, and for disparity that is not finite or so
            large that positions would no longer be exact (tens of thousands of pixels).
    """
    height, width = disparity_px.shape
    if rgb.shape != (height, width, 3):
        raise ValueError(f"the picture is {rgb.shape}, its disparity {disparity_px.shape}")
    if canvas is None:
        canvas, left = np.empty((height, width, 3), rgb.dtype), 0
    if disparity_px.dtype != np.float32:
        raise ValueError(f"the disparity is {disparity_px.dtype}, not float32")
    if rgb.dtype not in (np.uint8, np.uint16) or canvas.dtype != rgb.dtype:
        raise ValueError(f"the picture is {rgb.dtype}, the canvas {canvas.dtype}")
    # The compiled loops look at no bounds.
    fits = canvas.shape == (height, canvas.shape[1], 3) and 0 <= left <= canvas.shape[1] - width
    if not (fits and canvas.flags.c_contiguous):
        raise ValueError(f"a view of {height}x{width} cannot be drawn at {left} of {canvas.shape}")
    view = canvas[:, left : left + width]
    if share == 0:
        view[:] = rgb
        if holes is not None:
            holes[:] = False
        return view
    fill = fill or Fill()
    kernels = load(backend)
    pixels = np.ascontiguousarray(rgb).reshape(height, -1)
    out = canvas.reshape(height, -1)
    values = np.ascontiguousarray(disparity_px)
    scratch = scratch or Scratch()
    moved = scratch.array("moved", (height, width), np.int16)
    spans = scratch.array("spans", (height, width, 4), np.int32)  # only what is used takes memory
    counts = scratch.array("counts", (height, 2), np.int32)

    def run(kernel: str, *arguments: object) -> None:
        over_rows(getattr(kernels, kernel), arguments, height, threads)

    wide = np.empty(0, np.uint16 if rgb.dtype == np.uint8 else np.uint32)
    run("draw", pixels, values, share, _MIXED, wide, moved, spans, counts, out, 3 * left)
    if holes is not None:
        np.equal(moved, kernels.OPEN, out=holes)
    run("spread", pixels, values, share, fill.columns, moved, spans, counts, out, 3 * left)
    if fill.rows is not None:
        ends = np.cumsum(counts[:, 1])
        places = (ends - counts[:, 1]).astype(np.int32)
        patch = scratch.array("patch", (height * width, 3), rgb.dtype.type)[: ends[-1]]
        run("smooth", fill.rows, fill.rows_per_pixel, fill.same_px, moved, spans, counts, out,
            3 * left, places, patch)  # fmt: skip
        run("put", spans, counts, places, patch, out, 3 * left)
    return view
