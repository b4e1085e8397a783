"""A prediction on the pixels of the truth: resized to them, and which of them count."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from depthsmith.errors import DatasetError, UsageError
from depthsmith.types import BoolArray, FloatArray, Size

ASPECT_TOLERANCE = 0.02
"""How far the aspect ratios of prediction and truth may differ, beside rounding to a pixel."""

NAMED_CROPS: dict[str, tuple[float, float, float, float]] = {
    "eigen": (0.3324324, 0.91351351, 0.0359477, 0.96405229),
    "garg": (0.40810811, 0.99189189, 0.03594771, 0.96405229),
    "nyu": (45 / 480, 471 / 480, 41 / 640, 601 / 640),
}
"""Top, bottom, left and right as shares of height and width.

``eigen`` and ``garg`` are for KITTI (Eigen et al. 2014, arXiv:1406.2283; Garg et al. 2016,
arXiv:1603.04992), ``nyu`` is Eigen's for NYU Depth V2, with the numbers that published
evaluation code uses (Monodepth2, BTS).
"""


def resize_to_truth(prediction: NDArray[Any], size: Size) -> FloatArray:
    """The prediction at the truth's size, by bilinear interpolation at pixel centres.

    In whatever the prediction's values mean, without averaging where the truth is smaller, as
    the evaluation code of Monodepth2 does (``cv2.resize``). What is not finite spreads to its
    neighbours.

    Args:
        prediction: ``(h, w)``.
        size: of the truth.

    Returns:
        ``(H, W)`` float32.

    Raises:
        DatasetError: if the aspect ratios differ: then the truth is of another picture, of a
            part of it, or turned.
    """
    height, width = prediction.shape
    off = abs(size.width * height / width - size.height)
    if off > max(1.0, ASPECT_TOLERANCE * size.height):
        raise DatasetError(
            f"the truth is {size.wxh}, the photo and its prediction {width}x{height}: their "
            "shapes differ, so one is cropped or turned"
        )
    values: FloatArray = prediction.astype(np.float32, copy=False)
    if prediction.shape == tuple(size):
        return values
    resized: FloatArray = cv2.resize(
        values, (size.width, size.height), interpolation=cv2.INTER_LINEAR
    )
    return resized


def check_crop(crop: str) -> None:
    """Make sure that `crop_mask` will understand ``crop``.

    Raises:
        UsageError: if it will not.
    """
    if crop != "none" and crop not in NAMED_CROPS:
        _rectangle(crop)


def crop_mask(size: Size, crop: str) -> BoolArray:
    """The pixels inside a crop.

    Args:
        size: of the truth.
        crop: ``none``, one of `NAMED_CROPS`, or ``T,B,L,R``: rows T to B and columns L to R of
            the truth, B and R left out.

    Returns:
        ``(H, W)`` bool.

    Raises:
        UsageError: if ``crop`` is none of these.
        DatasetError: if the rectangle does not lie inside of the truth.
    """
    inside = np.zeros(size, np.bool_)
    if crop == "none":
        inside[:] = True
        return inside
    if crop in NAMED_CROPS:
        shares = NAMED_CROPS[crop]
        # As the evaluation code cuts it: rounded towards zero. The sum keeps 45/480*480 at 45.
        top, bottom = (int(share * size.height + 1e-6) for share in shares[:2])
        left, right = (int(share * size.width + 1e-6) for share in shares[2:])
    else:
        top, bottom, left, right = _rectangle(crop)
        if bottom > size.height or right > size.width:
            raise DatasetError(f"the crop {crop} does not lie inside of the truth, {size.wxh}")
    inside[top:bottom, left:right] = True
    return inside


def _rectangle(crop: str) -> tuple[int, int, int, int]:
    words = crop.split(",")
    if len(words) == 4 and all(word.strip().isdecimal() for word in words):
        top, bottom, left, right = (int(word) for word in words)
        if top < bottom and left < right:
            return top, bottom, left, right
    raise UsageError(
        f"--crop {crop} is none of {', '.join(('none', *NAMED_CROPS))}, nor T,B,L,R: rows T to B "
        "and columns L to R"
    )
