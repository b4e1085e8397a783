"""Views between the eyes, one after the other: depth without glasses."""

from __future__ import annotations

import math

from depthsmith.errors import UsageError
from depthsmith.stereo.borders import Border, margins_of, treat_borders
from depthsmith.stereo.disparity import StereoSettings
from depthsmith.stereo.edges import Align, align_edges
from depthsmith.stereo.fill import find_fill
from depthsmith.stereo.kernels import Backend
from depthsmith.stereo.render import checked
from depthsmith.stereo.scratch import Scratch
from depthsmith.stereo.warp import warp_view
from depthsmith.types import FloatArray, PixelArray, StereoPair


def wiggle(
    rgb: PixelArray,
    disparity_px: FloatArray,
    settings: StereoSettings | None = None,
    *,
    steps: int = 5,
    align: Align = "auto",
    factor: float | None = None,
    fill: str = "smooth",
    border: Border = "scale",
    threads: int = 1,
    backend: Backend | None = None,
) -> list[PixelArray]:
    """A loop from the left eye to the right and back, slower towards both ends. What lies on
    the convergence plane stands still.

    Args:
        rgb, disparity_px, settings: see `depthsmith.stereo.render_pair`.
        steps: from eye to eye; 1 jumps.
        align, factor, fill: as well.
        border: ``replicate`` or ``crop``; the others are as ``scale``, for here both sides are
            seen one after the other.

    Returns:
        ``2 * steps`` pictures of one size.

    Raises:
        InputError, UsageError: as `depthsmith.stereo.render_pair`, or for no step.
    """
    settings = settings or StereoSettings()
    if steps < 1:
        raise UsageError(f"a wiggle has 1 step or more, not {steps}")
    rgb, disparity_px = checked(rgb, disparity_px)
    scratch, how = Scratch(), find_fill(fill)
    aligned = align_edges(
        disparity_px, rgb, align=align, factor=factor, threads=threads, backend=backend,
        scratch=scratch,
    )  # fmt: skip
    margins = margins_of(aligned, settings.shares)
    if border == "floating-window":
        border = "scale"
    left, right = settings.shares
    views: list[PixelArray] = []
    for step in range(steps + 1):
        way = (1 - math.cos(math.pi * step / steps)) / 2
        view = warp_view(
            rgb, aligned, left + way * (right - left), fill=how, threads=threads,
            backend=backend, scratch=scratch,
        )  # fmt: skip
        # The strips of the eyes are the widest.
        treated = treat_borders(StereoPair(view, view), border, margins)
        views.append(treated.left.copy())  # of its own, without the other beside it
    return views + views[-2:0:-1]
