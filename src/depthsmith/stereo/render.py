"""A picture and its disparity become a pair."""

from __future__ import annotations

import numpy as np

from depthsmith.errors import InputError, UsageError
from depthsmith.stereo.borders import Border, Margins, margins_of, treat_borders
from depthsmith.stereo.disparity import StereoSettings
from depthsmith.stereo.edges import Align, align_edges
from depthsmith.stereo.fill import find_fill
from depthsmith.stereo.kernels import Backend
from depthsmith.stereo.scratch import Scratch
from depthsmith.stereo.warp import warp_view
from depthsmith.types import FloatArray, PixelArray, StereoPair

WIDEST = 32_000
"""Pixels of a row that views can be drawn of."""


def render_pair(
    rgb: PixelArray,
    disparity_px: FloatArray,
    settings: StereoSettings | None = None,
    *,
    align: Align = "auto",
    factor: float | None = None,
    fill: str = "smooth",
    border: Border = "replicate",
    margins: Margins | None = None,
    threads: int = 1,
    scratch: Scratch | None = None,
    canvas: PixelArray | None = None,
    backend: Backend | None = None,
) -> StereoPair:
    """What two eyes see.

    Args:
        rgb: ``(H, W, 3)`` uint8, or uint16.
        disparity_px: ``(h, w)`` float32 from `near_to_disparity`, of the picture's size or
            smaller, in pixels of the picture.
        settings: says which eyes are made and whether they are swapped; the rest of it has
            been at work in the disparity.
        align: whether depth edges are put on colour edges: ``always``, ``never``, or ``auto``,
            if they are soft.
        factor: by which a map of the picture's size was enlarged before; None for not at all.
        fill: what comes to light: ``smooth``, the background, averaged; ``repeat``, its edge.
        border: the strips of which the picture knows nothing: ``replicate`` fills them,
            ``crop`` cuts them off, ``scale`` also enlarges to the picture's size,
            ``floating-window`` makes them black. ``depthsmith stereo`` takes ``scale``.
        margins: widths of the border, where they must not depend on this picture.
        threads: that work on it, besides those of OpenCV.
        scratch: memory to work in, kept from frame to frame.
        canvas: ``(H, 2 W, 3)``, as ``rgb``, C-contiguous, for the views to lie in.

    Returns:
        Views of the picture's size (narrower with ``crop``). Without a border treatment they
        lie side by side in one array.

    Raises:
        InputError: for arrays of other shapes or types.
        UsageError: for unknown names, a map that is larger than the picture, a picture wider
            than 32000 pixels, and shifts of 16000 or that are not finite.
    """
    settings = settings or StereoSettings()
    rgb, disparity_px = checked(rgb, disparity_px)
    height, width = rgb.shape[:2]
    how = find_fill(fill)
    scratch = scratch or Scratch()
    aligned = align_edges(
        disparity_px, rgb, align=align, factor=factor, threads=threads, backend=backend,
        scratch=scratch,
    )  # fmt: skip
    if canvas is None:
        canvas = np.empty((height, 2 * width, 3), rgb.dtype)
    elif canvas.shape != (height, 2 * width, 3):
        raise InputError(f"the canvas is {canvas.shape}, for two views of {height}x{width}")
    views = [
        warp_view(
            rgb, aligned, share, fill=how, threads=threads, backend=backend, canvas=canvas,
            left=0 if (eye == 0) != settings.swap else width, scratch=scratch,
        )
        for eye, share in enumerate(settings.shares)
    ]  # fmt: skip
    if border != "replicate":
        margins = margins or margins_of(aligned, settings.shares)
        treated = treat_borders(StereoPair(views[0], views[1]), border, margins)
        views = [treated.left, treated.right]
    left, right = reversed(views) if settings.swap else views
    return StereoPair(left, right)


def checked(rgb: PixelArray, disparity_px: FloatArray) -> tuple[PixelArray, FloatArray]:
    """The same, if views can be drawn of it: positions are counted in 16 bits.

    Raises:
        InputError: for arrays of other shapes or types.
        UsageError: if the map is larger than its picture, the picture is wider than 32000
            pixels, or a shift is of 16000 or not finite.
    """
    rgb, disparity_px = np.asarray(rgb), np.asarray(disparity_px)
    if rgb.dtype not in (np.uint8, np.uint16) or rgb.shape[2:] != (3,) or not rgb.size:
        raise InputError(
            f"the picture is {rgb.shape} {rgb.dtype}; it must be (H, W, 3) uint8 or uint16"
        )
    if disparity_px.dtype != np.float32 or disparity_px.ndim != 2 or not disparity_px.size:
        raise InputError(
            f"the disparity is {disparity_px.shape} {disparity_px.dtype}; "
            "it must be (h, w) float32"
        )
    width = rgb.shape[1]
    if width > WIDEST:
        raise UsageError(f"the picture is {width} pixels wide; views are drawn of up to {WIDEST}")
    if not (np.abs(disparity_px) < WIDEST // 2).all():
        raise UsageError(
            f"the disparity reaches {np.abs(disparity_px).max():g} pixels, of a picture that is "
            f"{width} wide; use a smaller --strength or --eye-distance-mm"
        )
    if disparity_px.shape[0] > rgb.shape[0] or disparity_px.shape[1] > rgb.shape[1]:
        raise UsageError(
            f"the depth map is {disparity_px.shape[1]}x{disparity_px.shape[0]}, "
            f"larger than the picture of {rgb.shape[1]}x{rgb.shape[0]}"
        )
    return rgb, disparity_px
