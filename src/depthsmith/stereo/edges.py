"""Depth edges on colour edges.

A network's depth map is smaller than the picture and soft: where the picture has an edge, the
map has a ramp several pixels wide. Warped as it is, a ramp becomes a rubber sheet between
foreground and background. Here ramps become steps again, at the strongest colour edge inside.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import cv2
import numpy as np

from depthsmith.errors import UsageError
from depthsmith.stereo.kernels import Backend, load, over_rows
from depthsmith.stereo.scratch import Scratch
from depthsmith.types import FloatArray, PixelArray

Align = Literal["auto", "always", "never"]

SOFT_FACTOR = 3.7
"""Widths of a 1080p picture and the depth map of a 518 pixel network: what a soft map of the
picture's own size is taken to have come from."""

# In pixels of the output. Edges below 2 pixels of disparity break nothing when warped.
_LEAST_STEP = 2.0
# Pixels of disparity per pixel: real surfaces this steep are seen edge-on, and thin.
_STEEPNESS = 0.4
# Share of an edge's rise in its steepest step, from which a map counts as sharp: exact depth
# has 0.9 and more, one softened by two or more 0.5 and less.
_SHARP = 0.7


def sharpness(disparity_px: FloatArray) -> float:
    """How much of an edge's rise lies in one step from column to column, 0 to 1.

    The mean over all steps of 1 pixel and more, each as a share of itself and the steps two
    columns to both sides, weighted by their size. 1 for a map without such steps.
    """
    rise = np.abs(np.diff(disparity_px, axis=1))
    if rise.shape[1] < 5:
        return 1.0
    middle = rise[:, 2:-2]
    around = rise[:, :-4] + rise[:, 1:-3] + middle + rise[:, 3:-1] + rise[:, 4:]
    steep = middle >= 1.0
    if not steep.any():
        return 1.0
    weight = middle[steep]
    return float((weight * (weight / around[steep])).sum() / weight.sum())


def align_edges(
    disparity_px: FloatArray,
    rgb: PixelArray,
    *,
    align: Align = "auto",
    factor: float | None = None,
    threads: int = 1,
    backend: Backend | None = None,
    scratch: Scratch | None = None,
) -> FloatArray:
    """A disparity map of the picture's size whose edges lie on the picture's.

    The map is enlarged bilinearly. Where it is soft, the foreground then grows by a pixel (the
    mixed pixels of an edge belong to it), edges that run along the rows are sharpened by a
    toggle between a vertical erosion and dilation, and ramps along the rows become steps at
    their strongest colour edge.

    Args:
        disparity_px: ``(h, w)`` float32, in pixels of the output. Of the picture's size or
            smaller.
        rgb: ``(H, W, 3)`` uint8 or uint16.
        align: ``auto`` leaves a map of the picture's size alone if its edges are sharp
            (exact depth would lose 1 dB). For a film decide once, by `sharpness`.
        factor: by which a map of the picture's size was enlarged before; None for not at all,
            or by how much is not known.
        threads: that work on it, besides those of OpenCV.
        scratch: memory to work in, kept from frame to frame; the result then lies in it.

    Returns:
        ``(H, W)`` float32.

    Raises:
        UsageError: for an unknown name, or a factor that is none.
    """
    if align not in get_args(Align):
        raise UsageError(f"edges are aligned {', '.join(get_args(Align))}, not {align!r}")
    if factor is not None and not 1 <= factor < math.inf:
        raise UsageError(f"a map is enlarged by 1 or more, not {factor:g}")
    height, width = rgb.shape[:2]
    rows, columns = disparity_px.shape
    factor = max(width / columns, height / rows) * (factor or 1.0)
    enlarged = factor > 1.2
    factor = min(factor, float(max(height, width))) if enlarged else SOFT_FACTOR
    if align == "never" or (
        align == "auto" and not enlarged and sharpness(disparity_px) >= _SHARP
    ):
        return _resize(disparity_px, height, width)
    kernels = load(backend)
    scratch = scratch or Scratch()

    def memory(name: str, columns: int) -> FloatArray:
        return scratch.array(f"edges.{name}", (height, columns), np.float32)

    # Down the columns first, while the rows are short.
    grow = max(1, round(0.27 * factor))  # 3x3 at 3.7
    taps = 2 * round(1.1 * factor) + 1  # 9 at 3.7
    line = np.ones((taps, 1), np.uint8)
    tall = cv2.resize(disparity_px, (columns, height), dst=memory("tall", columns))
    tall = cv2.dilate(tall, np.ones((2 * grow + 1, 1), np.uint8), dst=memory("taller", columns))
    low = cv2.erode(tall, line, dst=memory("low", columns))
    high = cv2.dilate(tall, line, dst=memory("high", columns))
    sharp = memory("sharp", columns)
    over_rows(kernels.toggle, (tall, low, high, _LEAST_STEP, sharp), height, threads)
    wide = sharp
    if columns != width:
        wide = cv2.resize(sharp, (width, height), dst=memory("wide", width))
    aligned = memory("aligned", width)
    longest = round(3.3 * factor)  # 12 at 3.7: the ramp of 2 * 3.7, grown, on a slanted edge
    pixels = np.ascontiguousarray(rgb).reshape(height, -1)
    over_rows(
        kernels.snap, (wide, pixels, grow, _STEEPNESS, _LEAST_STEP, longest, aligned), height,
        threads,
    )  # fmt: skip
    return aligned


def _resize(values: FloatArray, height: int, width: int) -> FloatArray:
    if values.shape == (height, width):
        return np.ascontiguousarray(values)
    resized: FloatArray = cv2.resize(values, (width, height), interpolation=cv2.INTER_LINEAR)
    return resized
