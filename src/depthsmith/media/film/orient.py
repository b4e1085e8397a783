"""Upright pictures with square pixels, from pictures as stored.

Sources: ISO/IEC 14496-12 (the matrix of a track), libavutil/display.h (how FFmpeg hands it on).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import cv2
import numpy as np
from numpy.typing import NDArray

from depthsmith.types import Size

_TURNS = {90: cv2.ROTATE_90_CLOCKWISE, 180: cv2.ROTATE_180, 270: cv2.ROTATE_90_COUNTERCLOCKWISE}


@dataclass(frozen=True)
class Orientation:
    """How a stored picture becomes upright: a horizontal flip if ``flipped``, then a turn.

    Attributes:
        turn_deg: clockwise; 0, 90, 180 or 270.
        exact: whether the matrix says just this; otherwise it is the nearest that can be done
            without resampling.
    """

    turn_deg: int = 0
    flipped: bool = False
    exact: bool = True


def orientation_of(matrix: bytes) -> Orientation:
    """Read a display matrix.

    Args:
        matrix: 9 integers of 32 bits in the machine's order, ``a b u c d v x y w``: a point
            x to the right and y down goes to ``(a x + c y, b x + d y)``.
    """
    if len(matrix) < 36:
        return Orientation(exact=False)
    a, b, _, c, d = (int(n) for n in np.frombuffer(matrix, np.int32)[:5])
    size = math.hypot(a, b)
    if size == 0 or math.hypot(c, d) == 0:
        return Orientation(exact=False)
    flipped = a * d - b * c < 0
    # The image of the x axis; a flip has turned it round before.
    angle = math.degrees(math.atan2(b, a)) + (180 if flipped else 0)
    turn = round(angle / 90) * 90
    square = abs(angle - turn) < 0.5 and abs(a * c + b * d) < 0.01 * size * math.hypot(c, d)
    return Orientation(turn % 360, flipped, square)


def upright(picture: NDArray[np.generic], turn_deg: int, flipped: bool) -> NDArray[np.generic]:
    """Apply an orientation to ``(H, W, 3)``. The picture itself is returned if it stands."""
    if flipped:
        picture = cv2.flip(picture, 1)
    return cv2.rotate(picture, _TURNS[turn_deg]) if turn_deg else picture


def display_size(coded: Size, sample_aspect: Fraction, turn_deg: int) -> Size:
    """What a viewer sees: the stored height, the width that makes pixels square, turned."""
    height, width = coded.height, max(round(coded.width * sample_aspect), 1)
    return Size(width, height) if turn_deg in (90, 270) else Size(height, width)


def resized(picture: NDArray[np.generic], size: Size) -> NDArray[np.generic]:
    """Resize ``(H, W, 3)``, without aliasing where it shrinks."""
    if picture.shape[:2] == size:
        return picture
    shrinks = size.height <= picture.shape[0] and size.width <= picture.shape[1]
    how = cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC
    return cv2.resize(picture, (size.width, size.height), interpolation=how)
