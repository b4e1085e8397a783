"""The sides of a pair, where one eye looks past the picture.

Content that is not on the convergence plane leaves a strip at one side of each view of which
the picture knows nothing:

- ``replicate`` fills it as any hole, from what is beside it;
- ``crop`` cuts the widest strip off both views, which become narrower;
- ``scale`` crops in the shape of the picture, and enlarges to its size;
- ``floating-window`` makes it black: the frame of the picture then lies at the depth of what
  it cuts off, and no longer contradicts it.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import cv2
import numpy as np

from depthsmith.errors import UsageError
from depthsmith.types import FloatArray, PixelArray, StereoPair

Border = Literal["replicate", "crop", "scale", "floating-window"]
BORDERS: tuple[Border, ...] = ("replicate", "crop", "scale", "floating-window")


class Margins(NamedTuple):
    """Widths of the strips: left and right side of the left view, then of the right view."""

    left_view: tuple[int, int]
    right_view: tuple[int, int]


def margins_of(disparity_px: FloatArray, shares: tuple[float, float]) -> Margins:
    """The strips of a pair. For a film take the largest of all its frames, or what its
    settings allow: a border must not breathe.

    Args:
        disparity_px: ``(h, w)`` float32.
        shares: of it by which content moves to the left in the left and the right view.
    """

    def strips(share: float) -> tuple[int, int]:
        first, last = disparity_px[:, 0] * share, disparity_px[:, -1] * share
        return math.ceil(max(0.0, float(-first.min()))), math.ceil(max(0.0, float(last.max())))

    return Margins(strips(shares[0]), strips(shares[1]))


def treat_borders(pair: StereoPair, border: Border, margins: Margins) -> StereoPair:
    """Do to the sides of a pair what ``border`` says. A pair without strips stays as it is.

    Raises:
        UsageError: for an unknown name, or if cropping would leave less than half.
    """
    if border not in BORDERS:
        raise UsageError(f"the border is one of {', '.join(BORDERS)}, not {border!r}")
    if border == "replicate" or not any((*margins.left_view, *margins.right_view)):
        return pair
    if border == "floating-window":
        return StereoPair(
            _blacken(pair.left, *margins.left_view), _blacken(pair.right, *margins.right_view)
        )
    height, width = pair.size
    left = max(margins.left_view[0], margins.right_view[0])
    right = max(margins.left_view[1], margins.right_view[1])
    kept = width - left - right
    if kept < width / 2:
        raise UsageError(
            f"the border {border!r} would cut off {left + right} of {width} columns; "
            "use a smaller --strength or --max-disparity, or --border replicate"
        )
    if border == "crop":
        return StereoPair(pair.left[:, left : width - right], pair.right[:, left : width - right])
    rows = max(1, round(height * kept / width))
    top = (height - rows) // 2

    both = np.empty((height, 2 * width, 3), pair.left.dtype)  # side by side, as they are drawn
    views = both[:, :width], both[:, width:]
    for view, enlarged in zip((pair.left, pair.right), views, strict=True):
        part = view[top : top + rows, left : width - right]
        cv2.resize(part, (width, height), dst=enlarged, interpolation=cv2.INTER_CUBIC)
    return StereoPair(*views)


def _blacken(view: PixelArray, left: int, right: int) -> PixelArray:
    view = view.copy()
    view[:, :left] = 0
    view[:, max(0, view.shape[1] - right) :] = 0
    return view
